"""The table of coefficients, as statisticians know it."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from privlearn._core.harmless import harmless
from privlearn.linear_model.lines import Lines, estimates_of
from privlearn.solvers._common.standard_errors import StandardErrors

if TYPE_CHECKING:
    from privlearn.linear_model.intervals import IntervalsMixin

__all__ = [
    "Summary",
    "checked_level",
    "ratio_of",
    "reach_of",
    "scores_between",
    "summarised",
]

Array = NDArray[np.float64]
HEAD = ("", "coef", "noise s.e.", "std err", "z", "p")
TELLING = 0.01  # by which part a penalty pulls before the table says so
RATIOS = {"logistic": "odds ratio", "poisson": "rate ratio"}  # by loss: what exp of scores has

ALIKE = "'std err' takes rows of one person for independent; where they are alike, it is too small."


@dataclass(frozen=True, eq=False)
class Summary:
    """Estimates and what is known about their errors, one number per line in each array.

    Attributes
    ----------
    names : tuple of str
        Of the coefficients, the intercept last; or of sums of them.
    coef : array
        Estimates, or their ratios.
    noise : array
        Standard errors of the privacy noise alone.
    std_err : array
        Standard errors of the noise and of the sampling of rows together.
    z : array
        Estimates in standard errors; NaN where there is no error to measure them by.
    low, high : arrays
        Ends of the intervals, by Student's t where standard errors are known with noise.
    p_value : array
        Of no effect, two-sided.
    level : float
        Of confidence.
    title : str
        Of the table: the model, what it predicts (of labels, which one), and its promise.
    notes : tuple of str
        What intervals are about, and what they leave out.
    ratio : str
        "odds ratio" or "rate ratio" where `coef`, `low` and `high` are such, and standard errors
        those of their logarithms; else empty.
    """

    names: tuple[str, ...]
    coef: Array
    noise: Array
    std_err: Array
    z: Array
    low: Array
    high: Array
    p_value: Array
    level: float
    title: str
    notes: tuple[str, ...]
    ratio: str = ""

    def columns(self) -> dict[str, Array]:
        """The numbers by name; those of ratios are called `odds_ratio` or `rate_ratio`."""
        estimates = {self.ratio.replace(" ", "_") or "coef": self.coef}
        return estimates | {name: getattr(self, name) for name in COLUMNS}

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values; None where nothing can be told."""
        columns = {name: _plain(numbers) for name, numbers in self.columns().items()}
        return {
            "title": self.title,
            "level": self.level,
            "names": list(self.names),
            **columns,
            "notes": list(self.notes),
        }

    def to_frame(self) -> Any:  # noqa: ANN401
        """The table as a pandas data frame, with a line for each coefficient."""
        from pandas import DataFrame

        return DataFrame(self.columns(), index=list(self.names))

    def rows(self) -> list[list[str]]:
        """The table in words: a head and a line for each coefficient."""
        tail = f"{(1 - self.level) / 2:.3g}", f"{(1 + self.level) / 2:.3g}"
        head = [*self._head(), *(f"[{tail[0]}", f"{tail[1]}]")]
        numbers = zip(
            self.coef,
            self.noise,
            self.std_err,
            self.z,
            self.p_value,
            self.low,
            self.high,
            strict=True,
        )
        body = [
            [
                harmless(name, "terminal"),
                *map(_number, line[:3]),
                _fixed(line[3], 2),
                _fixed(line[4], 3),
            ]
            + [_number(end) for end in line[5:]]
            for name, line in zip(self.names, numbers, strict=True)
        ]
        return [head, *body]

    def _head(self) -> tuple[str, ...]:
        if not self.ratio:
            return HEAD
        return (HEAD[0], self.ratio, *(f"{name} (log)" for name in HEAD[2:4]), *HEAD[4:])

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in rows
        ]
        rule = "-" * len(lines[0])
        title = harmless(self.title, "terminal")
        notes = (harmless(note, "terminal") for note in self.notes)
        return "\n".join([title, rule, lines[0], rule, *lines[1:], rule, *notes])

    def _repr_html_(self) -> str:
        head, *body = [[html.escape(cell) for cell in row] for row in self.rows()]
        title = harmless(self.title, "html")
        lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in body]
        notes = "".join(f"<p>{harmless(note, 'html')}</p>" for note in self.notes)
        return (
            f"<table><caption>{title}</caption><thead><tr>"
            + "".join(f'<th scope="col">{cell}</th>' for cell in head)
            + "</tr></thead><tbody>"
            + "".join(f"<tr>{line}</tr>" for line in lines)
            + f"</tbody></table>{notes}"
        )


COLUMNS = ("noise", "std_err", "z", "p_value", "low", "high")  # beside the estimates


def checked_level(level: float) -> float:
    """How many deviations an interval of this level reaches to either side."""
    if isinstance(level, bool) or not (isinstance(level, float) and 0.0 < level < 1.0):
        raise ValueError(f"level={level!r}, but a number between 0 and 1 is needed, such as 0.95")
    return float(ndtri((1.0 + level) / 2))


def reach_of(level: float, degrees: Array) -> Array:
    """How many standard errors an interval reaches, for errors that so many degrees tell of."""
    normal = np.full(len(degrees), checked_level(level))
    few = np.isfinite(degrees)
    normal[few] = stdtrit(degrees[few], (1.0 + level) / 2)
    return normal


def _p_values(z: Array, degrees: Array) -> Array:
    few = np.isfinite(degrees)
    return 2.0 * np.where(few, stdtr(np.where(few, degrees, 1.0), -np.abs(z)), ndtr(-np.abs(z)))


