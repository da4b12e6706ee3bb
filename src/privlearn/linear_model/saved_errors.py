"""Standard errors as plain values, and back: what `summary` and `predict_interval` need."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn.solvers._common.residuals import Residual
from privlearn.solvers._common.standard_errors import Doubt, StandardErrors

__all__ = ["errors_from", "most_bytes", "plain_errors"]

Array = NDArray[np.float64]
# Of the formats: the first had no noise of residuals, the second none of covariances, and the third
# told only whether there is a penalty.
FIRST, SECOND, THIRD, PRESENT = 1, 2, 3, 4
OF_A_NUMBER = 26  # bytes: a sign, 17 digits, a point, an exponent, a comma and a blank


def plain_errors(errors: StandardErrors) -> dict[str, Any]:
    """All that was released about errors, as numbers and lists; of symmetric matrices, a half.

    Examples
    --------
    >>> two = StandardErrors(np.eye(2), 4 * np.eye(2), np.zeros((0, 2)), np.eye(2))
    >>> plain_errors(two)["total"]
    [[4.0], [0.0, 4.0]]
    >>> bool((errors_from(plain_errors(two), 2).total == two.total).all())
    True
    """
    return {
        "version": PRESENT,
        "noise": _lower_half(errors.noise),
        "total": _lower_half(errors.total),
        "weak": errors.weak.tolist(),
        "basis": errors.basis.tolist(),
        "residual": None
        if errors.residual is None
        else [errors.residual.square, errors.residual.noise, errors.residual.cut],
        "pulled": None if math.isnan(errors.pulled) else errors.pulled,
        "doubt": None
        if errors.doubt is None
        else [errors.doubt.inverse.tolist(), errors.doubt.covariance.tolist()],
    }


def most_bytes(size: int) -> int:
    """No fewer than the JSON of `plain_errors` takes for so many estimates of as many weights.

    Two halves of matrices and, as whole ones, what is not told, the basis and two of the doubt.
    """
    return 512 + OF_A_NUMBER * (5 * size * size + size)


def errors_from(content: Mapping[str, Any], size: int) -> StandardErrors:
    """What `plain_errors` told, if it belongs to so many estimates."""
    version = content["version"]
    if version not in (FIRST, SECOND, THIRD, PRESENT):
        raise ValueError("errors of a model are of a later version; update privlearn")
    noise, total = (_symmetric(content[name], size) for name in ("noise", "total"))
    basis = _finite(content["basis"]).reshape(-1, size)
    weak = _finite(content["weak"]).reshape(-1, len(basis))
    residual = None if version == FIRST else _residual(content["residual"])
    doubt = _doubt(content["doubt"], basis.shape) if version >= THIRD else None
    return StandardErrors(noise, total, weak, basis, residual, _pulled(content), doubt)


def _pulled(content: Mapping[str, Any]) -> float:
    if content["version"] < PRESENT:
        if not isinstance(content["penalised"], bool):
            raise ValueError("'penalised' is true or false")
        return math.nan if content["penalised"] else 0.0
    if content["pulled"] is None:
        return math.nan
    found = float(_finite(content["pulled"]))
    if not 0.0 <= found <= 1.0:
        raise ValueError("a penalty pulls coefficients by a part of what they are")
    return found


def _doubt(parts: list[list[list[float]]] | None, shape: tuple[int, ...]) -> Doubt | None:
    if parts is None:
        return None
    inverse, covariance = (_finite(part) for part in parts)
    if inverse.shape != shape or covariance.shape != shape:
        raise ValueError("the noise of covariances is told for each weight and estimate")
    return Doubt(inverse, covariance)


def _residual(numbers: list[float] | None) -> Residual | None:
    if numbers is None:
        return None
    square, noise, cut = _finite(numbers).tolist()
    if not (noise >= 0.0 and cut > 0.0):
        raise ValueError("the noise on the size of residuals is at least 0, and they are not cut")
    return Residual(square, noise, cut)


def _lower_half(matrix: Array) -> list[list[float]]:
    return [row[: k + 1] for k, row in enumerate(matrix.tolist())]


def _symmetric(rows: list[list[float]], size: int) -> Array:
    found = np.zeros((size, size))
    if [len(row) for row in rows] != [*range(1, size + 1)]:
        raise ValueError("errors of a model have a row for each coefficient and the intercept")
    found[np.tril_indices(size)] = _finite([number for row in rows for number in row])
    found += np.tril(found, -1).T
    if not (np.diag(found) >= 0.0).all():
        raise ValueError("variances are at least 0")
    return found


def _finite(numbers: Any) -> Array:  # noqa: ANN401
    found = np.array(numbers, dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError("errors of a model are finite numbers")
    return found
