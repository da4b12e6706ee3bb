"""Costs of whole compositions, and pairs as they are written."""

import math

import numpy as np
import pytest

from privlearn._core.problem import Budget
from privlearn.accounting import (
    ApproximateLoss,
    BoundedRange,
    Gaussian,
    GaussianMixture,
    Laplace,
    PureLoss,
    SampledGaussian,
    TwoBounds,
    compose,
)
from privlearn.accounting.composition import evaluate
from privlearn.ledger import composition_cost
from privlearn.ledger.serial import pair_from_text, pair_to_text, terms_from_text, terms_to_text

PAIRS = [
    Gaussian(0.1 + 0.2),
    SampledGaussian(0.003, 2.0),
    SampledGaussian(1 / 3, 0.7, replace=True),
    Laplace(0.1),
    PureLoss(1e-9),
    TwoBounds(0.3, 1e-8, 0.2, 1e-18),
    ApproximateLoss(0.3, 1e-7),
    BoundedRange(math.pi),
    GaussianMixture((0.1, 0.7), (0.25, 0.5)),
]
# Costs


def random_terms(rng, count):
    kinds = [
        lambda: (Gaussian(rng.uniform(0.005, 0.05)), int(rng.integers(1, 9))),
        lambda: (SampledGaussian(rng.choice([0.001, 0.01]), rng.uniform(1.5, 5)), 300),
        lambda: (SampledGaussian(0.01, rng.uniform(3, 6), True), 100),
        lambda: (Laplace(rng.uniform(0.002, 0.05)), int(rng.integers(1, 9))),
        lambda: (PureLoss(rng.uniform(0.002, 0.03)), 3),
        lambda: (BoundedRange(rng.uniform(0.002, 0.05)), 3),
        lambda: (GaussianMixture((0.01, 0.05), (0.5, 0.5 - 1e-10)), 2),
    ]
    return tuple(kinds[rng.integers(len(kinds))]() for _ in range(count))


def exact(terms, budget):
    """delta at the budget's epsilon, in the finest way."""
    return evaluate(composition_cost.balanced(compose(terms).terms), budget.epsilon).delta


def test_many_pairs_are_rounded_to_the_private_side():
    noise = np.random.default_rng(0).uniform(2, 3, 40)
    terms = tuple((SampledGaussian(0.003, float(z)), 600) for z in noise)
    few = composition_cost.composed(terms)
    assert len(few.terms) <= composition_cost.MANY < len(compose(terms).terms)
    truth = compose(terms).delta(0.8)
    assert truth <= few.delta(0.8) <= 1.3 * truth


def test_joined_pairs_cost_at_least_as_much_in_every_way():
    pairs = [
        SampledGaussian(0.1, 2.0), SampledGaussian(0.2, 3.0), SampledGaussian(0.1, 2.0, True),
        SampledGaussian(0.1, 2.5, True), Laplace(0.1), Laplace(0.2), PureLoss(0.3), PureLoss(0.2),
        BoundedRange(0.1), BoundedRange(0.5), Gaussian(0.2), GaussianMixture((0.1,), (0.9,)),
    ]  # fmt: skip
    found = 0
    for first in pairs:
        for second in pairs:
            joined = composition_cost._joined((first, 2), (second, 3))
            if joined is None:
                continue
            found += 1
            pair, count = joined
            assert count == 5
            for loss in (0.0, 0.05, 0.15):
                worst = max(compose([(one, 1)]).delta(loss) for one in (first, second))
                assert compose([(pair, 1)]).delta(loss) >= worst
    assert found == 5 * 4  # within each of five families, and nothing across


def test_one_wide_gaussian_among_many_narrow_steps():
    """Composed in pieces the cost is below the sum of the two, as it must be."""
    wide, narrow = (Gaussian(0.35), 1), (SampledGaussian(0.003, 2.0), 18000)
    budget = Budget(5.0, 1e-6)
    together = composition_cost.epsilon_of((wide, narrow), budget)
    assert 1.81 < together < 1.83
    assert together < compose([wide]).epsilon(1e-6) + compose([narrow]).epsilon(1e-6)


def test_the_cost_agrees_with_the_accountant():
    terms = ((SampledGaussian(0.01, 1.0), 500), (Laplace(0.1), 3))
    wanted = compose(terms).epsilon(1e-5)
    assert (
        wanted * (1 - 1e-4)
        <= composition_cost.epsilon_of(terms, Budget(9.0, 1e-5))
        <= wanted * 1.001
    )


# What is written down


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: type(pair).__name__)
def test_pairs_come_back_to_the_last_bit(pair):
    assert pair_from_text(pair_to_text(pair)) == pair
    assert terms_from_text(terms_to_text([(pair, 7)])) == ((pair, 7),)


def test_every_kind_of_pair_is_written():
    from typing import get_args

    from privlearn.accounting import Pair

    assert {type(pair) for pair in PAIRS} == set(get_args(Pair))
    with pytest.raises(TypeError, match="cannot write down"):
        pair_to_text("a text")
