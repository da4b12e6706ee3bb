"""Measures the cells, in as many processes as there are CPUs."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.audit import cells
from benchmarks.audit.planting import less_noise
from benchmarks.harness.needs import environment, python_of

__all__ = ["measured", "of_diffprivlib"]

SCRIPT = Path(__file__).with_name("diffprivlib_outputs.py")
KINDS = {"white": cells.white_cells, "black": cells.black_cells, "planted": cells.planted_cells}


def measured(kind: str, quick: bool) -> list[dict]:
    """Every cell of a kind, as plain values."""
    number = len(KINDS[kind](quick))
    jobs = [(kind, quick, place) for place in range(number)]
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        found = []
        for k, one in enumerate(pool.imap(_one, jobs, chunksize=1)):
            print(
                f"audit: {kind} box {k + 1}/{number}: {one['name']}: {one['verdict']}", flush=True
            )
            found.append(one)
    return found


def _one(job: tuple[str, bool, int]) -> dict:
    kind, quick, place = job
    cell = KINDS[kind](quick)[place]
    about = {
        "name": cell.name,
        "estimator": cell.estimator,
        "solver": cell.solver,
        "relation": cell.relation,
        "facts": cell.facts,
    }
    measure = {"white": partial(_white, quick=quick), "black": _black, "planted": _planted}[kind]
    try:
        with less_noise(cells.PLANTED if kind == "planted" else 1.0):
            return about | measure(cell)
    except Exception as error:  # one cell must not take the others with it
        why = f"{type(error).__name__}: {error}"
        return about | {"verdict": "ERROR", "ratio": None, "why": why, "tool": _tool(cell)}


def _white(cell: cells.Cell, *, quick: bool) -> dict:
    from privlearn import audit
    from privlearn.exceptions import UnsupportedCombinationError

    size = {"tries": 9, "runs": 8} if quick else {"tries": cells.TRIES, "runs": cells.RUNS}
    look = partial(
        audit.white_box, cell.model, n_features=cells.N_FEATURES, seed=cells.SEED, raises=False
    )
    try:
        found = look(**size)
        if found.covered and _short(found, cell):
            found = look(**size | {"tries": cells.MORE_TRIES})
    except UnsupportedCombinationError:
        return {"verdict": "not offered", "ratio": None}
    if not found.covered:
        return {"verdict": "not covered", "ratio": None, "uncovered": list(found.uncovered)}
    return {
        "epsilon": found.epsilon,
        "delta": found.delta,
        "planned": found.planned,
        "measured": found.measured,
        "unit": found.unit,
        "ratio": found.ratio,
        "gaussian": _all_rows(cell),
        "loss_mean": found.loss_mean,
        "loss_deviation": found.loss_deviation,
        "least_noise": min(found.noise.values()),
        "runs": found.runs,
        "canary": found.design,
        "verdict": _white_verdict(found, cell),
    }


def _all_rows(cell: cells.Cell) -> bool:
    """Whether every release is Gaussian noise on a sum over all rows."""
    plan = cell.model.plan(n=400, n_features=cells.N_FEATURES)
    return all(
        release.mechanism.name == "Gaussian" and release.sampling.name == "all rows"
        for release in plan.releases
    )


def _short(found, cell: cells.Cell) -> bool:
    return _all_rows(cell) and found.ratio < cells.WHITE_AT_LEAST[cell.relation]


def _white_verdict(found, cell: cells.Cell) -> str:
    from privlearn.audit.white_box import COMPOSED

    if found.ratio > 1.0 + COMPOSED or found.short_of_noise:
        return "ABOVE"
    if _short(found, cell):
        return "kept, but the search is below its threshold"
    return "kept"


def _black(cell: cells.Cell) -> dict:
    from privlearn import audit

    found = audit.black_box(cell.model, n_features=1, fits=cell.fits, raises=False)
    short = cell.fits == cells.MANY and found.ratio < cells.BLACK_AT_LEAST
    return {
        "epsilon": found.epsilon,
        "delta": found.delta,
        "mu": found.mu,
        "bound_epsilon": found.bound.epsilon,
        "bound_mu": found.bound.mu,
        "ratio": found.ratio,
        "fits": found.fits,
        "confidence": found.bound.confidence,
        "false_alarms": found.bound.by_mu.false_alarms,
        "hits": found.bound.by_mu.hits,
        "counted": found.bound.by_mu.runs,
        "canary": found.story,
        "verdict": "ABOVE" if not found.kept else "kept, but below half" if short else "kept",
    }


def _planted(cell: cells.Cell) -> dict:
    from privlearn import audit

    try:
        if cell.fits:
            audit.black_box(cell.model, n_features=1, fits=cell.fits)
        else:
            size = {"tries": 9, "runs": 16}
            audit.white_box(cell.model, n_features=cells.N_FEATURES, seed=cells.SEED, **size)
    except audit.AuditFailure as failure:
        return {"verdict": "found", "tool": _tool(cell), "why": str(failure).split(":")[0]}
    return {"verdict": "MISSED", "tool": _tool(cell), "why": ""}


def _tool(cell: cells.Cell) -> str:
    return f"black box, {cell.fits:,} fits" if cell.fits else "white box"


def of_diffprivlib(options) -> dict:
    """What its linear regression claims, and what its outputs prove; or why it was left out."""
    missing = environment("diffprivlib").missing(options)
    if missing:
        return {"skipped": missing}
    from privlearn.audit import bound_from_outputs

    task = dict(cells.DIFFPRIVLIB)
    task["fits"] //= 5 if options.quick else 1
    with tempfile.TemporaryDirectory() as name:
        asked, answer = Path(name, "task.json"), Path(name, "outputs.json")
        asked.write_text(json.dumps(task))
        subprocess.run([python_of("diffprivlib"), SCRIPT, asked, answer], check=True)
        given = json.loads(answer.read_text())
    bound = bound_from_outputs(*given["outputs"], delta=0.0)
    return {
        "versions": given["versions"],
        "epsilon": task["epsilon"],
        "bound_epsilon": bound.epsilon,
        "most": math.log(bound.by_epsilon.runs),
        "fits": task["fits"],
        "hits": bound.by_epsilon.hits,
        "false_alarms": bound.by_epsilon.false_alarms,
        "counted": bound.by_epsilon.runs,
        "verdict": "ABOVE" if bound.epsilon > task["epsilon"] else "kept",
    }
