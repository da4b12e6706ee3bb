"""NoiseSource as an object: keys, forks, threads, copies, shapes, arguments, loading, work."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from privlearn.exceptions import PrivacyError
from privlearn.noise import (
    NoiseSource,
    check_generator,
    generator,
    precise,
    rounding,
    stream,
    vectors,
)
from privlearn.noise.stream import WordStream, seeded_keys, system_keys
from privlearn.noise.tables import quantile_table

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
HANG = 120  # seconds, far beyond what anything here takes: only a hang is that long
any_key = pytest.mark.parametrize("seed", [None, 5], ids=["system key", "seeded"])

DRAWS = {
    "gaussian": lambda source: source.gaussian(2.0**30, 50),
    "laplace": lambda source: source.laplace(2.0**30, 50),
    "gumbel": lambda source: source.gumbel(2.0**30, 50),
    "spherical": lambda source: source.spherical(2.0**30, 20),
    "bits": lambda source: source.bits(20),
    "integers": lambda source: source.integers(2**50, 20),
    "bernoulli": lambda source: source.bernoulli(0.5, 200),
    "poisson_batch": lambda source: source.poisson_batch(0.1, 2000),
    "permutation": lambda source: source.permutation(50),
}


# What seed 2024 gives, in this order.
FROZEN_GAUSSIAN = [250135, -1491153, -858682, -449198]
FROZEN_LAPLACE = [171284, 2468371]
FROZEN_GUMBEL = [742312, 331433]
FROZEN_SPHERICAL = [-1967491, 2240438]


@pytest.mark.parametrize("name", DRAWS)
def test_seeds(name):
    """The same seed repeats, another does not, the same source never does."""
    draw, source = DRAWS[name], NoiseSource(seed=7)
    first = draw(source)
    assert np.array_equal(first, draw(NoiseSource(seed=7)))
    for other in (draw(source), draw(NoiseSource(seed=8)), draw(NoiseSource())):
        assert not np.array_equal(first, other)


def test_draws_are_frozen():
    """A seeded run gives the same noise on every platform and with every later version."""
    source = NoiseSource(seed=2024)
    assert source.gaussian(2.0**20, 4).tolist() == FROZEN_GAUSSIAN
    assert source.laplace(2.0**20, 2).tolist() == FROZEN_LAPLACE
    assert source.gumbel(2.0**20, 2).tolist() == FROZEN_GUMBEL
    assert source.spherical(2.0**20, 2).tolist() == FROZEN_SPHERICAL


def test_seeds_of_any_size_matter_in_all_digits():
    seeds = [0, 1, 255, 256, 2**64, 2**64 + 1, 2**300, 2**300 + 2**200, 10**5000, 10**5000 + 1]
    words = {NoiseSource(seed=seed).bits(1).item() for seed in seeds}
    assert len(words) == len(seeds)
    assert NoiseSource(seed=np.int32(255)).bits(1) == NoiseSource(seed=255).bits(1)


# The generator


@pytest.mark.parametrize("block", vectors.BLOCKS, ids=lambda block: block.where)
def test_generator_is_chacha20(block):
    """The block function of RFC 8439: section 2.3.2 and all of appendix A.1."""
    key, nonce = bytes.fromhex(block.key), bytes.fromhex(block.nonce)
    assert vectors.keystream(key, nonce, block.counter).hex() == block.output


def test_key_stream_of_the_rfc():
    """RFC 8439, section 2.4.2: two blocks, the second one cut, against a known plain text."""
    plain = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the "
        b"future, sunscreen would be it."
    )
    cipher = bytes.fromhex(
        "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dab"
        "cd62b3571639d624e65152ab8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806"
        "818ce91ab77937365af90bbf74a35be6b40b8eedf2785e42874d"
    )
    nonce = bytes.fromhex("000000000000004a00000000")
    words = vectors.keystream(bytes(range(32)), nonce, 1, blocks=2)
    assert bytes(a ^ b for a, b in zip(plain, words, strict=False)) == cipher


def test_streams_start_with_the_first_blocks():
    """What sources draw from is block 0, 1, 2, ... of a key with nonce 0, and no other."""
    key = bytes(range(64))
    drawn = WordStream(key).take(24)[0].astype("<u8").tobytes()
    assert drawn == vectors.keystream(key[:32], bytes(12), 0, blocks=3)
    further = WordStream(key).refine(3, 8).to_bytes(64, "big")
    there = vectors.keystream(key[32:], (3).to_bytes(12, "little"), 0)
    assert np.array_equal(np.frombuffer(further, ">u8"), np.frombuffer(there, "<u8"))


@pytest.mark.parametrize(
    "draw", [NoiseSource, lambda: NoiseSource(1), lambda: WordStream(bytes(64))]
)
def test_another_generator_is_refused_before_anything_is_drawn(monkeypatch, draw):
    monkeypatch.setattr(vectors, "_checked", False)
    monkeypatch.setattr(vectors, "keystream", lambda *_, **__: bytes(64))
    with pytest.raises(PrivacyError, match=r"is not ChaCha20: RFC 8439, section 2\.3\.2"):
        draw()


def test_fewer_rounds_are_noticed(monkeypatch):
    import randomgen

    class Weak(randomgen.ChaCha):
        @property
        def state(self):
            return super().state

        @state.setter
        def state(self, wanted):
            state = {**wanted["state"], "rounds": 8}
            super(Weak, type(self)).state.__set__(self, {**wanted, "state": state})

    monkeypatch.setattr(vectors, "_checked", False)
    monkeypatch.setattr(randomgen, "ChaCha", Weak)
    monkeypatch.setattr(generator, "_idle", [])
    with pytest.raises(PrivacyError, match="is not ChaCha20"):
        NoiseSource()


def test_the_generator_is_checked_once_per_process(monkeypatch):
    monkeypatch.setattr(vectors, "_checked", False)
    asked = []
    right = vectors.keystream
    monkeypatch.setattr(vectors, "keystream", lambda *a: asked.append(a) or right(*a))
    for _ in range(3):
        NoiseSource().bits(5)
        check_generator()
    assert len(asked) == len(vectors.BLOCKS)


def test_further_words_differ_from_word_to_word():
    stream = WordStream(seeded_keys(1))
    further = {stream.refine(index, 1) for index in [*range(50), 2**40, 2**60, 2**63]}
    assert len(further) == 53
    assert not further & set(stream.take(2000)[0].tolist())
    assert stream.refine(9, 3) >> 128 == stream.refine(9, 1)


def test_private():
    assert NoiseSource().private
    assert not NoiseSource(seed=0).private


def test_repr_hides_the_key():
    for source in (NoiseSource(), NoiseSource(seed=123456)):
        assert "123456" not in repr(source)
        assert len(repr(source)) < 60
    assert not hasattr(source, "__dict__")


@any_key
@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, pickle.dumps, lambda source: pickle.dumps(source, protocol=0)],
)
def test_copies_are_refused(seed, duplicate):
    with pytest.raises(TypeError, match=r"cannot be copied or pickled.*repeat its noise"):
        duplicate(NoiseSource(seed=seed))
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        duplicate([NoiseSource(seed=seed)] if duplicate is not copy.copy else NoiseSource())


def bits_of_forked_child(source, count):
    """Fork; return what the child draws."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, source.bits(count).tobytes())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return np.frombuffer(data, dtype=np.uint64)


