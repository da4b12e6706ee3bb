"""What an epoch on random features cannot do without, in single precision and in blocks.

Phases by a matrix product, their cosines and sines, and two products of the features with a vector.
Nothing else: no bounds, no random order, no step after each row.
"""

from functools import partial

import numpy as np

__all__ = ["PARTS", "WHOLE", "Bound"]

PHASES, WAVES = "X @ W", "cosines and sines"
PRODUCTS = "features @ w, features.T @ r"
PARTS = (PHASES, WAVES, PRODUCTS)
WHOLE = "all three, block by block"
BLOCKS = (32, 64, 96, 128, 256)
TRIED = 50_000  # rows, to find the fastest block


class Bound:
    """The three parts for some rows, alone and one after the other, each in its fastest blocks."""

    def __init__(self, X, frequencies):
        self._X = X.astype(np.float32)
        self._turns = (frequencies / (2.0 * np.pi)).astype(np.float32)
        self._double = np.ascontiguousarray(self._turns.T, dtype=np.float64)
        self._half = self._turns.shape[1]
        self._order = np.arange(self._half)
        self._none = np.zeros(self._half)  # no phase is long
        self._w = np.ones(2 * self._half, np.float32)

    def contestants(self, clock):
        """A function without arguments for each part, and the blocks that were fastest."""
        found, blocks = {}, {}
        for name, ways in self._ways().items():
            tried = {
                (way, size): self._time(function, size, clock)
                for way, function in ways.items()
                for size in BLOCKS
            }
            way, size = min(tried, key=tried.get)
            found[name] = partial(ways[way], len(self._X), size)
            blocks[name] = f"{way}, {size} rows"
        return found, blocks

    def _ways(self):
        whole = {"numpy": self._all_numpy, "privlearn's waves": self._all_own}
        waves = {"numpy": self._numpy_waves, "privlearn's waves": self._own_waves}
        return {
            WHOLE: whole,
            PHASES: {"numpy": self._phases},
            WAVES: waves,
            PRODUCTS: {"numpy": self._products},
        }

    def _time(self, function, size, clock):
        rows = min(TRIED, len(self._X))
        function(rows, size)
        seconds = []
        for _ in range(3):
            start = clock()
            function(rows, size)
            seconds.append(clock() - start)
        return min(seconds)

    def _blocks(self, rows, size):
        return (self._X[start : start + size] for start in range(0, rows, size))

    def _room(self, size, columns):
        return np.zeros((size, columns), np.float32)

    def _phases(self, rows, size):
        room = self._room(size, self._half)
        for X in self._blocks(rows, size):
            np.matmul(X, self._turns, out=room[: len(X)])

    def _numpy_waves(self, rows, size):
        phases, room = self._X[:size] @ self._turns, self._room(size, 2 * self._half)
        for X in self._blocks(rows, size):
            self._by_numpy(phases[: len(X)], room[: len(X)])

    def _own_waves(self, rows, size):
        room, lengths = self._room(size, 2 * self._half), np.zeros(size)
        for X in self._blocks(rows, size):
            self._by_own(X, lengths, room[: len(X)])

    def _products(self, rows, size):
        room, r = self._room(size, 2 * self._half), np.ones(size, np.float32)
        for X in self._blocks(rows, size):
            self._by_vectors(room[: len(X)], r[: len(X)])

    def _all_numpy(self, rows, size):
        phases, room = self._room(size, self._half), self._room(size, 2 * self._half)
        r = np.ones(size, np.float32)
        for X in self._blocks(rows, size):
            own, features = phases[: len(X)], room[: len(X)]
            np.matmul(X, self._turns, out=own)
            self._by_numpy(own, features)
            self._by_vectors(features, r[: len(X)])

    def _all_own(self, rows, size):
        room, lengths = self._room(size, 2 * self._half), np.zeros(size)
        r = np.ones(size, np.float32)
        for X in self._blocks(rows, size):
            features = room[: len(X)]
            np.matmul(X, self._turns, out=features[:, : self._half])
            self._by_own(X, lengths, features)
            self._by_vectors(features, r[: len(X)])

    def _by_numpy(self, phases, out):
        np.cos(phases, out=out[:, : self._half])
        np.sin(phases, out=out[:, self._half :])

    def _by_own(self, X, lengths, out):
        from privlearn.solvers._common.loops.fourier_features import write_waves

        size = np.float32(1.0 / np.sqrt(self._half))
        write_waves(X, lengths, self._double, self._order, self._none, size, out)

    def _by_vectors(self, features, r):
        features @ self._w
        r @ features
