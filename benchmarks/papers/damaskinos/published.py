"""The published algorithms on one problem: which, how tuned, and runs at the tuned settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from benchmarks.papers.damaskinos.problems import Task
from benchmarks.papers.damaskinos.runs import Algorithm, Setting, noise_of, outcome, thetas
from benchmarks.papers.damaskinos.steps import HINGE, LOGISTIC, SQUARED
from benchmarks.papers.damaskinos.tuning import BATCHES, CRITERIA, SCALES, Search, tune

__all__ = ["PLAIN", "TUNED", "VARIANTS", "Tuning", "rows", "settings", "traces", "without_privacy"]

PLAIN = "DP-SCD"
HONEST = "DP-SCD, honestly accounted"
FIGURE_EPSILON = 1.0  # of Figure 3
TRACED = (0.1, 1.0)  # of Figure 2


@dataclass(frozen=True)
class Tuning:
    """An algorithm, the batch sizes that it is tried with, and how many settings of a grid."""

    algorithm: Algorithm
    batches: tuple[int, ...] = BATCHES
    sample: dict[int, int] | None = None  # by loss; absent: all
    only: int | None = None  # a loss


TUNED = {
    PLAIN: Tuning(Algorithm("dual")),
    HONEST: Tuning(Algorithm("dual", "honest"), (50, 500, 2000)),
    "SeqDP-SCD": Tuning(Algorithm("sequential"), (5, 10, 50, 200, 1000)),
    "PrimalDP-SCD": Tuning(Algorithm("primal"), (5, 10, 50), only=LOGISTIC),
    "DP-SGD": Tuning(Algorithm("gradient"), sample={SQUARED: 150, HINGE: 150}),
}
VARIANTS = {  # at the settings of PLAIN
    "DP-SCD, the paper's accountant": Algorithm("dual", "moments"),
    "DP-SCD, exact accountant": Algorithm("dual", "exact"),
    "DP-SCD, shuffled epochs": Algorithm("dual", shuffled=True),
}


def settings(task: Task, epsilons: tuple[float, ...], *, quick: bool = False) -> dict:
    """{method: {epsilon: best settings}}, and the grid behind Figure 3."""
    found: dict = {"methods": {}, "grid": []}
    for name, tuning in TUNED.items():
        if tuning.only not in (None, task.loss) or (quick and tuning.only is not None):
            continue
        sample = 10 if quick else (tuning.sample or {}).get(task.loss)
        searches = [_search(task, tuning, epsilon, quick) for epsilon in epsilons]
        best = tune(searches, sample=sample)
        found["methods"][name] = dict(zip(_keys(epsilons), best, strict=True))
        print(f"papers/damaskinos: {task.name}, {name} tuned", flush=True)
        if name == PLAIN:
            found["grid"] = next(_grid(s) for s in searches if s.epsilon == FIGURE_EPSILON)
    return found


def _keys(epsilons: tuple[float, ...]) -> list[str]:
    return [f"{epsilon:g}" for epsilon in epsilons]


def _search(task: Task, tuning: Tuning, epsilon: float, quick: bool) -> Search:
    if quick:
        return Search(task, tuning.algorithm, epsilon, (50, 200), (1e-3, 1e-2, 1e-1, 1.0))
    return Search(task, tuning.algorithm, epsilon, tuning.batches, SCALES)


def near(task: Task, known: dict, epsilons: tuple[float, ...], *, quick: bool = False) -> dict:
    """Settings of PLAIN for the same problem, prepared otherwise: a walk from the known ones."""
    searches = [_search(task, TUNED[PLAIN], epsilon, quick) for epsilon in epsilons]
    starts = [
        [Setting(**known["methods"][PLAIN][key]["best"][criterion]) for criterion in CRITERIA]
        for key in _keys(epsilons)
    ]
    best = tune(searches, starts=starts)
    return {"methods": {PLAIN: dict(zip(_keys(epsilons), best, strict=True))}, "grid": []}


def _grid(search: Search) -> list[dict]:
    """Every setting of the grid with the median outcome of its seeds."""
    from statistics import median

    return [
        asdict(setting) | {key: median(one[key] for one in found) for key in found[0]}
        for setting, found in search.tried.items()
    ]


def rows(task: Task, tuned: dict, epsilons: tuple[float, ...], seeds: int) -> list[dict]:
    """Runs of every method at its settings, by both criteria, and of the variants."""
    made = []
    for name, known in tuned["methods"].items():
        made += _method(task, name, TUNED[name].algorithm, known, epsilons, CRITERIA, seeds)
    if len(tuned["methods"]) > 1:
        known = tuned["methods"][PLAIN]
        for name, algorithm in VARIANTS.items():
            made += _method(task, name, algorithm, known, epsilons, ("objective",), seeds)
    return made


def _method(task, name, algorithm, known, epsilons, criteria, seeds) -> list[dict]:
    """Rows of one method; settings with the same batch size run side by side."""
    jobs = {
        (epsilon, criterion): Setting(**known[f"{epsilon:g}"]["best"][criterion])
        for epsilon in epsilons
        for criterion in criteria
    }
    found: dict = {job: [] for job in jobs}
    for batch in sorted({setting.batch for setting in jobs.values()}):
        group = [job for job, setting in jobs.items() if setting.batch == batch]
        for seed in range(seeds):
            pairs = [(jobs[job], job[0]) for job in group]
            models = thetas(task, algorithm, pairs, seed=seed)[-1]
            for job, theta in zip(group, models, strict=True):
                found[job].append(outcome(task, theta))
    return [
        {
            "method": name,
            "epsilon": epsilon,
            "criterion": criterion,
            "setting": asdict(jobs[epsilon, criterion]),
            "noise": noise_of(task, algorithm, jobs[epsilon, criterion], epsilon),
            "objectives": [one["objective"] for one in found[epsilon, criterion]],
            "scores": [one["test"] for one in found[epsilon, criterion]],
        }
        for epsilon, criterion in jobs
    ]


def without_privacy(task: Task) -> dict:
    """The optimum, and one run of plain coordinate descent (no noise, L = 1, C unbounded)."""
    theta = task.train.solution()
    return {
        "optimum": task.train.at(theta),
        "zero": task.train.at_zero(),
        "score": task.test.score(theta),
    }


def traces(task: Task, tuned: dict) -> list[dict]:
    """F after each epoch, one seed: the paper's Figure 2."""
    ends = tuple(range(1, task.epochs + 1))
    runs = [("SCD, no noise", Algorithm("dual"), Setting(1, 1e9), None)]
    for epsilon in TRACED:
        for name in (PLAIN, "DP-SGD"):
            best = tuned["methods"][name].get(f"{epsilon:g}")
            if best is not None:
                setting = Setting(**best["best"]["validation"])
                runs.append((name, TUNED[name].algorithm, setting, epsilon))
    return [
        {
            "method": name,
            "epsilon": epsilon,
            "epochs": list(ends),
            "objectives": [
                task.train.at(theta)
                for (theta,) in thetas(task, algorithm, [(setting, epsilon)], seed=0, epochs=ends)
            ],
        }
        for name, algorithm, setting, epsilon in runs
    ]
