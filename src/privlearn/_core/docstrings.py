"""One text per parameter: docstrings of estimators and methods are written out from here.

A class or a method says in its own docstring only what is its own; `documented` adds the rest at
import. An entry is looked up in the docstring itself, then in those of the base classes, then here.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, TypeVar

__all__ = ["documented"]

PARAMETERS = """
epsilon : float
    Privacy budget: what this fit promises in total to everybody whose row is in the data. Smaller
    is more private, and noisier.
delta : float
    Probability with which the promise of `epsilon` may fail; choose it well below 1 / n. 0 needs a
    solver with pure noise, such as "one-pass".
adjacency : {"zero_out", "add_remove", "replace_one"}
    Which data sets the guarantee makes hard to tell apart: one person's row is replaced by the
    empty row, and the number of rows is public; the row is there or not, and their number is
    private; or the row is replaced by any other row, and their number is public.
solver : str or solver
    The algorithm: a name, or an object from `privlearn.solvers` with settings of its own. "auto"
    chooses by what is public: the model, what was declared, the number of rows and the budget.
data_norm : float or None
    Enforced L2 norm of a row, the intercept's 1 included; longer rows are shortened to it. It must
    come from public knowledge, never from the data.
bounds_X : pair (low, high), dict or None
    Enforced box of the features: scalars, or arrays of shape (n_features,); or the ranges of some
    columns of a data frame by name, ``{"age": (17, 90)}``. It must come from public knowledge,
    never from the data. What neither `bounds_X` nor `data_norm` limits is estimated privately, with
    15 % of the budget; predictions then clip X to that.
bounds_y : pair (low, high) or None
    Enforced range of the target, from public knowledge. None estimates it privately, with 10 % of
    the budget and up to 30 % where there are few rows; predictions are then clipped to it.
scale_X : float, array of shape (n_features,) or None
    Root mean square of the features, where public knowledge gives it, for example because they were
    standardised with a census's figures. Solvers that need scales estimate them privately
    otherwise. Nothing enforces it: a wrong scale costs accuracy, never privacy.
max_rows_per_person : int or None
    How many rows of one person count, where `fit` is told by `groups` whose each row is; of those
    with more, so many are drawn. The guarantee is then about people and all their rows, and noise
    grows with the number, so choose it well below what a few people have, without looking at the
    data. None: every row is a person.
schema : dict, "estimate", Estimate or None
    What is public about the columns of a data frame, by name, in words of `privlearn.schema`:
    kinds, ranges, lists of categories, and what a missing cell means. Columns without an entry are
    numbers. "estimate" finds out privately what every column is, with 12 % of the budget, for a
    table with text, dates and gaps as it is; `Estimate(decimal=",", thousands=".")` does so
    where texts have another notation: by default "5.380" is 5.38, never 5380. None: X holds
    numbers. With a schema `data_norm` is that of a row whose ranges are brought to [0, 1].
fit_intercept : bool
    Whether to fit an intercept. It is never penalised.
on_invalid : {"raise", "drop"}
    What happens to rows with NaN or infinity: an error before anything is spent, or they count as
    empty rows, and the guarantee covers them.
ledger : Ledger, path or None
    What is charged before anything is released: a `Ledger`, the path of one, or an object with a
    method `charge(plan, dataset)`. None charges nothing.
dataset : str or None
    Name of the data set that the ledger charges: the same name for the same people.
random_state : int, RandomState, Generator or None
    For tests only: a reproducible run is not private, and the certificate says so.
verbose : int
    With 1, stderr shows how many of the planned releases were made, which tells nothing about the
    data. Likewise, the logger "privlearn" of `logging` says what will be released and charged.
classes : array-like or "from_y"
    The labels. "from_y" declares the set of labels in y public, and the certificate lists that as
    an assumption. They are kept in sorted order; of two, coefficients are those of the second.
positive : bool
    Whether coefficients must be at least 0.
coef_bounds : pair (low, high) or None
    Limits of the coefficients: scalars, or arrays of shape (n_features,); infinity is no limit.
