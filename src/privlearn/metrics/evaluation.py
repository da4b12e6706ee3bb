"""`evaluate`: scores of a model on people's rows, planned, charged and released like a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.budget import warn_of_delta
from privlearn._core.calibration import calibrate
from privlearn._core.numerics import BlockSum
from privlearn._core.plan import Plan, Release, check_size
from privlearn._core.problem import Adjacency, Bounds, Budget, budget_of
from privlearn._core.releaser import Releaser, charge_and_open
from privlearn._data.bounded import BoundedData
from privlearn._data.labels import OF_MODEL, encode_labels
from privlearn._data.named_cells import with_ids, with_target
from privlearn._data.people import read_people
from privlearn._data.tables import read_features, read_table
from privlearn.exceptions import InvalidBudgetError, PrivacyTestFailedError
from privlearn.metrics.cells import Cells
from privlearn.metrics.expected import with_expected_noise
from privlearn.metrics.losses import Losses
from privlearn.metrics.notes import notes_of
from privlearn.metrics.numbers import Errors
from privlearn.metrics.parts import Count, Part, Released
from privlearn.metrics.people import (
    Everybody,
    assumed_numbers,
    checked_most,
    demand_both,
    warn_of_rows,
)
from privlearn.metrics.predictions import Predicted, predicted_blocks
from privlearn.metrics.result import (
    CalibrationTable,
    ConfusionMatrix,
    Evaluation,
    Found,
    Score,
)
from privlearn.metrics.task import Task
from privlearn.metrics.two_classes import TwoClasses
from privlearn.schema.encoding import EncodedRows
from privlearn.solvers._common.rehearsal import once, run_through
from privlearn.solvers._common.row_count import (
    COUNT,
    LEAST_USABLE,
    least_usable,
    usable_release,
)

__all__ = ["evaluate", "plan"]

Array = NDArray[np.float64]
METHOD = "noisy histograms of scores and noisy sums of bounded losses (metrics/proof.md)"
OF_LOSSES = 0.4  # of the budget, where there are histograms as well
OF_COUNT = 0.05
SEVERAL = "intervals take rows for independent, also those of one person"
ON_INVALID = ("raise", "drop")


@dataclass(frozen=True, eq=False)
class Job:
    """All that is fixed before the rows are looked at."""

    task: Task
    parts: tuple[Part, ...]
    plan: Plan
    budget: Budget
    counts: bool  # whether the number of usable rows is released

    @property
    def most_rows(self) -> int:
        """How many rows of one person count."""
        return self.plan.rows_per_person or 1


def plan(
    model: object,
    n: int | None = None,
    *,
    epsilon: float,
    delta: float = 1e-6,
    adjacency: str = "zero_out",
    max_rows_per_person: int | None = None,
    on_invalid: str = "raise",
    bounds_y: object = None,
    metrics: object = None,
) -> Plan:
    """What `evaluate` would release and cost, before any rows.

    Parameters
    ----------
    model : fitted classifier or regressor
        Of privlearn or scikit-learn.
    n : int or None, default=None
        Number of rows, or of people where `max_rows_per_person` is given, for the noise that is
        to be expected; the releases have nothing of it where ``adjacency="add_remove"``.
    epsilon, delta, adjacency, max_rows_per_person, on_invalid, bounds_y, metrics
        As in `evaluate`.

    Returns
    -------
    Plan
        `str()` it, or ask `.epsilon(delta)` and `.releases`; where `n` is given `.outlook.noise`
        has the standard deviation of the noise that each metric will have.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    >>> found = plan(model, 1_000, epsilon=1, delta=1e-6, bounds_y=(0, 1))
    >>> [release.name for release in found.releases]
    ['errors and targets']
    """
    task = Task.of(model, metrics, bounds_y)
    job = prepare(task, n, epsilon, delta, adjacency, on_invalid, max_rows_per_person)
    return with_expected_noise(job.plan, task, job.parts, n)


def evaluate(
    model: object,
    X: object,
    y: object,
    *,
    epsilon: float,
    delta: float = 1e-6,
    adjacency: str = "zero_out",
    groups: object = None,
    max_rows_per_person: int | None = None,
    on_invalid: str = "raise",
    bounds_y: object = None,
    ledger: object = None,
    dataset: str | None = None,
    metrics: object = None,
    random_state: object = None,
) -> Evaluation:
    """Score a fitted model on rows about people, with a privacy guarantee for them.

    Classifiers: accuracy, AUC (two classes), log loss and Brier score (with probabilities),
    confusion matrix and calibration table. Regressors: R^2, mean squared and mean absolute error.
    Each number has a 95 % interval for its value in the population that the rows were drawn from.

    Parameters
    ----------
    model : fitted classifier or regressor
        Of privlearn or scikit-learn; a `PrivateSearchCV` stands for its best estimator. It must not
        have been trained on these rows, unless it is private itself: the certificate lists that as
        an assumption. Models other than linear ones are asked about each row alone where
        ``adjacency="add_remove"`` or ``on_invalid="drop"``, which takes longer.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        One row per person; numbers and booleans.
        A data frame with the model's columns, where it was fitted with a schema.
    y : array-like of shape (n_samples,) or str
        True targets or labels; or the name of the column of X that holds them.
    epsilon, delta : float
        What this evaluation promises in total; delta, 1e-6 as in fits, must be above 0.
    adjacency : {"zero_out", "add_remove", "replace_one"}, default="zero_out"
        As in every estimator.
    groups : array-like of shape (n_samples,), str or None, default=None
        Whose each row is, or the name of that column of X: a person may have several rows, and is
        protected with all of them. None: every row is a person.
    max_rows_per_person : int or None, default=None
        With `groups`, how many rows of one person count, chosen without looking at the data; of
        those with more, so many are drawn. Noise grows in proportion.
    on_invalid : {"raise", "drop"}, default="raise"
        Rows with NaN, infinity or a label that the model does not know: an error before anything
        is spent, or they count as empty rows, and their number is hidden by noise. Missing cells of
        a schema's column are what it says: ``missing="drop"`` makes rows empty in either case.
    bounds_y : pair (low, high) or None, default=None
        Range of the target, from public knowledge, to which targets and predictions are clipped.
        None takes what the model's fit released or was told.
    ledger : Ledger, path or None, default=None
        What is charged before anything is released.
    dataset : str or None, default=None
        Name of the data set that the ledger charges: the same name for the same people.
    metrics : list of str or None, default=None
        Which ones; None stands for all that the model allows. Fewer have less noise.
    random_state : int, RandomState, Generator or None, default=None
        For tests only: a reproducible run is not private, and the certificate says so.

    Returns
    -------
    Evaluation
        Scores by name, tables, and the certificate in `.privacy`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from privlearn.metrics import evaluate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20_000, 2))
    >>> y = (X[:, 0] + rng.standard_normal(20_000) > 0).astype(int)
    >>> model = LogisticRegression().fit(X[:100], y[:100])
    >>> scores = evaluate(model, X[100:], y[100:], epsilon=1, delta=1e-6)
    >>> 0.7 < scores.auc.low < scores.auc.value < scores.auc.high < 0.95
    True
    """
    task = Task.of(model, metrics, bounds_y)
    _checked(epsilon, delta, adjacency, on_invalid)
    demand_both(groups, max_rows_per_person)
    warn_of_rows(model, groups)
    X, groups = with_ids(X, groups)
    strict = on_invalid == "raise"
    data = read_rows(task, *with_target(X, y), adjacency, on_invalid, max_rows_per_person)
    people = None if groups is None else read_people(groups, data.n, strict=strict)
    n = data.n if people is None else people.count
    job = prepare(task, n, epsilon, delta, adjacency, on_invalid, max_rows_per_person)
    warn_of_delta(job.budget, n if job.plan.adjacency.n_is_public else None)
    if people is None:
        sums = _sums(job, data, strict=strict)
    else:
        job = replace(job, plan=replace(job.plan, person=people.name))
        everybody = Everybody.of(people, predicted_blocks(task, data, strict=strict))
    rehearse(job)
    charged: dict[str, Any] = {"ledger": ledger, "dataset": dataset, "random_state": random_state}
    with charge_and_open(job.plan, job.budget, **charged) as release:
        if people is not None:
            sums = added_up(job, everybody.who_count(job.most_rows, release.choice_key()))
        return conclude(job, sums, n, release)


def conclude(job: Job, sums: dict[str, Array], n: int, release: Releaser) -> Evaluation:
    """Release the sums, and tell what they say."""
    released = _release(job, sums, n, release)
    _refuse_few(job, released.count)
    found = [each for part in job.parts for each in part.tell(released)]
    return _result(job, found, released.count, release)


def prepare(
    task: Task,
    n: int | None,
    epsilon: object,
    delta: object,
    adjacency: str,
    on_invalid: str,
    most: int | None = None,
) -> Job:
    """All that is fixed before the rows; `n` is the number of people where `most` rows count."""
    relation, budget = _checked(epsilon, delta, adjacency, on_invalid)
    rows, _ = check_size(n if relation.n_is_public else None, 1)
    most = checked_most(most)
    parts = _parts(task)
    counts = on_invalid == "drop" or not relation.n_is_public or _drops(task) or (most or 1) > 1
    assumed = (*task.assumed_of(most), *assumed_numbers(rows, most))
    known = rows if most in (None, 1) else None  # of several rows each, how many is private
    blank = Plan((), relation, 1.0, known, assumed, METHOD, most).split(_shared(parts, counts))
    planned = calibrate(lambda scale: replace(blank, scale=scale), budget)
    return Job(task, parts, planned, budget, counts)


def _checked(
    epsilon: object, delta: object, adjacency: object, on_invalid: object
) -> tuple[Adjacency, Budget]:
    """The relation and the promise, or a refusal; rows come later."""
    if on_invalid not in ON_INVALID:
        raise ValueError(f"on_invalid must be one of {ON_INVALID}")
    if not isinstance(adjacency, str) or adjacency not in [*Adjacency]:
        raise ValueError(f"adjacency must be one of {tuple(one.value for one in Adjacency)}")
    budget = budget_of(epsilon, delta)
    if budget.delta == 0.0:
        raise InvalidBudgetError(
            "delta=0, but evaluate adds Gaussian noise, which needs delta > 0; set delta, for "
            "example delta=1e-6"
        )
    return Adjacency(adjacency), budget


def _parts(task: Task) -> tuple[Part, ...]:
    """What the metrics are read off, histograms first."""
    if task.classes is None:
        return (Errors(task),)
    asked, found = set(task.metrics), list[Part]()
    if asked & {"auc", "calibration"}:
        found.append(TwoClasses(task))
    elif asked & {"accuracy", "confusion"}:
        found.append(Cells(task))
    if asked & {"log_loss", "brier"}:
        found.append(Losses(task))
    return tuple(found)


def _shared(parts: tuple[Part, ...], counts: bool) -> list[tuple[Release, float | None]]:
    """Releases with their shares of the budget; the first takes what the others leave."""
    of_count = OF_COUNT if counts else 0.0
    of_parts = [1.0] if len(parts) == 1 else [1.0 - OF_LOSSES, OF_LOSSES]
    found: list[tuple[Release, float | None]] = [
        (release, share * own * (1.0 - of_count))
        for part, share in zip(parts, of_parts, strict=True)
        for release, own in part.releases()
    ]
    found[0] = (found[0][0], None)
    return [*found, (usable_release(COUNT), of_count)] if counts else found


def read_rows(
    task: Task, X: object, y: object, adjacency: str, on_invalid: str, most: int | None = None
) -> BoundedData:
    """The rows as numbers; labels are those of the model. Nothing is clipped yet but targets.

    A schema's columns become features in their own units, which are those of the coefficients.
    """
    reader: Any = copy(task.model)  # whose names and number of columns count
    reader.adjacency, reader.on_invalid, reader._encoding = adjacency, on_invalid, task.encoding
    reader.max_rows_per_person = most  # errors then tell no number of rows
    encode: Callable[[object], Array] | None = None
    if task.classes is not None:
        encode = partial(
            encode_labels, classes=task.classes, on_invalid=on_invalid, whence=OF_MODEL
        )
    if task.encoding is not None:
        strict = on_invalid == "raise"
        values = np.asarray(read_features(reader, X, reset=False, strict=strict))
        X = EncodedRows(task.encoding, values)
    table = read_table(reader, X, y, encode=encode, reset=False)
    if task.encoding is not None:
        table = replace(table, X=values)  # what a fit would scale
    return BoundedData(table, Bounds(None, None, task.bounds, None), True)


def _drops(task: Task) -> bool:
    """Whether a schema makes rows with a missing cell empty ones."""
    return task.encoding is not None and task.encoding.drops


def _sums(job: Job, data: BoundedData, *, strict: bool) -> dict[str, Array]:
    """All statistics without noise, before the charge: nothing that can fail comes after it."""
    public = job.plan.adjacency.n_is_public
    return added_up(job, predicted_blocks(job.task, data, strict=strict, n_is_public=public))


def added_up(job: Job, blocks: Iterable[Predicted]) -> dict[str, Array]:
    totals = {release.name: BlockSum(release.shape) for release in job.plan.releases}
    for rows in blocks:
        for part in job.parts:
            for name, block in part.sums(rows).items():
                totals[name].add(block)
        if job.counts:
            totals[COUNT].add(np.full(1, float(rows.present.sum())))
    return {name: total.value() for name, total in totals.items()}


def _release(job: Job, sums: dict[str, Array], n: int, release: Releaser) -> Released:
    """Everything that is planned, in its order. `n` counts only where it is public."""
    made = {one.name: release(one.name, sums[one.name], clip=one.clip) for one in job.plan.releases}
    noise = {one.name: release.noise_scale(one.name) for one in job.plan.releases}
    count = Count(float(made[COUNT][0]), noise[COUNT]) if job.counts else Count(float(n))
    return Released(made, noise, count)


def _refuse_few(job: Job, count: Count) -> None:
    """A planned test: scores of hardly any rows would be noise, and mostly mean a mistake."""
    if job.counts and count.rows < least_usable(count.noise, job.plan.rows):
        raise PrivacyTestFailedError(
            "hardly any row is usable: their noisy number is within its noise of zero or below "
            f"{LEAST_USABLE:.0%} of all rows. The budget is spent and no score is published. Check "
            "that the columns are those of the model, in its units and order, that labels are "
            "spelled as in model.classes_, and that missing cells are few"
        )


def rehearse(job: Job) -> None:
    """Release and tell about rows that are nobody's, so that nothing loads after the charge."""
    sums = {one.name: np.full(one.shape, 100.0) for one in job.plan.releases}

    def run(release: Releaser) -> None:
        released = _release(job, sums, 100, release)
        for part in job.parts:
            part.tell(released)

    key = ("evaluate", job.task.metrics, job.task.n_classes, job.plan.adjacency, job.counts)
    once(key, lambda: run_through(job.plan, job.budget, run))


def _result(job: Job, found: list[Found], count: Count, release: Releaser) -> Evaluation:
    scores = {score.name: score for score in found if isinstance(score, Score)}
    tables = {type(table): table for table in found}
    confusion, calibration = tables.get(ConfusionMatrix), tables.get(CalibrationTable)
    assert confusion is None or isinstance(confusion, ConfusionMatrix)
    assert calibration is None or isinstance(calibration, CalibrationTable)
    return Evaluation(
        model=type(job.task.model).__name__,
        scores=tuple(scores[name] for name in job.task.metrics if name in scores),
        confusion=confusion,
        calibration=calibration,
        rows=count.rows,
        notes=(*notes_of(job.task), *((SEVERAL,) if job.most_rows > 1 else ())),
        privacy=release.certificate(),
        clipped=job.task.estimated,
    )
