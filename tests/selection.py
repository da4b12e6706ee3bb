"""Which configurations the fast tests audit: few of them, in which every pair of choices occurs.

All configurations are audited in the slow tests. Bugs of a pair, a solver under one relation, say,
show wherever the pair is met, so each pair that all configurations have is in some that are chosen.
"""

from __future__ import annotations

from functools import cache

from support import N_FEATURES, every_configuration

# Pairs of choices that have to be met, and then those that decide between equally good ones.
DEMANDED = (
    ("estimator", "solver"),
    ("estimator", "relation"),
    ("mode", "relation"),
    ("mode", "facts"),
    ("mode", "intercept"),
    ("mode", "classes"),
    ("mode", "delta"),
    ("loss", "penalty"),
    ("solver", "relation", "estimated"),
    ("relation", "intervals"),
    ("estimator", "intervals"),
)
WISHED = (
    ("estimator", "facts"),
    ("estimator", "mode"),
    ("estimator", "intercept"),
    ("loss", "mode"),
    ("relation", "facts"),
    ("solver", "relation", "facts"),
    ("solver", "relation", "intercept"),
)


def facets(model):
    """The choices that a configuration makes, by what they are about."""
    given = model.get_params()
    classes = len(given.get("classes") or ())
    public = model.adjacency != "add_remove"
    problem = model._problem(1_000 if public else None, N_FEATURES, n_classes=classes)
    target = given.get("bounds_y")
    return {
        "estimator": type(model).__name__,
        "solver": model.solver if isinstance(model.solver, str) else model.solver.name,
        "mode": str(model.solver),
        "relation": model.adjacency,
        "facts": str((given["bounds_X"], given["data_norm"])),
        "estimated": (
            given["bounds_X"] is given["data_norm"] is None,
            target is None and not classes,
        ),
        "intercept": model.fit_intercept,
        "loss": problem.loss.name,
        "penalty": problem.penalty.name,
        "classes": classes,
        "delta": model.delta,
        "intervals": given.get("intervals", False),
    }


def met(model, kinds):
    """The pairs of choices that a configuration meets."""
    own = facets(model)
    return {(kind, tuple(own[what] for what in kind)) for kind in kinds}


def covering(configurations, demanded=DEMANDED, wished=WISHED):
    """Some of the configurations in which all demanded pairs occur, in their old order.

    Greedy: the one with most pairs that are new, of equals the one with most that are wished for,
    of equals the first.
    """
    ours = [met(model, demanded) for _, model in configurations]
    more = [met(model, wished) for _, model in configurations]
    missing, hoped, chosen = set().union(*ours), set().union(*more), []
    while missing:
        best = max(
            range(len(ours)), key=lambda k: (len(ours[k] & missing), len(more[k] & hoped), -k)
        )
        missing, hoped = missing - ours[best], hoped - more[best]
        chosen.append(best)
    return [configurations[k] for k in sorted(chosen)]


@cache
def all_configurations():
    """What the slow and the fast tests audit, by name; nobody may change them."""
    return tuple(every_configuration())


@cache
def fast_configurations():
    """What the fast tests audit, by name; nobody may change them."""
    return tuple(covering(all_configurations()))