@needs_fork
@any_key
def test_forked_children_never_repeat_noise(seed):
    source = NoiseSource(seed=seed)
    source.bits(3)
    first = bits_of_forked_child(source, 500)
    second = bits_of_forked_child(source, 500)
    parent = source.bits(500)
    assert first.size == second.size == 500
    assert len(set(first) | set(second) | set(parent)) == 1500
    if seed is not None:  # the parent goes on as if nothing had happened
        assert np.array_equal(parent, NoiseSource(seed=seed).bits(503)[3:])


_shared_source = NoiseSource(seed=6)


def _draw_shared(_):
    _meeting.wait(HANG)  # so that every worker gets something to do
    return os.getpid(), _shared_source.bits(20).tolist()


def _meet(barrier):
    global _meeting
    _meeting = barrier


@needs_fork
def test_pool_workers_never_repeat_noise():
    fork = multiprocessing.get_context("fork")
    with fork.Pool(3, initializer=_meet, initargs=(fork.Barrier(3),)) as pool:
        results = pool.map(_draw_shared, range(12), chunksize=1)
    words = [word for _, drawn in results for word in drawn]
    words += _shared_source.bits(240).tolist()
    assert len(set(words)) == 480
    workers = {pid for pid, _ in results}
    assert len(workers) == 3
    assert os.getpid() not in workers


