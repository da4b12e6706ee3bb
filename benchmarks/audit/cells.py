"""What `make audit` looks at: cells, seeds and thresholds, fixed before the first run."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = [
    "BLACK_AT_LEAST",
    "DELTA",
    "DIFFPRIVLIB",
    "EPSILON",
    "SEED",
    "WHITE_AT_LEAST",
    "Cell",
    "black_cells",
    "planted_cells",
    "white_cells",
]

SEED = 20
EPSILON, DELTA = 1.0, 1e-6
TUKEY = 8.0  # its test fails for so few models unless epsilon is large
N_FEATURES = 3
RELATIONS = ("zero_out", "add_remove", "replace_one")
BOX = {"bounds_X": ([-1.0, 0.0, 2.0], [3.0, 1.0, 9.0]), "bounds_y": (-2.0, 6.0)}
NORM = {"data_norm": 2.5, "bounds_y": (-1.0, 1.0)}
TRIES, RUNS = 24, 24  # of the white box
MORE_TRIES = 120  # where a search stays below its threshold; added after the first full run
# Of the planned mu, for solvers whose every release is Gaussian and of all rows; none above 1.
WHITE_AT_LEAST = {"zero_out": 0.9, "add_remove": 0.9, "replace_one": 0.8}

# The black box: one feature and no intercept, so that the canary is most of what is published.
BLACK_EPSILON, BLACK_DELTA = 3.0, 1e-5
ONE = {"bounds_X": (-1.0, 1.0), "bounds_y": (-1.0, 1.0), "fit_intercept": False}
MANY, SOME = 10_000, 1_000  # fits on each side
BLACK_AT_LEAST = 0.5  # of the planned mu, for Gaussian compositions with MANY fits
PLANTED = 1.0 / 3.0  # of the noise
PLANTED_FITS = 1_000

# diffprivlib 0.6.6, LinearRegression, bounds_X=(0, 1), fit_intercept=False: the lower bound is used
# twice for the diagonal of X'X, which gets no noise. All targets are 0; one row is exchanged.
DIFFPRIVLIB = {
    "epsilon": 1.0,
    "fits": 1_000,
    "X": [[1.0], [0.0]],
    "other": [[0.01], [0.0]],
    "y": [0.0, 0.0],
    "bounds_y": (-1.0, 1.0),
}


@dataclass(frozen=True, eq=False)
class Cell:
    """One configuration."""

    estimator: str
    solver: str
    relation: str
    facts: str
    model: object
    fits: int = 0

    @property
    def name(self) -> str:
        return f"{self.estimator}, {self.solver}, {self.relation}, {self.facts}"


def modes() -> dict[str, dict[str, object]]:
    """Short settings of every solver: replay takes each step many times. The first is for all."""
    from privlearn import solvers

    class AllRows(solvers.SGD):
        def configure(self, problem, budget):
            return replace(super().configure(problem, budget), rate=1.0)

    class AllDuals(solvers.DualCoordinateDescent):
        def configure(self, problem, budget):
            return replace(super().configure(problem, budget), steps=8, rate=1.0)

    class FewDuals(solvers.DualCoordinateDescent):
        def configure(self, problem, budget):
            return replace(super().configure(problem, budget), steps=24, rate=0.25)

    class FewBatches(solvers.OnePassSGD):
        def configure(self, problem, budget):
            return replace(super().configure(problem, budget), batches=5)

    cd, output = solvers.CoordinateDescent, solvers.OutputPerturbation
    return {
        "moments": {"moments": "moments"},
        "cd": {
            "cd": cd(passes=5, block="all"),
            "cd, sweeps": cd(passes=4, block=1),
            "cd, greedy": cd(passes=6, selection="greedy"),
        },
        "sgd": {"sgd": solvers.SGD(steps=24, momentum=0.5), "sgd, all rows": AllRows(steps=8)},
        "scd": {"scd": FewDuals(), "scd, all rows": AllDuals()},
        "one-pass": {
            "one-pass": FewBatches(noise="spherical"),
            "one-pass, Gaussian": FewBatches(noise="gaussian"),
        },
        "output": {
            "output": output(epochs=2),
            "output, with replacement": output(epochs=1, sampling="with_replacement"),
        },
        "boosted": {
            "boosted": solvers.BoostedStatistics(rounds=3),
            "boosted, clip given": solvers.BoostedStatistics(rounds=3, clip=0.7),
        },
        "tukey": {"tukey": solvers.Tukey(models=79)},
    }


ESTIMATORS = (
    "LinearRegression",
    "Ridge",
    "Lasso",
    "ElasticNet",
    "HuberRegressor",
    "LogisticRegression",
    "LinearSVC",
    "KernelRegressor",
    "KernelClassifier",
)
IN_FULL = ("LinearRegression", "LogisticRegression")  # with all modes of their solvers, and a norm


def built(name: str, solver: object, relation: str, facts: dict, **others: object) -> object:
    """An estimator with those of the facts that it knows."""
    import privlearn

    cls = getattr(privlearn, name)
    known = cls().get_params()
    given = {"n_components": 6, **facts, **others}
    given = {key: value for key, value in given.items() if key in known}
    classes = {"classes": [0, 1]} if "classes" in known else {}
    return cls(solver=solver, adjacency=relation, **classes, **given)


def supports(name: str, solver: str) -> bool:
    """Whether the table of supported combinations has it."""
    from privlearn.solvers import SOLVERS

    problem = built(name, "auto", "zero_out", BOX)._problem(1_000, N_FEATURES, n_classes=2)
    return not SOLVERS[solver].support.missing(problem)


def white_cells(quick: bool = False) -> list[Cell]:
    """Every estimator x solver x relation, with a box; some with a norm, some with nothing."""
    promise = {"epsilon": EPSILON, "delta": DELTA}
    found = []
    for name in ESTIMATORS:
        for solver, all_modes in modes().items():
            if not supports(name, solver):
                continue
            chosen = all_modes if name in IN_FULL else dict(list(all_modes.items())[:1])
            for label, mode in chosen.items():
                for relation in RELATIONS:
                    for kind, facts in _facts(name, solver):
                        own = promise | ({"epsilon": TUKEY} if solver == "tukey" else {})
                        model = built(name, mode, relation, facts, **own)
                        found.append(Cell(name, label, relation, kind, model))
    found += [
        Cell("LinearRegression", "cd", relation, "nothing", built(
            "LinearRegression", modes()["cd"]["cd"], relation, {}, **promise
        ))
        for relation in RELATIONS
    ]  # fmt: skip
    return found[::9] if quick else found


def _facts(name: str, solver: str) -> list[tuple[str, dict]]:
    known = [("box", BOX)]
    return [*known, ("norm", NORM)] if name in IN_FULL and solver != "tukey" else known


def black_cells(quick: bool = False) -> list[Cell]:
    """A few with many fits, the rest with fewer."""
    from privlearn import solvers

    promise = {"epsilon": BLACK_EPSILON, "delta": BLACK_DELTA}
    given = solvers.CoordinateDescent(passes=2, block="all", clip=0.1, smoothness=[1.0])
    short = modes()
    many = [
        ("Ridge", "moments", "moments", "zero_out"),
        ("Ridge", "moments", "moments", "add_remove"),
        ("Ridge", "moments", "moments", "replace_one"),
        ("Ridge", "cd, clip and scales given", given, "zero_out"),
        ("Ridge", "sgd, all rows", short["sgd"]["sgd, all rows"], "zero_out"),
    ]
    some = [
        ("LinearRegression", "boosted, clip given", "zero_out"),
        ("LogisticRegression", "cd", "zero_out"),
        ("LogisticRegression", "scd", "replace_one"),
        ("LogisticRegression", "one-pass, Gaussian", "zero_out"),
        ("LinearSVC", "output", "zero_out"),
        ("HuberRegressor", "cd", "zero_out"),
    ]
    some = [(name, label, short[label.split(",")[0]][label], how) for name, label, how in some]
    found = [
        Cell(name, label, relation, "box", built(name, mode, relation, ONE, **promise), fits)
        for cells, fits in ((many, MANY), (some, SOME))
        for name, label, mode, relation in cells
    ]
    return [replace(cell, fits=cell.fits // 50) for cell in found[::4]] if quick else found


def planted_cells(quick: bool = False) -> list[Cell]:
    """One of each kind of solver, with a third of its noise."""
    promise = {"epsilon": EPSILON, "delta": DELTA}
    first = {name: next(iter(found.items())) for name, found in modes().items() if name != "tukey"}
    cells = [
        Cell(name, label, "zero_out", "box", built(name, mode, "zero_out", BOX, **promise))
        for solver, (label, mode) in first.items()
        for name in ("LinearRegression", "LogisticRegression")
        if supports(name, solver)
    ]
    black = {"epsilon": BLACK_EPSILON, "delta": BLACK_DELTA}
    one = built("Ridge", "moments", "zero_out", ONE, **black)
    cells.append(Cell("Ridge", "moments", "zero_out", "box", one, PLANTED_FITS))
    return cells[::5] if quick else cells
