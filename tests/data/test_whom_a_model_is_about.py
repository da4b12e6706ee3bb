"""With few rows of each person the rows that count are those of another population."""

from pathlib import Path

import numpy as np

from privlearn._data.people import read_people, rows_that_count

PAGE = Path(__file__).parents[2] / "docs" / "several-rows-per-person.md"


def households():
    """Ids of households and what their members have: more of it in larger ones."""
    rng = np.random.default_rng(0)
    size = rng.choice(6, 10_000, p=[0.3, 0.3, 0.15, 0.15, 0.06, 0.04]) + 1
    ids = np.repeat(np.arange(len(size)), size)
    return ids, size[ids], np.clip(rng.normal(1_000.0 + 700.0 * size[ids], 500.0), 0.0, None)


def test_a_row_counts_with_probability_k_over_the_rows_of_its_person():
    ids, size, y = households()
    people, page = read_people(ids, len(ids), strict=True), PAGE.read_text(encoding="utf-8")
    assert f"the mean of all members was {y.mean():,.0f}," in page
    for most in (1, 2, 3, 4):
        weight = np.minimum(1.0, most / size)
        mean = weight @ y / weight.sum()
        means = [y[rows_that_count(people, most, key)[0]].mean() for key in range(20)]
        assert abs(np.mean(means) - mean) < 5.0
        assert f"{mean:,.0f} with {'K = ' if most == 1 else ''}{most}" in page
