"""Work in threads: every piece once, in order, and errors are heard."""

import pytest

from privlearn._core import threads
from privlearn._core.threads import in_parts, thread_count


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
@pytest.mark.parametrize("count", [0, 1, 5, 100])
def test_every_piece_is_worked_on_once(count, workers, monkeypatch):
    monkeypatch.setattr(threads, "thread_count", lambda: workers)
    found = in_parts(count, lambda first, last: list(range(first, last)))
    assert [piece for part in found for piece in part] == list(range(count))
    assert len(found) == max(1, min(workers, count))


def test_small_work_stays_here(monkeypatch):
    monkeypatch.setattr(threads, "thread_count", lambda: 8)
    assert len(in_parts(100, lambda first, last: last - first, at_least=60)) == 1
    assert len(in_parts(100, lambda first, last: last - first, at_least=25)) == 4


def test_an_error_in_a_thread_is_raised_here(monkeypatch):
    monkeypatch.setattr(threads, "thread_count", lambda: 2)

    def work(first, last):
        if first:
            raise KeyError("there")

    with pytest.raises(KeyError, match="there"):
        in_parts(2, work)


def test_without_threads_the_work_is_done_here(monkeypatch):
    class NoThread(threads.Thread):
        def start(self):
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    monkeypatch.setattr(threads, "Thread", NoThread)
    assert in_parts(3, lambda first, last: (first, last)) == [(0, 1), (1, 2), (2, 3)]


def test_the_environment_says_how_many(monkeypatch):
    monkeypatch.setenv(threads.VARIABLE, "3")
    assert thread_count() == 3
    for unusable in ("", "0", "many", "\u00b2"):
        monkeypatch.setenv(threads.VARIABLE, unusable)
        assert thread_count() >= 1