@needs_fork
def test_fork_while_another_thread_draws():
    """Locks that another thread holds at the fork must not stop the child."""
    source = NoiseSource(seed=9)
    source.gaussian(1.0)
    source._margin_factor = np.inf  # the child refines, too
    with source._stream._lock, precise._lock:
        child = os.fork()
        if child == 0:
            signal.alarm(HANG)  # a child that hangs is ended by the system
            source.gaussian(1.0, 3)
            os._exit(17)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 17


@needs_fork
def test_pid_alone_reveals_a_child(monkeypatch):
    """A fork that Python was not told of still gets a new key."""
    source = NoiseSource(seed=6)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert source._words() is not None
    assert not np.array_equal(source.bits(4), NoiseSource(seed=6).bits(4))


def test_threads_never_share_noise():
    source, drawn = NoiseSource(seed=3), []

    def draw():
        for _ in range(200):
            drawn.append(source.bits(7))
            source.gaussian(2.0**26, 5)

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.concatenate(drawn)
    assert words.size == len(set(words.tolist())) == 8 * 200 * 7
    serial = NoiseSource(seed=3).bits(8 * 200 * 12)
    assert set(words.tolist()) <= set(serial.tolist())


def test_refinement_in_threads_is_right():
    """The high-precision context is shared: two threads must not disturb each other."""
    expected = NoiseSource(seed=4).gaussian(2.0**26, 40)
    results = []

    def draw():
        source = NoiseSource(seed=4)
        source._margin_factor = np.inf
        results.append(source.gaussian(2.0**26, 40))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.array_equal(result, expected) for result in results)


def test_one_refinement_at_a_time():
    with precise.high_precision(100) as context:
        assert not precise._lock.acquire(blocking=False)
        assert context.prec == 100
    assert precise._lock.acquire(blocking=False)
    precise._lock.release()


def test_words_and_their_numbers_are_taken_together(monkeypatch):
    """Two threads with the same numbers would share further words."""
    stream, seen = WordStream(seeded_keys(1)), []

    class Lock:
        def __enter__(self):
            seen.append(("in", stream._taken))

        def __exit__(self, *_):
            seen.append(("out", stream._taken))

    class Generator:
        def random_raw(self, count):
            seen.append(("drawn", stream._taken))
            return np.zeros(count, np.uint64)

    stream._lock, stream._main = Lock(), Generator()
    assert stream.take(5)[1] == 0
    assert stream.take(2)[1] == 5
    assert seen == [("in", 0), ("drawn", 0), ("out", 5), ("in", 5), ("drawn", 5), ("out", 7)]


def test_users_precision_is_left_alone():
    import mpmath

    source = NoiseSource(seed=4)
    source._margin_factor = np.inf
    with mpmath.workdps(5):
        coarse = source.gaussian(2.0**26, 3)
        assert mpmath.mp.dps == 5
    assert np.array_equal(coarse, NoiseSource(seed=4).gaussian(2.0**26, 3))


