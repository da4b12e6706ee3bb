"""Generated tables of blocks of columns: measures of one thing, long tails, words as 0 and 1."""

from __future__ import annotations

import numpy as np

from benchmarks.datasets.tables import column, target

__all__ = ["mixed"]


def mixed(rng, n, p):
    """As offices and laboratories keep them: blocks of columns that belong together, and y."""
    traits = rng.standard_normal((n, 2 + int(np.sqrt(p))))
    blocks, room = [], p
    while room:
        block = BLOCKS[rng.choice(len(BLOCKS), p=BLOCK_SHARES)]
        made = np.reshape(np.transpose(block(rng, traits, room)), (n, -1))[:, :room]
        blocks.append(made)
        room -= made.shape[1]
    raw = np.hstack(blocks)
    latent = traits @ rng.standard_normal((traits.shape[1], p)) / np.sqrt(traits.shape[1])
    return raw, target(raw, latent, rng)


def _trait(rng, traits):
    """What a column tells of: mostly one trait, somewhat others."""
    many = traits.shape[1]
    found = traits @ (rng.standard_normal(many) * rng.dirichlet(np.full(many, 0.5)))
    found += rng.uniform(0.0, 0.7) * found.std() * rng.standard_normal(len(traits))
    return found / found.std()


def _unit(rng):
    return 10.0 ** rng.uniform(-2.0, 4.0)


def _number(rng, traits, room):
    kind = rng.choice(["normal", "lognormal", "heavy", "counts", "codes", "offset", "capped"])
    return [column(kind, _trait(rng, traits), rng) * _unit(rng)]


def _measures(rng, traits, room):
    """Several of one thing, such as lengths and weight, which nearly agree."""
    thing, own = _trait(rng, traits), 10.0 ** rng.uniform(-1.5, -0.3)
    bend = rng.uniform(0.1, 0.8)
    parts = [thing + own * rng.standard_normal(len(thing)) for _ in range(rng.integers(2, 5))]
    return [np.exp(bend * rng.choice([1.0, 1.0, 2.0]) * part) * _unit(rng) for part in parts]


def _pile(rng, traits, room):
    """Mostly nothing, and long tails where there is something."""
    size = np.exp(rng.uniform(0.5, 1.5) * rng.standard_normal(len(traits)))
    return [np.where(_trait(rng, traits) > rng.uniform(0.5, 2.0), size, 0.0) * _unit(rng)]


def _group(rng, traits, room):
    """One of several words, some of them rare, some hardly ever found."""
    words = int(2 + (min(room, 42) - 2) * rng.random() ** 2) if room > 2 else 2
    liking = rng.uniform(0.0, 1.0) * traits @ rng.standard_normal((traits.shape[1], words))
    liking /= np.sqrt(traits.shape[1])
    liking -= rng.uniform(0.3, 2.0) * np.log(1.0 + np.arange(words))
    word = np.argmax(liking + rng.gumbel(size=liking.shape), axis=1)
    return [(word == k).astype(float) for k in range(words)]


def _flag(rng, traits, room):
    share = 10.0 ** rng.uniform(-3.0, -0.3)
    trait = _trait(rng, traits)
    return [(trait > np.quantile(trait, 1.0 - share)).astype(float)]


BLOCKS, BLOCK_SHARES = (_number, _measures, _pile, _group, _flag), (0.35, 0.15, 0.1, 0.3, 0.1)
