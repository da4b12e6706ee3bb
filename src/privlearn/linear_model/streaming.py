"""`partial_fit`: rows that arrive once are used once, and every batch is released as it comes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np

from privlearn._core.calibration import calibrate
from privlearn._core.docstrings import documented
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import charge_and_open
from privlearn._data.bounded import Table, bound
from privlearn._data.named_cells import with_target
from privlearn.exceptions import MissingFactError, UnsupportedCombinationError
from privlearn.linear_model.atomic import blank, remember_target
from privlearn.linear_model.base import PrivateEstimator, budget_of
from privlearn.linear_model.bond import Bond
from privlearn.solvers import OnePassSGD, check_supported
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.one_pass.stream import Stream

__all__ = ["StreamingMixin"]

SEEDS_APART = 2**32
# What later batches keep.
OF_THE_FIRST_BATCH = ("classes_", "n_features_in_", "feature_names_in_", "_encoding")


@dataclass(kw_only=True, eq=False, repr=False)
class StreamingMixin(PrivateEstimator):
    """Adds `partial_fit` to an estimator; it always uses the solver "one-pass"."""

    _stream: Stream = field(init=False)  # only in the middle of a stream

    @documented
    def partial_fit(self, X: object, y: object, classes: object = None) -> Self:
        """Learn from the next rows of a stream, and forget them.

        The first call plans and charges for the whole stream: nobody may come twice in it, so all
        batches together cost what one costs. The certificate lists that as an assumption. A call
        after `fit` starts a stream of its own; it does not go on from the fitted model.

        A stream is bound to its model, its process and all parameters at the first batch, ledger,
        data set and seed included; a change raises, and so do a copy and a forked child. A pickle
        goes on only through a `Ledger`, which counts batches. A call that fails leaves the model as
        it was; batches that it had begun are gone, and their rows must not come again.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows that have not come before. More than a batch are cut into several.
        y : array-like of shape (n_samples,) or str
            Their targets, or the name of the column of X that holds them.
        classes : array-like or None, default=None
            Classifiers: all labels of the stream, at the first call, unless the parameter `classes`
            declares them.

        Returns
        -------
        self
            With `coef_`, `intercept_` and `privacy_` as of now.

        Examples
        --------
        >>> import numpy as np
        >>> from privlearn import LogisticRegression
        >>> model = LogisticRegression(epsilon=1, delta=0, bounds_X=(0, 1), classes=[0, 1])
        >>> for k in range(20):
        ...     X = np.random.default_rng(k).uniform(0, 1, (2_000, 1))
        ...     model = model.partial_fit(X, (X[:, 0] > 0.5).astype(int))
        >>> model.predict([[0.1], [0.9]])
        array([0, 1])
        """
        work, before = blank(self), self._stream_so_far()
        work._validate_params()
        if self.max_rows_per_person is not None:
            raise UnsupportedCombinationError(
                f"max_rows_per_person={self.max_rows_per_person} is not supported by partial_fit: "
                "there nobody may come twice; leave it out, or collect the rows and call fit"
            )
        solver = work._streaming_solver()
        if before is not None:
            work.__dict__.update(before.bond.learned)
        labels = work._labels_of_stream(classes, before)
        if not type(X) is type(y) is np.ndarray:  # arrays have no names
            remember_target(work, y)
            X, y = with_target(X, y, self.schema)
        table = work._read(X, y, labels, reset=before is None)
        stream, budget = work._planned_stream(solver, table, before)
        stream.rehearse(table, budget)
        learned = {name: vars(work)[name] for name in OF_THE_FIRST_BATCH if name in vars(work)}
        work._stream = replace(stream, bond=stream.bond or Bond.of(self, learned))
        for rows in _batches(table, stream.problem):
            work._take_batch(rows, budget, self)
        work._publish_model(work._stream.solution())
        self.__dict__ = work.__dict__
        return self

    def _stream_so_far(self) -> Stream | None:
        """The stream that this very model is in the middle of, unchanged; None starts another."""
        before: Stream | None = getattr(self, "_stream", None)
        if before is not None:
            before.bond.demand_owner(self)
            before.bond.demand_same(self)
        return before

    def _take_batch(self, rows: Table, budget: Budget, owner: StreamingMixin) -> None:
        """Count a batch, durably, then release it, then step. One that fails is not repeated."""
        stream, bond = self._stream, self._stream.bond
        batch = bond.batches
        bond.batches += 1  # no other batch will have this number, whatever fails from here on
        account, seed = bond.account(owner, stream, batch), self._seed_of(batch)
        charged = {"ledger": account, "dataset": self.dataset}
        with charge_and_open(stream.plan, budget, random_state=seed, **charged) as release:
            bond.paid(owner, stream)
            self._stream = stream.advanced(bound(rows, stream.problem), release)
        self.privacy_ = release.certificate()

    def _streaming_solver(self) -> OnePassSGD:
        solver = OnePassSGD() if self.solver in ("auto", OnePassSGD.name) else self.solver
        if not isinstance(solver, OnePassSGD):
            raise UnsupportedCombinationError(
                "partial_fit uses rows once, as they come, which solver='one-pass' does and others "
                "do not; set solver='one-pass', or collect the rows and call fit"
            )
        return solver

    def _labels_of_stream(self, classes: object, before: Stream | None) -> object:
        """The labels of the whole stream, declared: a batch may lack some."""
        own = getattr(self, "classes", None)
        if own is None:
            return None
        if before is not None:
            return self.classes_
        declared = own if classes is None else classes
        if isinstance(declared, str):
            raise MissingFactError(
                "classes is missing, but a batch of a stream may lack some labels; declare all of "
                "them, as in LogisticRegression(classes=[0, 1])"
            )
        return declared

    def _planned_stream(
        self, solver: OnePassSGD, table: Table, before: Stream | None
    ) -> tuple[Stream, Budget]:
        """The stream so far, or a new one; nothing may change on the way.

        A batch's sum is divided by the size that was given, or by the rows of the first call.
        """
        n, n_features = table.X.shape
        problem = self._problem(n, n_features, len(getattr(self, "classes_", ())))
        size = problem.n if solver.batch_size is None else solver.batch_size
        if size is None:
            raise MissingFactError(
                f"batch_size is missing, but with adjacency={self.adjacency!r} the number of rows "
                "of a batch is private; pass solver=OnePassSGD(batch_size=...), about what will "
                "come in a call"
            )
        problem = replace(problem, n=size if before is None else before.problem.n)
        budget = budget_of(self.epsilon, self.delta)
        check_supported(solver, problem)
        settings = Stream.configured(solver, problem, budget)
        plan = calibrate(partial(Stream.planned, problem, settings), budget)
        if before is None:
            scaling = Scaling.for_gradients(problem, sparse=not isinstance(table.X, np.ndarray))
            return Stream(problem, settings, plan, scaling), budget
        same = before.plan == plan and before.settings == settings
        if not (same and before.problem.same_as(problem)):
            raise ValueError(
                "parameters were changed in the middle of a stream, whose plan was charged as a "
                "whole; set them back, or start another stream with a clone"
            )
        return before, budget

    def _seed_of(self, batch: int) -> Any:  # noqa: ANN401
        """A seed of its own for every batch, where a run is to be reproducible."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state) * SEEDS_APART + batch
        return self.random_state


def _batches(table: Table, problem: Problem) -> Iterator[Table]:
    """Rows in the order of their arrival, at most a batch at a time.

    Where their number is private all are one batch: how many there are would tell.
    """
    n = len(table.y)
    parts = -(-n // (problem.n or 1)) if problem.adjacency.n_is_public else 1
    for first, last in pairwise(k * n // parts for k in range(parts + 1)):
        yield replace(table, X=table.X[first:last], y=table.y[first:last])