intervals : bool
    Whether to estimate standard errors, for `summary` and `predict_interval`, with about 14 % of
    the budget. Noise then shrinks no coefficient, though a penalty still does, and they are 1.5 to
    4 times as noisy, most where columns are many and rows few (docs/intervals.md); `plan` says
    whether standard errors are to be expected. For smooth penalties, two classes at most, and
    solvers "auto" and "cd".
C : float
    Inverse weight of the penalty; infinity for none. Where ranges are estimated privately, the
    penalty is that of features divided by their root mean squares, as after scikit-learn's
    `StandardScaler`.
kernel : {"gaussian", "laplacian", "matern12", "matern32", "matern52"}
    With h the bandwidth and d the difference of two rows: exp(-|d|^2 / (2 h^2)); exp(-|d|_1 / h)
    with the sum of absolute differences; or the Matern kernel of smoothness 1/2, 3/2 or 5/2 and
    length h, of which the first is exp(-|d| / h).
orthogonal : bool
    Whether to draw frequencies in groups of n_features orthogonal directions (Yu et al. 2016), with
    the same law for each: a smaller error for most pairs of rows. Not for "laplacian", whose law
    has no such symmetry.
k : int
    How many features to select.
"""

ATTRIBUTES = """
privacy_ : Certificate
    What was promised, released and assumed.
bounds_X_ : pair (low, high) of arrays of shape (n_features,)
    Ranges of the features, released with noise; only where they were estimated privately.
bounds_y_ : pair (low, high)
    Range of the target, released with noise; only where it was estimated privately.
classes_ : array of shape (n_classes,)
    The labels, sorted, as `predict` returns them.
feature_map_ : FeatureMap
    Computes the random features of rows: `feature_map_.transform(X)`.
selected_ : array of shape (k,)
    Columns in the order of their selection.
n_features_in_ : int
    Number of columns of X.
feature_names_in_ : array of shape (n_features_in_,)
    Names of the columns; only when X has column names.
feature_names_out_ : array of shape (n_features,)
    Names of the features that rows become, in the order of the coefficients of linear models: with
    a `schema` such as "age" and "sex = F". Only when X has column names.
"""

# Of methods.
ARGUMENTS = """
X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
    Rows to predict; clipped where ranges were estimated privately, otherwise as they are.
y : array-like of shape (n_samples,) or str
    True targets or labels, one per row; or the name of the column of X that holds them.
sample_weight : array-like of shape (n_samples,) or None
    Weights of the rows.
n : int or None
    Number of rows, or of people with `max_rows_per_person`. With ``adjacency="add_remove"`` it is
    private: a forecast alone uses it.
n_features : int or None
    Number of columns of X; None where a `schema` names them all. Ignored ones do not count.
n_classes : int
    Number of labels, where the parameter `classes` does not declare them.
share_of_rarer_class : float or None
    Part of all rows that are of the rarest class, from public knowledge: forecasts are then told
    relative to the standard deviation of a label, the root of share (1 - share), and in words of
    that share. No model uses it. Without it they are in points of the probability, which must be
    few beside the share.
sample_epsilon : array-like of shape (n_samples,) or None
    Everybody's own epsilon, at most the parameter `epsilon`: public, and chosen without looking at
    the data. It needs the solver "one-pass", which "auto" then takes.
groups : array-like of shape (n_samples,), str or None
    Whose each row is: ids, compared by value, such as text or numbers below 2^53; or the name of
    the column of X that holds them, which is no feature then. It needs `max_rows_per_person`, and
    makes people, with all their rows, what is protected.
**unsupported : object
    `sample_weight`, `exposure`, `offset` and `class_weight` are refused, and the error says what
    to do in their place: there is no proof for them.
