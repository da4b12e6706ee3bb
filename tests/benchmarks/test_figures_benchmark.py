"""Tables and figures that every benchmark shares, from made-up values."""

import numpy as np
import pytest
from benchmarks.harness import curves, races, report

SCORES = {
    "epsilons": [0.1, 1.0],
    "curves": {"ours": [[0.5, 0.6, 0.7], [0.8, 0.8, 0.9]], "theirs": [[0.4] * 3, [0.7] * 3]},
    "references": {"no privacy": 0.95},
}
SECONDS = {"small": {"ours": [0.2, 0.4, 0.2], "theirs": [0.1, 0.1, 0.2]}}


def test_tables_hold_medians_spreads_and_references():
    text = curves.table(SCORES)
    assert (
        "| ours | 0.6000 (0.5500 to 0.6500; 0.5000) | 0.8000 (0.8000 to 0.8500; 0.8000) |" in text
    )
    assert "| no privacy | 0.9500 |  |" in text
    assert "Median of 3 seeds" in text
    assert "| small | 200 ms (200 to 400) |" in races.table(SECONDS, "ours", "theirs")
    assert "| ours | 200 ms (200 to 400) | 2 (1 to 4) |" in races.ranking(
        SECONDS["small"], "theirs"
    )


def test_a_table_with_a_cell_too_few_is_refused():
    with pytest.raises(ValueError, match="as many cells"):
        report.table(["a", "b"], [["1"]])


def drawn():
    return {
        "curve": curves.figure(SCORES, title="Scores", score="accuracy"),
        "race": races.figure(SECONDS, "Times"),
        "ranking": races.ranking_figure(SECONDS["small"], "Times"),
    }


@pytest.mark.parametrize("kind", ["curve", "race", "ranking"])
def test_figures_have_labels_and_come_out_the_same(kind, tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.harness import figures

    for attempt in ("one", "two"):
        figures.save(drawn()[kind], tmp_path / attempt)
    for suffix in (".png", ".svg"):
        first, second = ((tmp_path / name).with_suffix(suffix) for name in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()
    (axes,) = drawn()[kind].axes
    assert axes.get_xlabel()
    assert axes.get_title(loc="left")
    words = [text.get_text() for legend in drawn()[kind].legends for text in legend.get_texts()]
    words += [tick.get_text() for tick in axes.get_yticklabels()]
    assert {"ours", "theirs"} <= set(words)


def test_lines_differ_by_more_than_colour():
    pytest.importorskip("matplotlib")
    from benchmarks.harness import figures

    assert len(set(figures.MARKERS)) == len(figures.COLOURS) == len(set(figures.COLOURS))


def test_scores_over_epsilon_pair_every_epsilon_with_every_seed(monkeypatch):
    import privlearn

    class Made:
        def __init__(self, epsilon, random_state, bonus):
            self.value = 100 * epsilon + 10 * random_state + bonus

        def fit(self, X, y):
            self.value += X - y
            return self

        def score(self, X, y):
            return self.value * X * y

    monkeypatch.setattr(privlearn, "Made", Made, raising=False)
    found = curves.over_epsilons("Made", (5, 3), (1, 2), (1.0, 3.0), 2, bonus=0.5)
    assert found == [[205.0, 225.0], [605.0, 625.0]]


def test_bars_reach_from_low_to_high():
    pytest.importorskip("matplotlib")
    from benchmarks.harness import figures

    _, axes = figures.blank()
    figures.ranges(axes, [7, 8], [(2.0, 1.0, 5.0), (4.0, 3.5, 4.5)], 1, "ours", capsize=2)
    ((line, _, (bars,)),) = axes.containers
    np.testing.assert_array_equal(line.get_xdata(), [2.0, 4.0])
    assert [segment[:, 0].tolist() for segment in bars.get_segments()] == [[1.0, 5.0], [3.5, 4.5]]
    assert [segment[0, 1] for segment in bars.get_segments()] == [7, 8]


def test_a_legend_names_each_line_of_several_panels_once():
    pytest.importorskip("matplotlib")
    from benchmarks.harness import figures

    figure, axes = figures.panels(1, 2, 8.0, 3.0, grid=False, sharey=True)
    for one, names in zip(axes.ravel(), ("ab", "bc"), strict=True):
        for name in names:
            one.plot([0, 1], [1, 2], label=name)
    figures.legend_below(figure, 2, axes.ravel())
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]
    assert figure.get_size_inches().tolist() == [8.0, 3.0]


@pytest.mark.parametrize(("high", "ticks"), [(50.0, [1, 2, 5, 10, 20, 50]), (5e4, [1, 10, 100])])
def test_ticks_of_a_logarithmic_axis_are_few(high, ticks):
    pytest.importorskip("matplotlib")
    from benchmarks.harness import figures

    _, axes = figures.blank()
    axes.set_ylim(1.0, high)
    figures.few_log_ticks(axes, 3, "{x:g}")
    shown = [round(place) for place in axes.get_yticks() if 1.0 <= place <= high]
    assert shown[: len(ticks)] == ticks
    assert axes.yaxis.get_major_formatter()(20.0) == "20"
