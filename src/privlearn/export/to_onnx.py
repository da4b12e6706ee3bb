"""Models as ONNX graphs, in double precision, with clips, lists and gaps inside."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privlearn._core.version import __version__
from privlearn.export.formula import (
    NO_VALUES,
    Formula,
    Lookup,
    Slope,
    formula_of,
    spelled_states,
    without_bins,
)
from privlearn.kernel_model.feature_map import BELOW_ONE, STRAIGHT

if TYPE_CHECKING:
    from privlearn.kernel_model.feature_map import FeatureMap
    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["to_onnx"]

Array = NDArray[np.float64]
OPSET, ML_OPSET, IR = 17, 3, 8  # of 2022: what reads ONNX today reads these


def to_onnx(model: PrivateEstimator) -> Any:  # noqa: ANN401
    """The graph, as an ``onnx.ModelProto``."""
    try:
        import onnx
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "to_onnx needs the package onnx; pip install 'privlearn[onnx]'"
        ) from None
    formula, graph = formula_of(model, to="to_onnx"), _Graph()
    scores = _scores_by_column(graph, formula) if formula.by_schema else _scores(graph, formula)
    if formula.classes is None:
        _numbers(graph, formula, scores)
    else:
        _classes(graph, formula, formula.classes, scores)
    made = onnx.helper.make_model(
        graph.made(),
        opset_imports=[
            onnx.helper.make_opsetid("", OPSET),
            onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET),
        ],
        producer_name="privlearn",
        producer_version=__version__,
        ir_version=IR,
    )
    certificate = json.dumps(model.privacy_.to_dict())
    onnx.helper.set_model_props(made, {"privlearn certificate": certificate})
    onnx.checker.check_model(made)
    return made


class _Graph:
    """Nodes, constants, inputs and outputs; every value has a name that is made up here."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._names = (f"privlearn:{k}" for k in count())

    def node(self, operator: str, *given: str, named: str | None = None, **attributes: Any) -> str:  # noqa: ANN401
        """Add an operation; the name of its result."""
        from onnx import helper

        out = next(self._names) if named is None else named
        domain = {"domain": "ai.onnx.ml"} if operator == "LabelEncoder" else {}
        made = helper.make_node(operator, [*given], [out], name=f"node of {out}", **domain)
        made.attribute.extend(helper.make_attribute(k, v) for k, v in attributes.items())
        self._nodes.append(made)
        return out

    def constant(self, values: ArrayLike, kind: type = np.float64) -> str:
        """Add numbers or texts; their name."""
        from onnx import TensorProto, helper, numpy_helper

        out, array = next(self._names), np.asarray(values)
        if array.dtype.kind in "UO":
            texts: Any = [str(text).encode() for text in array.ravel()]
            self._constants.append(helper.make_tensor(out, TensorProto.STRING, array.shape, texts))
        else:
            self._constants.append(numpy_helper.from_array(array.astype(kind), out))
        return out

    def given(self, name: str, width: int, *, text: bool = False) -> str:
        """Add an input of so many columns; its name."""
        from onnx import TensorProto, helper

        kind = TensorProto.STRING if text else TensorProto.DOUBLE
        self._inputs.append(helper.make_tensor_value_info(name, kind, ["rows", width]))
        return name

    def answers(self, name: str, kind: int, width: int | None = None) -> None:
        """Declare a result of the graph."""
        from onnx import helper

        shape: list[str | int | None] = ["rows"] if width is None else ["rows", width]
        self._outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def made(self) -> Any:  # noqa: ANN401
        """The graph."""
        from onnx import helper

        given = self._nodes, "privlearn", self._inputs, self._outputs
        return helper.make_graph(*given, initializer=self._constants)

    def within(self, value: str, low: ArrayLike, high: ArrayLike) -> str:
        """Values between two ends each, where there are some."""
        for operator, ends in (("Max", low), ("Min", high)):
            if np.isfinite(ends).any():
                value = self.node(operator, value, self.constant(ends))
        return value

    def times(self, value: str, matrix: Array) -> str:
        """Rows times a matrix."""
        return self.node("MatMul", value, self.constant(matrix))

    def plus(self, value: str, constant: ArrayLike) -> str:
        """Rows plus a constant."""
        return self.node("Add", value, self.constant(constant))


# Scores


def _scores(graph: _Graph, formula: Formula) -> str:
    """Of a matrix X of numbers."""
    X = graph.within(graph.given("X", len(formula.terms)), *formula.limits)
    if formula.features is not None:
        return _scores_of_kernel(graph, formula, formula.features, X)
    slopes = np.array([term.slope for term in formula.terms if isinstance(term, Slope)])
    return graph.plus(graph.times(X, slopes), formula.intercept)


def _scores_of_kernel(graph: _Graph, formula: Formula, features: FeatureMap, X: str) -> str:
    assert formula.coef is not None
    coef, half, p = formula.coef.T, features.frequencies.shape[1], len(formula.terms)
    ranked = features.edges is not None and features.ranks is not None
    straight, inputs, parts = STRAIGHT if ranked else 0.0, X, []
    if features.edges is not None and features.ranks is not None:
        inputs = _ranks(graph, X, features.edges, features.ranks)
        own = coef[2 * half : 2 * half + p] * (math.sqrt(straight / p) * BELOW_ONE)
        parts.append(graph.times(inputs, own))
    if half:
        amplitude = math.sqrt((1.0 - straight) / half) * BELOW_ONE
        phases = graph.times(inputs, features.frequencies)
        cosines = graph.node("Sin", graph.plus(phases, math.pi / 2.0))
        parts.append(graph.times(cosines, amplitude * coef[:half]))
        parts.append(graph.times(graph.node("Sin", phases), amplitude * coef[half : 2 * half]))
    if len(coef) > features.n_features_out:
        parts.append(graph.times(X, coef[features.n_features_out :]))
    return graph.plus(graph.node("Sum", *parts), formula.intercept)


