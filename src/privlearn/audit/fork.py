"""Does a forked process draw noise of its own?"""

from __future__ import annotations

import os
import warnings

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Budget
from privlearn._core.releaser import Releaser
from privlearn.audit.adversary import audited
from privlearn.audit.protocols import AuditFailure, Model

__all__ = ["check_fork"]


def _in_a_child(releaser: Releaser) -> bytes:
    """The noise that a forked copy of this process would draw next."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads: the child only draws
        child = os.fork()
    if child == 0:
        try:
            os.write(writing, _drawn(releaser).tobytes()[:4096])
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return found


def _drawn(releaser: Releaser) -> NDArray[np.int64]:
    return releaser._draw_noise(releaser.plan.releases[0], 1)


def check_fork(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """Parent and child that go on from the same point must not draw the same noise."""
    if not hasattr(os, "fork"):
        return
    model = audited(estimator, random_state=None)
    plan = model.plan(n=1_000, n_features=n_features)
    releaser = Releaser(plan, Budget(model.epsilon, model.delta))
    _drawn(releaser)
    theirs = _in_a_child(releaser)
    if not theirs or theirs == _drawn(releaser).tobytes()[:4096]:
        raise AuditFailure("a forked process repeats the noise of its parent")
