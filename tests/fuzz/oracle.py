"""What must hold of any call with any input, and the text in which it did not."""

from __future__ import annotations

import contextlib
import io
import logging
import signal
import traceback
import warnings
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from privlearn.exceptions import PlanViolationError, PrivacyError, PrivacyTestFailedError

SECONDS = 60  # after which a call is taken for hung; compiling a loop takes a while
EXACTLY = (ValueError, TypeError, NotFittedError, InvalidParameterError)


class Hang(BaseException):
    """A call took too long."""


class Witness:
    """A ledger that counts charges; a clone of an estimator reports to the same one."""

    def __init__(self):
        self.charges = 0

    def charge(self, plan, dataset):
        self.charges += 1

    def __deepcopy__(self, memo):
        return self

    __copy__ = __deepcopy__


@dataclass
class Seen:
    """Everything that left a call but its result."""

    error: BaseException | None = None
    result: object = None
    texts: list[tuple[str, str]] = field(default_factory=list)  # where it was, what it said


class _Logs(logging.Handler):
    def __init__(self, texts):
        super().__init__()
        self.texts = texts

    def release_step(self, record):
        self.texts.append(("log", record.getMessage()))


def _chain(error, met=None):
    """An exception with its causes and contexts, also the suppressed ones."""
    met = set() if met is None else met
    if error is None or id(error) in met:
        return
    met.add(id(error))
    yield error
    yield from _chain(error.__cause__, met)
    yield from _chain(error.__context__, met)
    for inner in getattr(error, "exceptions", ()):
        yield from _chain(inner, met)


def _spoken(thing, way=str):
    try:
        return way(thing)
    except Exception:
        return ""


def texts_of(error):
    """All that an exception says, and where."""
    for k, one in enumerate(_chain(error)):
        where = "message" if k == 0 else f"hidden {type(one).__name__}"
        yield where, _spoken(one)
        yield f"args of {where}", _spoken(getattr(one, "args", ()), repr)
        for note in getattr(one, "__notes__", ()):
            yield f"note of {where}", _spoken(note)


@contextlib.contextmanager
def _limited():
    def ring(*_):
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def observe(call):
    """Make a call and keep all that leaves it."""
    seen, out = Seen(), io.StringIO()
    handler = _Logs(seen.texts)
    logging.getLogger().addHandler(handler)
    try:
        with (
            warnings.catch_warnings(record=True) as warned,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
            _limited(),
        ):
            warnings.simplefilter("always")
            try:
                seen.result = call()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # also what polars panics with
                seen.error = error
    finally:
        logging.getLogger().removeHandler(handler)
    seen.texts += [("warning", _spoken(one.message)) for one in warned]
    seen.texts.append(("output", out.getvalue()))
    seen.texts += list(texts_of(seen.error))
    return seen


def place_of(error):
    """The innermost place of the library in a traceback."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/privlearn/" in f.filename]
    if not frames:
        return "outside"
    return f"{frames[-1].filename.rpartition('/privlearn/')[2]}:{frames[-1].name}"


def documented(error):
    if isinstance(error, PlanViolationError):
        return False  # a bug, stopped in time
    return isinstance(error, PrivacyError) or type(error) in EXACTLY


def snapshot(estimator):
    """What an estimator holds; arrays are copied."""
    if estimator is None:
        return {}
    return {
        name: (value, value.copy() if isinstance(value, np.ndarray) else None)
        for name, value in vars(estimator).items()
    }


def _changed(estimator, before):
    now = vars(estimator)
    names = sorted(now.keys() ^ before.keys())
    for name in now.keys() & before.keys():
        value, copy = before[name]
        same = now[name] is value and (copy is None or _alike(copy, value))
        names += [] if same else [name]
    return sorted(names)


def _alike(array, other):
    return np.array_equal(array, other, equal_nan=array.dtype.kind in "fc")


def _not_finite(estimator):
    """Fitted numbers that are no numbers."""
    for name, value in vars(estimator).items():
        if name.endswith("_") and not name.startswith("_"):
            array = np.asarray(value) if isinstance(value, np.ndarray | float) else np.zeros(0)
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                yield name


def judge(
    seen, secrets, *, estimator=None, before=None, charges=0, fits=False, price=False, once=False
):
    """(kind, place, detail) of all that does not hold."""
    found = []
    error = seen.error
    secrets.outcome = "succeeded" if error is None else type(error).__name__
    place = "" if error is None else place_of(error)
    if isinstance(error, Hang):
        found.append(("hang", place, f"over {SECONDS} s"))
    elif error is not None and not documented(error):
        found.append((f"undocumented {type(error).__name__}", place, _spoken(error)[:200]))
    for where, text in seen.texts:
        secret = secrets.found_in(text, noisy=where == "output" and error is None)
        if secret is not None:
            found.append((f"quoted in {where}", place, f"{secret}: {text[:160]}"))
            break
    if error is not None and charges and not isinstance(error, PrivacyTestFailedError):
        found.append((f"charged, then {type(error).__name__}", place, _spoken(error)[:200]))
    if estimator is not None and error is not None and (changed := _changed(estimator, before)):
        found.append(
            ("estimator changed", ", ".join(changed), f"{type(error).__name__} at {place}")
        )
    if fits and error is None:
        if once and charges != 1:
            found.append(("not charged once", type(estimator).__name__, f"{charges} charges"))
        found += [("not finite", name, "") for name in _not_finite(estimator)]
        if price:
            found += _over_promise(estimator)
    return found


def _over_promise(estimator):
    """A plan that costs more than it promises; its epsilon is rounded up in its seventh digit."""
    certificate = getattr(estimator, "privacy_", None)
    if certificate is None:
        return []
    epsilon, delta = certificate.epsilon, certificate.delta
    spent = certificate.spent(delta)
    if spent <= epsilon * (1 + 1e-6) and certificate.plan.delta(epsilon) <= delta * (1 + 1e-9):
        return []
    return [("over the promise", type(estimator).__name__, f"{spent} of {epsilon}")]
