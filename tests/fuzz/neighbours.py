"""One number, one configuration with several pairs: what holds between them, and what does not."""

from __future__ import annotations

import traceback
import warnings
from collections import Counter

import numpy as np

from fuzz.pairs import draw_configuration, draw_pair
from fuzz.replaying import compare, without_row
from privlearn.audit.tape import record, replay_on
from privlearn.exceptions import PlanViolationError, PrivacyError, PrivacyTestFailedError

PAIRS = 8  # of every configuration
DOCUMENTED = (PrivacyError, ValueError, TypeError)


def _attempt(run):
    """What a run returns, or what it raises."""
    try:
        return run(), None
    except Exception as error:
        return None, error


def own_frame(error):
    """The innermost place of the library in a traceback."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/privlearn/" in f.filename]
    return (
        f"{frames[-1].filename.rpartition('/privlearn/')[2]}:{frames[-1].name}" if frames else "?"
    )


def _says(error):
    return "nothing" if error is None else f"{type(error).__name__} at {own_frame(error)}"


def _refused(configuration, pair, error):
    """A fit that raises: right if the neighbour raises the same and the kind is documented."""
    if isinstance(error, PrivacyTestFailedError):
        return []
    if not isinstance(error, DOCUMENTED) or isinstance(error, PlanViolationError):
        return [("exception", f"{_says(error)}")]
    model = configuration.fresh()
    _, other = _attempt(lambda: model.fit(pair.other_X, pair.other_y, **pair.other_levels))
    if type(other) is not type(error) or str(other) != str(error):
        return [("one row decides a refusal", f"{_says(error)} against {_says(other)}")]
    return []


def judge(configuration, pair):
    """Ratios by release, and (kind, what) of everything that does not hold."""
    model = configuration.fresh()
    tape, error = _attempt(lambda: record(model, pair.X, pair.y, **pair.levels))
    if error is not None:
        return {}, _refused(configuration, pair, error), True
    levels = pair.levels.get("sample_epsilon")
    fed = without_row(tape, pair.row, levels) if pair.shorter else tape
    again, error = _attempt(
        lambda: replay_on(
            fed, configuration.fresh(), pair.other_X, pair.other_y, **pair.other_levels
        )
    )
    if error is not None:
        return {}, [("one row decides a refusal", f"nothing against {_says(error)}")], False
    found = compare(tape, again, pair.row)
    return found.ratios, found.broken, False


def trial(seed, number, pairs=PAIRS, solver=""):
    """All of one configuration, as a dictionary that JSON can hold.

    None where the solver's name does not start as asked for.
    """
    rng = np.random.default_rng([seed, number])
    configuration = draw_configuration(rng)
    if not configuration.solver.startswith(solver):
        return None
    worst, broken, counts = {}, [], Counter()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for k in range(pairs):
            pair = draw_pair(rng, configuration)
            ratios, found, refused = judge(configuration, pair)
            counts["refused" if refused else "pairs"] += 1
            for release, ratio in ratios.items():
                worst[release] = max(worst.get(release, 0.0), ratio)
            for kind, what in dict(found).items():
                story = f"{configuration.story}; pair {k}: {pair.story}"
                broken.append({"kind": kind, "what": what, "story": story})
            if refused and not found and k == 1 and counts["pairs"] == 0:
                break  # refused for its public facts
    return {
        "solver": configuration.solver,
        "relation": configuration.model.adjacency,
        "worst": worst,
        "broken": broken,
        **counts,
    }