"""

T = TypeVar("T", bound=Callable[..., Any])
Entry = tuple[str, str]  # type, text
STRIPPED = 2  # python -OO: there are no docstrings, so none is completed
COMPOSED = ("Parameters", "Attributes")
HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", flags=re.M)
ENTRY = re.compile(r"^(\S[^\n:]*?)(?: : ([^\n]*))?\n((?:(?: +[^\n]*)?\n)*)", flags=re.M)


def documented(thing: T) -> T:
    """Complete a docstring: every parameter in the order of the signature, every attribute.

    Parameters
    ----------
    thing : class or function
        An estimator, which is a dataclass, or a method. Defaults are those of the signature.

    Returns
    -------
    class or function
        The same object.

    Examples
    --------
    >>> @documented
    ... def score(self, X, y, sample_weight=None):
    ...     '''How good it is.'''
    >>> print(score.__doc__.splitlines()[-2])
    sample_weight : array-like of shape (n_samples,) or None, default=None
    """
    if sys.flags.optimize < STRIPPED:
        summary, sections = _parted(thing.__doc__)
        composed = _of_class(thing) if isinstance(thing, type) else _of_function(thing)
        for name, text in composed.items():
            if strange := set(_entries(sections.get(name, ""))) - set(_entries(text)):
                raise TypeError(f"{thing.__qualname__} has no {sorted(strange)[0]}; leave it out")
        rest = {name: text for name, text in sections.items() if name not in COMPOSED}
        parts = [_headed(name, text) for name, text in {**composed, **rest}.items()]
        thing.__doc__ = "\n\n".join([summary, *parts]) + "\n"
    return thing


def _of_class(cls: type) -> dict[str, str]:
    public = [field for field in fields(cls) if not field.name.startswith("_")]
    defaults = {field.name: field.default for field in public if field.init}
    learned = [field.name for field in public if not field.init]
    learned += [*_properties(cls), "n_features_in_", "feature_names_in_"]
    above = [base.__dict__.get("__doc__") for base in cls.__mro__ if _is_ours(base)]
    return {
        "Parameters": _written(cls, defaults, _known(above, "Parameters", PARAMETERS)),
        "Attributes": _written(
            cls, dict.fromkeys(learned, MISSING), _known(above, "Attributes", ATTRIBUTES)
        ),
    }


def _of_function(function: Callable[..., Any]) -> dict[str, str]:
    empty = inspect.Parameter.empty
    _self, *parameters = inspect.signature(function).parameters.values()
    defaults = {
        str(one).split(":")[0] if one.kind is one.VAR_KEYWORD else one.name: (
            MISSING if one.default is empty else one.default
        )
        for one in parameters
    }
    known = _known([function.__doc__], "Parameters", ARGUMENTS)
    return {"Parameters": _written(function, defaults, known)}


def _is_ours(base: type) -> bool:
    """Whether it may speak about parameters: scikit-learn's classes may not."""
    return base.__module__.partition(".")[0] not in ("builtins", "sklearn")


def _properties(cls: type) -> Iterator[str]:
    """Attributes of a fit that are computed."""
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, property) and name.endswith("_") and not name.startswith("_"):
                yield name


def _known(docs: Iterable[str | None], section: str, shared: str) -> dict[str, Entry]:
    """Entries by name: those of the first docstring that has one, then the shared ones."""
    found: dict[str, Entry] = {}
    for text in [*(_parted(doc)[1].get(section, "") for doc in docs), shared]:
        found = {**_entries(text), **found}
    return found


def _written(
    thing: Callable[..., Any], defaults: Mapping[str, object], known: Mapping[str, Entry]
) -> str:
    lines: list[str] = []
    for name, default in defaults.items():
        if name not in known:
            raise TypeError(f"{thing.__qualname__} has no text about {name}; add one there")
        kind, text = known[name]
        shown = f'"{default}"' if isinstance(default, str) else repr(default)
        lines.append(f"{name} : {kind}" + ("" if default is MISSING else f", default={shown}"))
        lines.append(text)
    return "\n".join(lines)


@cache
def _parted(doc: str | None) -> tuple[str, dict[str, str]]:
    """What stands before the first heading, and the text under each."""
    summary, *rest = HEADING.split(inspect.cleandoc(doc or ""))
    texts = (text.strip("\n") for text in rest[1::2])
    return summary.strip(), dict(zip(rest[::2], texts, strict=True))


@cache
def _entries(section: str) -> dict[str, Entry]:
    """Name, type without a default, and text of each entry of a section."""
    found = ENTRY.findall(section.strip("\n") + "\n")
    return {name: (kind.split(", default=")[0], text.rstrip("\n")) for name, kind, text in found}


def _headed(name: str, text: str) -> str:
    return f"{name}\n{'-' * len(name)}\n{text}"
