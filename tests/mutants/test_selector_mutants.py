"""Planted bugs of the selectors. Each must be caught by the generic audits."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau

from planting import demand_caught
from privlearn._core.mechanisms import GumbelNoise
from privlearn._core.problem import Adjacency
from privlearn._core.releaser import Releaser
from privlearn._core.sampling import Batches, Disjoint
from privlearn.feature_selection import KendallSelector, SubLassoSelector, sub_lasso_selector
from privlearn.feature_selection import lasso_votes as ballots
from privlearn.solvers._common import noisy_top_k as peeling

N_FEATURES = 5
PRIVATE = (Adjacency.ADD_REMOVE,)  # where the number of rows is
MUTANTS = []


def mutant_of(*selectors, relations=tuple(Adjacency)):
    """A bug of some selectors, to be found under one of some relations."""

    def planted(plant):
        MUTANTS.extend((plant, selector, relations) for selector in selectors)
        return plant

    return planted


@mutant_of(KendallSelector, relations=PRIVATE)
def tau_b(patch):
    """The published code: divided by the pairs that are not tied, and brought back by n / 2.

    Under `add_remove` that is right without ties, so it is ties that must give it away.
    """

    def of_table(self, data, adjacency):
        present = data.present()
        X = data.table.X if isinstance(data.table.X, np.ndarray) else data.table.X.toarray()
        X = np.asarray(X, dtype=np.float64)[present]
        self._target, self._table = data.table.y[present], list(X.T)

    def with_ties_left_out(self, other):
        if len(other) < 2:
            return np.zeros(len(self._table))
        tau = [kendalltau(column, other).statistic for column in self._table]
        return np.nan_to_num(tau) * (len(other) / 2)

    patch.setattr(peeling.Correlations, "__init__", of_table)
    patch.setattr(
        peeling.Correlations, "with_target", lambda self: with_ties_left_out(self, self._target)
    )
    patch.setattr(
        peeling.Correlations,
        "with_column",
        lambda self, j: with_ties_left_out(self, self._table[j]),
    )


@mutant_of(KendallSelector)
def sensitivity_not_doubled(patch):
    """As if a further score were one correlation, and not the difference of two."""
    releases, select = peeling.kendall_releases, Releaser.select

    def single(k, n_features, adjacency):
        first, *further = releases(k, n_features, adjacency)
        return first, *(replace(release, clip=first.clip) for release in further)

    patch.setattr("privlearn.feature_selection.kendall_selector.kendall_releases", single)
    patch.setattr(
        Releaser,
        "select",
        lambda self, name, scores, clip: select(self, name, scores, clip=self._find(name).clip),
    )


@mutant_of(KendallSelector)
def overlap_summed_and_not_averaged(patch):
    value = peeling.BlockSum.value
    calls = []

    def summed(self):
        calls.append(self)
        return value(self) * sum(one is self for one in calls)

    patch.setattr(peeling.BlockSum, "value", summed)


@mutant_of(KendallSelector)
def divided_by_the_rows_that_are_there(patch):
    """Where n is public it must stay, or the empty row moves the divisor."""
    before = peeling.Correlations.__init__

    def by_present(self, data, adjacency):
        before(self, data, Adjacency.ADD_REMOVE)

    patch.setattr(peeling.Correlations, "__init__", by_present)


@mutant_of(KendallSelector, relations=PRIVATE)
def divisor_forgotten_where_n_is_private(patch):
    """The sensitivity of a fixed n, for a correlation whose n changes."""
    patch.setattr(peeling, "row_clip", lambda adjacency: 1.0)


@mutant_of(KendallSelector, SubLassoSelector)
def two_thirds_of_the_noise(patch):
    draw = GumbelNoise.draw
    patch.setattr(
        GumbelNoise,
        "draw",
        lambda self, source, scale, shape: draw(self, source, 2.0 * scale / 3.0, shape),
    )


@mutant_of(KendallSelector, SubLassoSelector)
def winner_without_noise(patch):
    release_step = Releaser._emit

    def deaf(self, release, statistic):
        release_step(self, release, statistic)
        return statistic

    patch.setattr(Releaser, "_emit", deaf)


@mutant_of(SubLassoSelector, relations=PRIVATE)
def equal_parts_where_n_is_private(patch):
    """One row less moves the cuts, and so every model."""

    def even(self, source, n, steps):
        order = source.permutation(n)
        return Batches(order, np.arange(self.batches + 1) * n // self.batches)

    patch.setattr(Disjoint, "draw_many", even)


@mutant_of(SubLassoSelector)
def a_model_votes_twice(patch):
    cast = ballots.cast_ballots

    def twice(X, y, starts, k, share, votes):
        cast(X, y, starts, k, share, votes)
        cast(X, y, starts, k, share, votes)

    patch.setattr(ballots, "cast_ballots", twice)


@mutant_of(SubLassoSelector)
def columns_standardised_with_everybodys_moments(patch):
    """So that one row reaches into every model."""
    cast = ballots.cast_ballots

    def together(X, y, starts, k, share, votes):
        scale = np.maximum(np.abs(X).max(axis=0, initial=0.0), 1e-300)
        cast(np.round(X / scale, 3), y, starts, k, share, votes)

    patch.setattr(ballots, "cast_ballots", together)


@mutant_of(SubLassoSelector, relations=PRIVATE)
def number_of_groups_from_the_private_n(patch):
    patch.setattr(
        sub_lasso_selector,
        "fewest_rows",
        lambda n, present, release: present,
    )


def configurations(selector, relations):
    for relation in relations:
        yield selector(4, adjacency=relation.value)
        if selector is SubLassoSelector:
            yield selector(1, models=40, adjacency=relation.value)


@pytest.mark.parametrize(
    ("plant", "selector", "relations"),
    MUTANTS,
    ids=[f"{plant.__name__}-{selector.__name__}" for plant, selector, _ in MUTANTS],
)
def test_caught_by_the_generic_audits(plant, selector, relations, monkeypatch):
    models = configurations(selector, relations)
    demand_caught(plant, models, monkeypatch, n_features=N_FEATURES)