def ratio_of(model: Any) -> str:  # noqa: ANN401
    """What exp of a coefficient is, in words, or a refusal."""
    found = RATIOS.get(model._loss(2).name)
    if found is None:
        raise ValueError(
            f"ratios=True, but coefficients of {type(model).__name__} are differences in y, whose "
            "exp means nothing; leave it out (LogisticRegression has odds ratios, PoissonRegressor "
            "rate ratios)"
        )
    return found


def summarised(
    model: IntervalsMixin, errors: StandardErrors, level: float, lines: Lines, ratio: str = ""
) -> Summary:
    """The table of coefficients or of sums of them; of their exp where `ratio` says what it is."""
    combinations, estimates = lines.combinations, lines.estimates
    degrees, told = errors.degrees(combinations), errors.tells(combinations)
    reach = reach_of(level, degrees)
    untold = np.where(told, 0.0, np.nan)
    noise, std_err = (
        np.sqrt(np.maximum(_variances(matrix, combinations), 0.0)) + untold
        for matrix in (errors.noise, errors.total)
    )
    z = _in_errors(estimates, std_err)
    shown = estimates, estimates - reach * std_err, estimates + reach * std_err
    with np.errstate(over="ignore"):
        coef, low, high = (np.exp(one) if ratio else one for one in shown)
    return Summary(
        lines.names,
        coef,
        noise,
        std_err,
        z,
        low,
        high,
        _p_values(z, degrees),
        float(level),
        _title(model),
        (*_notes(model, bool(told.all()), errors.pulled), *lines.notes, *_about(ratio)),
        ratio,
    )


def _variances(matrix: Array, combinations: Array) -> Array:
    """Variances a'Ca of sums; a variance beyond all numbers is that of its own lines alone."""
    found = np.empty(len(combinations))
    for k, row in enumerate(combinations):
        there = np.flatnonzero(row)  # 0 times infinity is no number
        found[k] = row[there] @ matrix[np.ix_(there, there)] @ row[there]
    return found


def _title(model: Any) -> str:  # noqa: ANN401
    certificate = model.privacy_
    title = (
        f"{type(model).__name__}{_of(model)}, epsilon = {certificate.epsilon:g}, "
        f"delta = {certificate.delta:g}"
    )
    return title if certificate.private else f"{title}, NOT PRIVATE (random_state was set)"


def _of(model: Any) -> str:  # noqa: ANN401
    """What is predicted, where that is known: the target, and which of two classes scores are of.

    Intervals are told of two classes at most.
    """
    name, classes = getattr(model, "_target_name", None), getattr(model, "classes_", None)
    if classes is not None:
        return f" of {name or 'y'} = {classes[-1]}"
    return "" if name is None else f" of {name}"


def _in_errors(coef: Array, std_err: Array) -> Array:
    """A coefficient that nothing moves, as of a list without values, has no error and no z."""
    there = std_err > 0.0  # which NaN is not
    return np.divide(coef, std_err, out=np.full(len(coef), np.nan), where=there)


def _notes(model: Any, all_told: bool, pulled: float) -> tuple[str, ...]:  # noqa: ANN401
    ranges = "ranges that this fit estimated" if _estimated(model) else "the declared ranges"
    notes = [
        f"Intervals are about the population's rows clipped to {ranges}. 'noise s.e.' is the",
        "privacy noise alone, 'std err' noise and sampling together.",
    ]
    if not all_told:
        notes.append("nan: noise leaves too little to tell; use more rows or a larger epsilon.")
    if math.isnan(pulled):
        notes.append("Estimates are pulled towards 0 by the penalty, and so are intervals.")
    elif pulled >= TELLING:
        notes += [
            f"The penalty pulls estimates towards 0, some by {pulled:.0%} or so, and intervals are",
            f"about what is pulled; {_without_penalty(model)} leaves it out.",
        ]
    if (model.privacy_.rows_per_person or 1) > 1:
        notes.append(ALIKE)
    return tuple(notes)


def _without_penalty(model: Any) -> str:  # noqa: ANN401
    return "C=np.inf" if hasattr(model, "C") else "alpha=0"


def _about(ratio: str) -> tuple[str, ...]:
    """What a reader of ratios has to know."""
    if not ratio:
        return ()
    return (
        f"{ratio.capitalize()}s and their ends are exp of coefficients; '(log)', z and p are of "
        "the logarithms.",
    )


def _estimated(model: Any) -> bool:  # noqa: ANN401
    clip = getattr(model, "_clip_bounds", None)
    return clip is not None and clip.low is not None


def scores_between(
    features: Any,  # noqa: ANN401
    model: Any,  # noqa: ANN401
    errors: StandardErrors,
    level: float,
    square: float,
) -> tuple[Array, Array]:
    """Ends of intervals of scores of rows; `square` is that of one row's own error."""
    rows = features if isinstance(features, np.ndarray) else features.toarray()
    if model.fit_intercept:
        rows = np.column_stack([rows, np.ones(len(rows))])
    scores = rows @ estimates_of(model)
    variance = np.einsum("ij,ij->i", rows @ errors.total, rows)
    of_mean = reach_of(level, errors.degrees(rows)) * np.sqrt(np.maximum(variance, 0.0))
    deviation = np.hypot(of_mean, checked_level(level) * math.sqrt(square))
    deviation[~errors.tells(rows)] = np.nan
    return scores - deviation, scores + deviation


def _plain(numbers: Array) -> list[float | None]:
    return [float(number) if math.isfinite(number) else None for number in numbers]


def _number(value: float) -> str:
    return "nan" if math.isnan(value) else f"{value:.4g}"


def _fixed(value: float, digits: int) -> str:
    return "nan" if math.isnan(value) else f"{value:.{digits}f}"