@pytest.mark.parametrize("name", ["gaussian", "laplace", "gumbel"])
@pytest.mark.parametrize("size", [(), 0, 5, (5,), (2, 3), (0, 4), (2, 1, 3), np.int64(4)])
def test_shapes(name, size):
    drawn = getattr(NoiseSource(seed=1), name)(3.0, size)
    assert isinstance(drawn, np.ndarray)
    assert drawn.dtype == np.int64
    assert drawn.shape == (size if isinstance(size, tuple) else (size,))
    assert drawn.flags.c_contiguous
    assert drawn.flags.writeable


def test_shapes_of_the_others():
    source = NoiseSource(seed=1)
    assert source.bernoulli(0.5, (2, 3)).shape == (2, 3)
    assert source.bernoulli(0.5, 0).dtype == np.bool_
    assert source.integers(5, (3, 2)).shape == (3, 2)
    assert source.integers(5).shape == source.bernoulli(0.1).shape == ()
    assert source.bits(0).size == source.permutation(0).size == source.spherical(1.0, 0).size == 0
    assert source.permutation(1).tolist() == [0]
    for batch in (source.poisson_batch(0.01, 0), source.poisson_batch(0.5, 0)):
        assert batch.dtype == np.int64
        assert batch.size == 0


def test_extreme_arguments():
    source = NoiseSource(seed=1)
    for tiny in (5e-324, 1e-300, 1e-9):
        assert not source.gaussian(tiny, 100).any()
        assert not source.gumbel(tiny, 100).any()
        assert not source.spherical(tiny, 10).any()
    assert 2**38 < np.abs(source.gaussian(2.0**40, 30)).max() < 2**43
    assert source.poisson_batch(0.0, 10).size == 0
    assert source.poisson_batch(5e-324, 10).size == 0
    assert source.poisson_batch(1.0, 4).tolist() == [0, 1, 2, 3]
    assert not source.bernoulli(0.0, 100).any()
    assert source.bernoulli(1.0, 100).all()
    assert source.integers(2**63, 100).max() > 2**61


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda s: s.gaussian(0.0), ValueError, r"std=0.0, but it must be positive"),
        (lambda s: s.gaussian(-1.0), ValueError, r"std=-1.0"),
        (lambda s: s.gaussian(float("nan")), ValueError, r"std=nan"),
        (lambda s: s.gaussian(float("inf")), ValueError, r"std=inf.*at most 2\*\*40"),
        (lambda s: s.laplace(2.0**41), ValueError, r"scale=2199023255552.0.*2\*\*40"),
        (lambda s: s.gumbel(0), ValueError, r"scale=0"),
        (lambda s: s.spherical(2.0**40, 5), ValueError, r"too large for dimension=5"),
        (lambda s: s.spherical(1.0, -1), ValueError, r"dimension=-1 is negative"),
        (lambda s: s.gaussian(1.0, -3), ValueError, r"size=-3 is negative"),
        (lambda s: s.gaussian(1.0, 2.5), TypeError, r"size=2.5 is not an integer"),
        (lambda s: s.gaussian(1.0, (2, True)), TypeError, r"size=True is not an integer"),
        (lambda s: s.bits(-1), ValueError, r"count=-1"),
        (lambda s: s.integers(0, 2), ValueError, r"bound=0, but .* 1, ..., 2\*\*63"),
        (lambda s: s.integers(2**63 + 1, 2), ValueError, r"bound=9223372036854775809"),
        (lambda s: s.bernoulli(1.5), ValueError, r"rate=1.5.*\[0, 1\]"),
        (lambda s: s.poisson_batch(float("nan"), 3), ValueError, r"rate=nan"),
        (lambda s: s.poisson_batch(0.5, -3), ValueError, r"n=-3"),
        (lambda s: s.permutation(2.0), TypeError, r"n=2.0 is not an integer"),
        (lambda s: NoiseSource(seed=-1), ValueError, r"seed=-1 is negative"),
        (lambda s: NoiseSource(seed=1.5), TypeError, r"seed=1.5 is not an integer"),
    ],
)
def test_wrong_arguments(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call(NoiseSource(seed=1))


def run_python(code):
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_import_is_light():
    loaded = run_python(
        "import sys, privlearn.noise\n"
        "print([m for m in ('numba', 'randomgen', 'mpmath', 'scipy') if m in sys.modules])"
    )
    assert loaded == "[]"


def test_a_draw_takes_the_words_it_needs_and_builds_no_table_again(monkeypatch):
    source, taken = NoiseSource(seed=1), []
    source.gaussian(2.0**20, 10)
    tables, take = quantile_table.cache_info().misses, WordStream.take
    monkeypatch.setattr(
        WordStream, "take", lambda self, count: taken.append(count) or take(self, count)
    )
    for size in (1, 10, 40_000):
        taken.clear()
        source.gaussian(2.0**20, size)
        assert sum(taken) == size
    assert quantile_table.cache_info().misses == tables


# Snapshots of machines


def test_every_draw_without_a_seed_asks_the_system(monkeypatch):
    """So no key outlives a draw, and whoever copies a machine between two copies none."""
    private, asked = NoiseSource(), []
    monkeypatch.setattr(
        "privlearn.noise.source.system_keys", lambda: asked.append(1) or system_keys()
    )
    for name, draw in DRAWS.items():
        asked.clear()
        draw(private)
        assert len(asked) == 1, name
    assert private._stream is None
    asked.clear()
    for draw in DRAWS.values():
        draw(NoiseSource(seed=7))
    assert not asked


@needs_fork
@any_key
def test_a_restored_snapshot_draws_other_noise(monkeypatch, seed):
    """A fork that nothing tells of is a machine restored twice from one snapshot.

    Seeded sources show that it is: they go on alike in both.
    """
    monkeypatch.setattr(WordStream, "stale", False)
    source = NoiseSource(seed=seed)
    source.bits(3)
    restored = bits_of_forked_child(source, 500)
    assert np.array_equal(restored, source.bits(500)) is (seed is not None)


def test_the_hour_tells_apart_what_the_kernel_repeats(monkeypatch):
    """An old kernel in a restored machine may repeat its bytes until it is reseeded."""
    hours = [5, 5, 6]
    monkeypatch.setattr(stream.secrets, "token_bytes", lambda count: bytes(count))
    monkeypatch.setattr(stream.time, "time_ns", lambda: hours.pop(0))
    monkeypatch.setattr(stream.time, "monotonic_ns", lambda: 1)
    first, same, other = system_keys(), system_keys(), system_keys()
    assert first == same != other
    assert len(first) == 64


def test_keys_depend_on_all_the_systems_bytes(monkeypatch):
    monkeypatch.setattr(stream.time, "time_ns", lambda: 1)
    monkeypatch.setattr(stream.time, "monotonic_ns", lambda: 1)
    keys = set()
    for place in range(64):
        drawn = bytes(place) + b"\1" + bytes(63 - place)
        monkeypatch.setattr(stream.secrets, "token_bytes", lambda _, drawn=drawn: drawn)
        keys.add(system_keys())
    assert len(keys) == 64


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("before", [0, 3, 8])
def test_many_draws_have_the_same_bits_in_any_number_of_threads(compiled, before, monkeypatch):
    """Where a thread begins within a block of the generator does not matter, nor do refinements."""
    if compiled:
        import numba  # noqa: F401
    monkeypatch.setattr(rounding, "_CHUNK", 250)
    found = []
    for threads, at_least in ((1, 2**40), (1, 375), (2, 376), (3, 499)):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        monkeypatch.setattr(rounding, "_PER_THREAD", at_least)
        source = NoiseSource(seed=9)
        source._margin_factor = 2.0**30
        source.bits(before)
        draws = source.gaussian(2.0**20, (3, 501))
        found.append((draws, source.bits(5), source.gaussian(2.0**20, 1751), source.bits(1)))
    for other in found[1:]:
        for one, again in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, again)


def test_threads_draw_different_words_without_a_seed(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.setattr(rounding, "_PER_THREAD", 1000)
    draws = NoiseSource().gaussian(2.0**30, 8000)
    assert len(np.unique(draws)) == 8000
