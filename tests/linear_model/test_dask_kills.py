"""Workers that are killed: the same model, from one charge."""

import os
import signal
from threading import Event, Lock, Thread

import numpy as np
import pytest

from privlearn import LinearRegression
from privlearn._data import dask_source

distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'privlearn[dask]'")
Status = pytest.importorskip("distributed.core").Status
dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")

ONE_AT_A_TIME = Lock()
WORKERS, PATIENT_LOOKS, STUCK_LOOKS = 2, 20, 120
RNG = np.random.default_rng(1)
X = RNG.normal(size=(4_000, 3))
Y = X.sum(axis=1) + RNG.normal(size=4_000)


class Counting:
    charges = 0

    def charge(self, plan, dataset):
        self.charges += 1

    def __deepcopy__(self, memo):
        return self


# Others ask a worker that is gone for so long, and no longer, before they do its work.
PATIENCE = {
    "distributed.comm.timeouts.connect": "4s",
    "distributed.comm.timeouts.tcp": "12s",
}


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set(PATIENCE),
        distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def kill_one(client, killed, over, *, busy):
    """End a worker's process as nothing could prevent; `busy`: one that has a task right now.

    Passes are short, so a task may never be seen: once the fit is `over`, any worker will do. Dask
    brings back a worker that it has seen running, and for good loses one that ends as it starts.
    """
    while True:
        over.wait(0.002)
        try:
            working = {name for name, tasks in client.processing().items() if tasks}
            nannies = [*client.cluster.workers.values()]
            running = {one.worker_address for one in nannies if one.status is Status.running}
            there = {name: pid for name, pid in client.run(_pid).items() if name in running}
            there = {name: pid for name, pid in there.items() if pid not in killed}
        except Exception:  # of one that was killed just now: dask has several
            continue
        own = [pid for name, pid in there.items() if not busy or over.is_set() or name in working]
        with ONE_AT_A_TIME:  # two that choose the same worker are one kill
            if own and own[0] not in killed:
                killed.append(own[0])
                return os.kill(own[0], signal.SIGKILL)


def replace_lost(client, done, over):
    """New workers where all are lost, or get nowhere, as whoever runs a cluster would have them.

    Dask gives a worker up for good that ends, or is not answered, while it starts.
    """
    looks, before = 0, 0
    while not over.wait(1.0):
        looks, before = 0 if len(done) > before else looks + 1, len(done)
        if looks > (STUCK_LOOKS if client.ncores() else PATIENT_LOOKS):
            client.cluster.scale(0)
            client.cluster.scale(WORKERS)
            looks = 0


def _pid():
    return os.getpid()


def fitted(client, monkeypatch, kills):
    """A model, charges, passes, lost workers; `kills` has True (in the middle) for passes."""
    own, done, ledger, over = dask_source.compute, [], Counting(), Event()
    killed, threads = [], [Thread(target=replace_lost, args=(client, done, over))]
    threads[0].start()

    def disturbed(there):
        place = len(done)
        done.append(place)
        if place not in kills:
            return own(there)
        how = {"busy": kills[place]}
        threads.append(Thread(target=kill_one, args=(client, killed, over), kwargs=how))
        threads[-1].start()
        if not kills[place]:
            threads[-1].join()
        return own(there)

    rows = da.from_array(X, chunks=(500, 3), name=False)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(dask_source, "compute", disturbed)
            model = LinearRegression(random_state=5, ledger=ledger, dataset="d")
            model.fit(rows, da.from_array(Y, chunks=500, name=False))
    finally:
        over.set()
    for thread in threads:
        thread.join()
    return model.coef_.tobytes(), ledger.charges, len(done), len(set(killed))


@pytest.mark.slow
def test_twenty_kills_in_and_between_passes_change_nothing(client, monkeypatch):
    expected = LinearRegression(random_state=5).fit(X, Y).coef_.tobytes()
    for _ in range(2):  # the first has passes of its own: those of the rehearsal
        found, charges, passes, killed = fitted(client, monkeypatch, {})
        assert (found, charges, killed) == (expected, 1, 0)
    rng = np.random.default_rng(2)
    for _ in range(4):
        places = rng.choice(passes, 5, replace=False)
        kills = {int(place): bool(k % 2) for k, place in enumerate(places)}
        found, charges, _, killed = fitted(client, monkeypatch, kills)
        assert (found, charges, killed) == (expected, 1, 5)
