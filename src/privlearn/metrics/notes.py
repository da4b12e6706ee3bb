"""What was clipped before it was scored: the scores are those of what is left."""

from __future__ import annotations

from privlearn.metrics.losses import FLOOR
from privlearn.metrics.task import Task

__all__ = ["notes_of"]


def notes_of(task: Task) -> tuple[str, ...]:
    """In words, with where the range comes from."""
    found = []
    if task.bounds is not None:
        low, high = task.bounds
        found.append(f"targets and predictions are clipped to {low:g} to {high:g}")
    if task.estimated:
        found += [f"this range is one that the fit estimated with noise{_narrower(task)}"]
    if "log_loss" in task.metrics:
        found.append(
            f"log loss counts a probability of the true class below {FLOOR:g} as {FLOOR:g}"
        )
    return tuple(found)


def _narrower(task: Task) -> str:
    """Where a wider range was declared for the fit, targets may lie outside."""
    declared = getattr(task.model, "bounds_y", None)
    if declared is None or task.bounds is None:
        return ""
    low, high = map(float, declared)
    if low >= task.bounds[0] and high <= task.bounds[1]:
        return ""
    return (
        f", narrower than the declared {low:g} to {high:g}: a target outside counts as the "
        "end that it is beyond, so errors of such rows are cut; for scores of the declared range "
        f"pass it (bounds_y=({low:g}, {high:g}); on the command line --bounds-y {low:g}:{high:g})"
    )
