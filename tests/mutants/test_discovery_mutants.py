"""Planted bugs of lists that are found privately. A generic audit catches each of them."""

import numpy as np
import pytest

from discovery_models import N_FEATURES, discovering
from planting import demand_caught
from privlearn import audit
from privlearn._core.mechanisms.frequent import FrequentValues
from privlearn._core.numerics import round_to_grid
from privlearn._core.releaser import Releaser
from privlearn.schema import discovery

MUTANTS = []
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def mutant(check):
    def planted(plant):
        MUTANTS.append((plant, check))
        return plant

    return planted


@mutant(audit.check_replay)
def the_threshold_is_forgotten(patch):
    patch.setattr(FrequentValues, "threshold", lambda *facts: -np.inf)


@mutant(audit.check_noise_law)
def noise_of_two_thirds(patch):
    def count(self, release, counts):
        grid = self.plan.grid(release)
        noise = release.mechanism.draw(
            self._aside(1), self.plan.noise_scale(release) / grid * 2 / 3, (len(counts),)
        )
        units = round_to_grid(np.fromiter(counts.values(), np.float64, len(counts)), grid) + noise
        return dict(zip(counts, (units * grid).tolist(), strict=True))

    patch.setattr(Releaser, "_count", count)


@mutant(audit.check_replay)
def the_root_of_the_number_of_columns_is_forgotten(patch):
    class One:
        sqrt = staticmethod(lambda value: 1.0)

    patch.setattr(discovery, "math", One)


@mutant(audit.check_replay)
def the_list_is_read_off_the_data(patch):
    publish = Releaser.publish

    def all_of_them(self, name, counts, *, clip):
        publish(self, name, counts, clip=clip)
        return dict(counts)

    patch.setattr(Releaser, "publish", all_of_them)


def replay_of_first_rows(model, n_features):
    """Neighbours that differ in the first of many rows."""
    audit.check_replay(model, n_features=n_features, first=20, every=9)


@mutant(replay_of_first_rows)
def the_list_is_in_the_order_of_the_data(patch):
    """Values as they come, not as what was released says."""

    def count(rows, kinds, present):
        found = {}
        for column, part, words in rows.parts():
            if kinds[column.name].pending:
                codes = rows.numbers[present, part.stop - 1].astype(int)
                for code in codes[codes >= 0]:
                    key = (column.name, isinstance(words[code], str), words[code])
                    found[key] = found.get(key, 0.0) + 1.0
        return found

    def listed(name, kind, published):
        if not kind.pending:
            return kind
        values = [str(value) for (own, _, value) in published if own == name]
        return discovery.replace(kind, values=tuple(values[: kind.max_categories]), other=True)

    patch.setattr(discovery, "count_values", count)
    patch.setattr(discovery, "_listed", listed)


@mutant(audit.check_replay)
def a_row_counts_twice_where_it_is_rare(patch):
    counted = discovery.count_values

    def twice(rows, kinds, present):
        found = counted(rows, kinds, present)
        return {key: 2.0 * count if count < 3.0 else count for key, count in found.items()}

    patch.setattr(discovery, "count_values", twice)


@pytest.mark.parametrize(("plant", "check"), MUTANTS, ids=[p.__name__ for p, _ in MUTANTS])
def test_it_is_caught(plant, check, monkeypatch):
    models = [discovering()["lists-zero_out"]]
    demand_caught(plant, models, monkeypatch, checks=lambda *model: [check], n_features=N_FEATURES)