def _ranks(graph: _Graph, X: str, edges: Array, ranks: Array) -> str:
    """Piecewise linear ranks of each column: what a value has climbed of every piece, summed up."""
    low, widths, steps = edges[:, :-1], np.diff(edges, axis=1), np.diff(ranks, axis=1)
    wide = widths > 0.0
    slopes = np.divide(steps, widths, out=np.zeros_like(steps), where=wide)
    cells = graph.node("Unsqueeze", X, graph.constant([2], np.int64))
    climbed = graph.node("Sub", graph.within(cells, low, edges[:, 1:]), graph.constant(low))
    risen = graph.node("Mul", climbed, graph.constant(slopes))
    if np.any(steps[~wide]):  # a jump, which is taken where it is reached
        below = graph.node("Less", cells, graph.constant(low))
        jumps = graph.constant(np.where(wide, 0.0, steps))
        risen = graph.node("Add", risen, graph.node("Where", below, graph.constant(0.0), jumps))
    total = graph.node("ReduceSum", risen, graph.constant([2], np.int64), keepdims=0)
    return graph.plus(total, ranks[:, 0])


def _scores_by_column(graph: _Graph, formula: Formula) -> str:
    """Of one input per column: numbers, days since 1970-01-01, or texts."""
    parts = []
    for term in without_bins(formula, "to_onnx", "has no operator that computes its hash"):
        name, text = str(term.name), isinstance(term, Lookup)
        cells = graph.given(name, 1, text=text)
        own = _slope(graph, term, cells) if isinstance(term, Slope) else _lookup(graph, term, cells)
        parts.append(own)
    return graph.plus(graph.node("Sum", *parts), formula.intercept)


def _slope(graph: _Graph, term: Slope, cells: str) -> str:
    gap = graph.node("Or", graph.node("IsNaN", cells), graph.node("IsInf", cells))
    if term.inside is not None:
        low, high = map(graph.constant, term.inside)
        beyond = graph.node(
            "Or", graph.node("Less", cells, low), graph.node("Greater", cells, high)
        )
        gap = graph.node("Or", gap, beyond)
    numbers = graph.node("Where", gap, graph.constant(0.0), cells)
    if term.first_day:
        numbers = graph.plus(numbers, -term.first_day)
    clipped = graph.within(numbers, term.low, term.high)
    adds = graph.times(clipped, term.slope[None, :])
    return graph.node("Where", gap, graph.constant(_missing(term, len(term.slope))), adds)


def _lookup(graph: _Graph, term: Lookup, cells: str) -> str:
    states, size = spelled_states(term), len(term.adds)
    table = np.vstack([term.adds, _missing(term, term.adds.shape[1])])
    if term.other is not None:  # then a gap is a state, and what is not known comes last
        table = np.vstack([table, term.other])
        states, size = [*states, ["", *_in_cases(NO_VALUES)]], size + 1
    place = graph.node(
        "LabelEncoder",
        cells,
        keys_strings=[text for texts in states for text in texts],
        values_int64s=[k for k, texts in enumerate(states) for _ in texts],
        default_int64=size,
    )
    found = graph.node("Gather", graph.constant(table), place)
    return graph.node("Squeeze", found, graph.constant([1], np.int64))


def _in_cases(words: Sequence[str]) -> list[str]:
    """Words as libraries write them: nan, NaN, NAN, Inf."""
    cases = [(word, word.upper(), word.title(), word.replace("nan", "NaN")) for word in words]
    return [*dict.fromkeys(text for same in cases for text in same)]


def _missing(term: Slope | Lookup, outputs: int) -> Array:
    """What a gap adds: NaN where a row with one cannot be predicted."""
    return np.full(outputs, np.nan) if term.missing is None else term.missing


# Answers


def _numbers(graph: _Graph, formula: Formula, scores: str) -> None:
    from onnx import TensorProto

    if formula.ends is not None:
        ends = [math.log(end) for end in formula.ends] if formula.link == "mean" else formula.ends
        scores = graph.within(scores, *ends)
    if formula.link == "mean":
        scores = graph.node("Exp", scores)
    graph.node("Squeeze", scores, graph.constant([1], np.int64), named="prediction")
    graph.answers("prediction", TensorProto.DOUBLE)


def _classes(graph: _Graph, formula: Formula, classes: NDArray[Any], scores: str) -> None:
    from onnx import TensorProto

    if len(classes) == 2:  # the first one's score is 0
        scores = graph.node("Concat", graph.node("Sub", scores, scores), scores, axis=1)
    best = graph.node("ArgMax", scores, axis=1, keepdims=0)
    whole = classes.dtype.kind in "iu"
    kind = np.int64 if whole else np.bool_ if classes.dtype.kind == "b" else np.float64
    number = {np.int64: TensorProto.INT64, np.bool_: TensorProto.BOOL}.get(kind, TensorProto.DOUBLE)
    graph.node("Gather", graph.constant(classes, kind), best, named="prediction")
    graph.answers("prediction", TensorProto.STRING if classes.dtype.kind in "UO" else number)
    if formula.link == "probability":
        graph.node("Softmax", scores, axis=1, named="probabilities")
        graph.answers("probabilities", TensorProto.DOUBLE, len(classes))
    else:
        graph.node("Identity", scores, named="scores")
        graph.answers("scores", TensorProto.DOUBLE, len(classes))
