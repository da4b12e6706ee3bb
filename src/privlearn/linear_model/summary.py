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
from privlearn.solvers._common.standard_errors import StandardErrors

if TYPE_CHECKING:
    from privlearn.linear_model.intervals import IntervalsMixin

__all__ = [
    "Summary",
    "checked_level",
    "coefficient_names",
    "reach_of",
    "scores_between",
    "summarised",
]

Array = NDArray[np.float64]
INTERCEPT = "(intercept)"
HEAD = ("", "coef", "noise s.e.", "std err", "z", "p")


@dataclass(frozen=True, eq=False)
class Summary:
    """Estimates and what is known about their errors, one number per coefficient in each array.

    Attributes
    ----------
    names : tuple of str
        Of the coefficients, the intercept last.
    coef : array
        Estimates.
    noise : array
        Standard errors of the privacy noise alone.
    std_err : array
        Standard errors of the noise and of the sampling of rows together.
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
    """

    names: tuple[str, ...]
    coef: Array
    noise: Array
    std_err: Array
    low: Array
    high: Array
    p_value: Array
    level: float
    title: str
    notes: tuple[str, ...]

    @property
    def z(self) -> Array:
        """Estimates in standard errors; NaN where there is no error to measure them by."""
        return _in_errors(self.coef, self.std_err)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values; None where nothing can be told."""
        columns = {name: _plain(getattr(self, name)) for name in COLUMNS}
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

        columns = {name: getattr(self, name) for name in COLUMNS}
        return DataFrame(columns, index=list(self.names))

    def rows(self) -> list[list[str]]:
        """The table in words: a head and a line for each coefficient."""
        tail = f"{(1 - self.level) / 2:.3g}", f"{(1 + self.level) / 2:.3g}"
        head = [*HEAD, *(f"[{tail[0]}", f"{tail[1]}]")]
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

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in rows
        ]
        rule = "-" * len(lines[0])
        title = harmless(self.title, "terminal")
        return "\n".join([title, rule, lines[0], rule, *lines[1:], rule, *self.notes])

    def _repr_html_(self) -> str:
        head, *body = [[html.escape(cell) for cell in row] for row in self.rows()]
        title = harmless(self.title, "html")
        lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in body]
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return (
            f"<table><caption>{title}</caption><thead><tr>"
            + "".join(f'<th scope="col">{cell}</th>' for cell in head)
            + "</tr></thead><tbody>"
            + "".join(f"<tr>{line}</tr>" for line in lines)
            + f"</tbody></table>{notes}"
        )


COLUMNS = ("coef", "noise", "std_err", "z", "p_value", "low", "high")


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


def summarised(model: IntervalsMixin, errors: StandardErrors, level: float) -> Summary:
    """The table of a fitted model."""
    coef = _estimates(model)
    alone = np.eye(len(coef))
    degrees, told = errors.degrees(alone), errors.tells(alone)
    reach = reach_of(level, degrees)
    untold = np.where(told, 0.0, np.nan)
    noise = np.sqrt(np.maximum(np.diag(errors.noise), 0.0)) + untold
    std_err = np.sqrt(np.maximum(np.diag(errors.total), 0.0)) + untold
    p_value = _p_values(_in_errors(coef, std_err), degrees)
    certificate = model.privacy_  # type: ignore[attr-defined]
    title = (
        f"{type(model).__name__}{_of(model)}, epsilon = {certificate.epsilon:g}, "
        f"delta = {certificate.delta:g}"
    )
    if not certificate.private:
        title += ", NOT PRIVATE (random_state was set)"
    ends = coef - reach * std_err, coef + reach * std_err
    return Summary(
        coefficient_names(model, len(coef)),
        coef,
        noise,
        std_err,
        *ends,
        p_value,
        float(level),
        title,
        _notes(model, bool(told.all()), errors.penalised),
    )


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


def _estimates(model: Any) -> Array:  # noqa: ANN401
    coef = np.ravel(model.coef_)
    return np.append(coef, model.intercept_) if model.fit_intercept else coef


def coefficient_names(model: Any, size: int) -> tuple[str, ...]:  # noqa: ANN401
    """Of the coefficients, the intercept last."""
    own = size - int(model.fit_intercept)
    found = getattr(model, "feature_names_out_", None)
    names = [f"x{k}" for k in range(own)] if found is None else [str(name) for name in found]
    return (*names, INTERCEPT) if model.fit_intercept else tuple(names)


def _notes(model: Any, all_told: bool, penalised: bool) -> tuple[str, ...]:  # noqa: ANN401
    ranges = "ranges that this fit estimated" if _estimated(model) else "the declared ranges"
    notes = [
        f"Intervals are about the population's rows clipped to {ranges}. 'noise s.e.' is the",
        "privacy noise alone, 'std err' noise and sampling together.",
    ]
    if not all_told:
        notes.append("nan: noise leaves too little to tell; use more rows or a larger epsilon.")
    if penalised:
        notes.append("Estimates are pulled towards 0 by the penalty, and so are intervals.")
    return tuple(notes)


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
    scores = rows @ _estimates(model)
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
