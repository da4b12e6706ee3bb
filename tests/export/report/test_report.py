"""Reports: what they say, that texts stay texts, and that the certificate inside is the model's."""

import csv
import json
import math
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privlearn
from privlearn import Ledger, LinearRegression, LogisticRegression, metrics
from privlearn._core.certificate_check import check_certificate
from privlearn._core.certificate_page import blocks
from privlearn._core.harmless import harmless
from privlearn.cli import main
from privlearn.exceptions import LedgerError
from privlearn.export.report import Learned, page
from privlearn.export.report.citing import REFERENCES
from privlearn.export.report.statement import at_most, percent, power_at_most
from privlearn.export.report.wording import in_words
from privlearn.schema.encoding import Column
from privlearn.schema.kinds import Date, Number

ROOT = Path(__file__).resolve().parents[3]
BOX = {"bounds_X": (0, 1), "bounds_y": (0, 3)}
NASTY = ["</script><script>alert(1)</script>", "' onload='x", '" onload="x', "\x1b[31m", "\u202e"]
NASTY += ["=1+1", "</pre>", "<!--", "]]>", "&lt;", "\x00", "\udcff", "{{", "</style>", "é", "\n"]
texts = st.lists(st.sampled_from(NASTY), min_size=1, max_size=3).map("".join)


class Page(HTMLParser):
    """Elements with their attributes, and the texts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, sorted(name for name, _ in attrs)))

    def handle_data(self, data):
        self.words.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def rows(n=600):
    X = np.random.default_rng(0).uniform(0, 1, (n, 3))
    return X, X @ [1.0, -0.5, 0.25] + 1.0


def fitted(cls=LinearRegression, names=None, **given):
    X, y = rows()
    if names is not None:
        X = pd.DataFrame(X, columns=names)
    known = {"epsilon": 5.0, "bounds_X": (0, 1)} | given
    known |= {} if hasattr(cls, "classes") else {"bounds_y": (0, 3)}
    return cls(**known).fit(X, y > 1.3 if hasattr(cls, "classes") else y)


@cache
def seeded():
    return fitted(solver="moments", random_state=0)


def read(model, **more):
    return page(Learned.of(model), **more)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.html"


ESTIMATORS = sorted(name for name in privlearn.__all__ if hasattr(getattr(privlearn, name), "fit"))


SLOW = [pytest.param(name, marks=pytest.mark.slow) if "K" in name else name for name in ESTIMATORS]


def holds(path):
    """Whether every certificate of a page adds up, by our accountant alone, which is quick."""
    found = [json.loads(one) for one in blocks(path.read_text(encoding="utf-8"))]
    return all(check_certificate(one, second_opinion=False).holds for one in found)


@pytest.mark.parametrize("name", SLOW)
def test_every_estimator_has_a_report_that_is_verified(path, name):
    model = fitted(getattr(privlearn, name))
    path.write_text("before")
    model.report(path, title="Numbers")
    assert holds(path)
    (inside,) = blocks(path.read_text(encoding="utf-8"))
    assert json.loads(inside) == model.privacy_.to_dict()
    shown = Page(path.read_text(encoding="utf-8"))
    assert "Numbers" in shown.text
    assert not {"script", "link", "img", "iframe", "a"} & {tag for tag, _ in shown.tags}
    assert not {"src", "href"} & {one for _, names in shown.tags for one in names}
    assert [*path.parent.iterdir()] == [path]


def test_order_and_content():
    shown = Page(read(fitted(intervals=True, names=["age", "pay", "town"]))).text
    parts = ["What was learned", "What this tells about one person", "NIST SP 800-226"]
    parts += ["What the budget was spent on", "What is assumed", "estimated privately"]
    parts += ["How to cite it", "The certificate"]
    places = [shown.index(part, shown.index("What was learned")) for part in parts]
    assert places == sorted(places)
    for word in ("Unit of privacy", "Central", "epsilon = 5", "95% interval", "Mangold", "Near"):
        assert word in shown
    assert "NOT private" not in shown


def test_seeded_fits_are_marked_loudly():
    text = read(fitted(random_state=3))
    assert "This model is NOT private" in text
    assert '<p class="alarm" role="alert">' in text


@pytest.mark.parametrize("adjacency", ["zero_out", "add_remove", "replace_one"])
def test_the_number_of_rows_is_shown_where_it_is_public(adjacency):
    shown = Page(read(fitted(adjacency=adjacency))).text
    assert ("600 rows" in shown) == (adjacency != "add_remove")
    assert ("e^(2 epsilon)" in shown) == (adjacency != "replace_one")


def test_neighbours_under_add_remove_have_pages_of_one_size():
    """Nothing beside released numbers depends on the rows: texts without digits are the same."""
    X, y = rows()
    known = {"adjacency": "add_remove", "random_state": 0, "epsilon": 5.0} | BOX
    both = [LinearRegression(**known).fit(X[:k], y[:k]) for k in (600, 599)]
    first, second = (
        re.sub(r"[\d.,\u2212%+e-]+", "#", re.sub(r"<svg.*?</svg>", "", read(model)))
        for model in both
    )
    assert first == second


def test_columns_without_names_classes_and_many_features():
    X = np.random.default_rng(1).uniform(0, 1, (400, 80))
    many = LinearRegression(solver="moments", **BOX).fit(X, X[:, 0])
    text = read(many)
    assert "The 30 largest of all" in text
    assert text.count('<th scope="row"><bdi>column ') >= 80
    labels = np.digitize(X[:, 0], [0.3, 0.6])
    three = LogisticRegression(bounds_X=(0, 1), epsilon=5).fit(X[:, :3], labels)
    assert "<polygon" in read(three)


# For people who do not program


@pytest.mark.parametrize(
    ("adjacency", "hidden"),
    [
        ("zero_out", "it could as well be empty"),
        ("add_remove", "whether the record is there at all"),
        ("replace_one", "it could be any other"),
    ],
)
def test_cards_say_in_words_what_is_hidden_and_both_odds(adjacency, hidden):
    top = read(fitted(adjacency=adjacency)).partition("<main>")[0]
    shown = Page(top).text
    assert hidden in shown
    assert f"adjacency {adjacency}" in shown
    assert "one row, taken for one person" in shown
    once, twice = (percent(at_most(0.5, epsilon)) for epsilon in (5.0, 10.0))
    exchanged = adjacency == "replace_one"
    assert (f"is there? Then at most {once}" in shown) == (not exchanged)
    assert f"theirs? Then at most {once if exchanged else twice}" in shown


@pytest.mark.parametrize(
    ("epsilon", "word"),
    [
        (0.1, "a strong promise"),
        (1.0, "a sound default"),
        (3, "weaker than"),
        (15, "very weak"),
        (30, "hardly a"),
    ],
)
def test_epsilon_is_placed_and_who_decided_is_told(epsilon, word):
    model = fitted(solver="moments", epsilon=epsilon)
    assert word in Page(read(model)).text
    assert "this page was not told" in Page(read(model)).text
    told = Page(read(model, decided_by="<b>Ana</b>, for the board"))
    assert "Who decided on it: <b>Ana</b>, for the board" in told.text
    assert not any(tag == "b" for tag, _ in told.tags)


def test_the_scale_is_that_of_the_page_about_epsilon():
    from privlearn.export.report.top import BEYOND, SCALE

    page = (ROOT / "docs/start/choosing-epsilon.md").read_text(encoding="utf-8")
    ends = [float(end) for end in re.findall(r"^\| (?:up to|[\d.]+ to) ([\d.]+) \|", page, re.M)]
    assert ends == [most for most, _ in SCALE]
    assert "the worst case says little" in page
    assert "the worst case says little" in BEYOND


def test_people_with_more_rows_are_told_that_the_others_were_not_used():
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(who=np.arange(600) // 3, y=y)
    for most, words in ((1, "one was drawn at random"), (2, "2 were drawn at random")):
        model = LinearRegression(max_rows_per_person=most, **BOX)
        shown = Page(read(model.fit(frame, "y", groups="who"))).text
        assert words in shown
        assert "1 rows" not in shown
        assert "How many rows of one person count was chosen" in shown
        assert "The ids tell people apart" in shown
        assert "households or firms, read \u201chousehold\u201d" in shown
        assert "a person, or whatever one id stands for (a household, a firm), with" in shown
        assert "all who share one id, as a household may, by the epsilon itself" in shown
        assert "Ten relatives together are" not in shown  # who may share an id
        assert "If the model says how y goes with a , then" in shown
        assert "wage" not in shown


def test_assumptions_and_estimates_are_in_words_first():
    shown = Page(read(fitted())).text
    assert "Ten relatives together are protected by ten times the epsilon" in shown
    assert "household" not in shown  # a row is a person
    assert "the ranges of the columns; the range of what is predicted." in shown
    assert "In the certificate: bounds_X and bounds_y were chosen" in shown
    assert "Estimated privately: the ranges of the columns for" in shown
    unknown = "somebody's own sentence and_bounds_X"
    assert in_words(unknown) is None


def test_notes_of_scores_hold_no_words_of_programs():
    X, y = rows(4_000)
    model = LinearRegression(bounds_X=(0, 1), bounds_y=(-100, 100)).fit(X, y)
    scores = metrics.evaluate(model, X, y, epsilon=1, delta=1e-6)
    assert any("--bounds-y" in note for note in scores.notes)
    shown = Page(read(model, scores=scores)).text
    assert "narrower than the declared" in shown
    assert "--bounds-y" not in shown


# Texts of others


@settings(max_examples=25, derandomize=True, deadline=None, database=None)
@given(texts, texts, texts)
def test_names_are_texts_and_nothing_else(name, target, title):
    model = seeded()
    plain, odd = (
        Learned.of(model, one, tuple(Column(word, Number()) for word in ("a", "b", one)))
        for one in ("c", f"{name}{target}")
    )
    expected = Page(page(plain, title="plain"))
    found = Page(page(odd, title=title))
    assert found.tags == expected.tags
    content = "".join(page(odd, title=title, decided_by=name).splitlines())
    assert "\x1b" not in content
    assert "\u202e" not in content
    assert content.encode("utf-8")


@pytest.mark.parametrize("value", ["".join(NASTY[:3]), "=1+1</pre>", "\x1b[31m\u202e<!--"])
def test_discovered_categories_are_harmless_wherever_they_are_shown(value, path, tmp_path):
    """HTML, terminal and JSON of lists that were found in the data."""
    frame = pd.DataFrame({"kind": np.where(np.arange(4_000) % 2, value, "plain")})
    frame["x"] = np.linspace(0, 1, 4_000)
    schema = {"kind": privlearn.schema.Category(), "x": privlearn.schema.Number(0, 1)}
    model = LogisticRegression(epsilon=20, schema=schema, intervals=True)
    model.fit(frame, np.where(frame["x"] > 0.5, value, "no"))
    assert any(value.strip() in str(name) for name in model.feature_names_out_)
    model.report(path)
    for text in (path.read_text(encoding="utf-8"), model.summary()._repr_html_()):
        shown = Page(text)
        assert not {"script", "img"} & {tag for tag, _ in shown.tags}
        assert not any(name.startswith("on") for _, names in shown.tags for name in names)
    assert not any(
        n.startswith("on") for _, ns in Page(model.privacy_._repr_html_()).tags for n in ns
    )
    for text in (str(model.summary()), str(model.privacy_)):
        assert all(line.isprintable() for line in text.splitlines())
    model.save(tmp_path / "m.json")
    again = privlearn.load(tmp_path / "m.json")
    assert list(again.feature_names_out_) == list(model.feature_names_out_)
    assert list(again.classes_) == list(model.classes_)
    frame.tail(20).to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "out.csv"
    assert (
        main(["predict", str(tmp_path / "m.json"), str(tmp_path / "rows.csv"), "-o", str(out)]) == 0
    )
    with out.open(newline="", encoding="utf-8") as file:
        cells = [cell for line in csv.reader(file) for cell in line]
    assert any(cell.endswith(harmless(value, "terminal")) for cell in cells)
    assert all(cell.isprintable() and cell[:1] not in "=+@" for cell in cells)
    assert holds(path)


def test_certificates_of_others_cannot_steer_a_terminal(path, capsys):
    content = fitted().privacy_.to_dict()
    content["assumptions"] = [*content["assumptions"], "true\x1b[2J\u202e"]
    path.write_text(json.dumps(content))
    assert main(["verify", str(path)]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "true\\x1b[2J" in out


# The certificate inside


def test_changed_pages_do_not_hold(path, capsys):
    text = read(fitted())
    (inside,) = blocks(text)
    changes = {
        "does not hold": text.replace('"epsilon": 5.0', '"epsilon": 0.5', 1),
        "stand twice": text.replace("</main>", f'<pre id="privlearn-certificate">{inside}</pre>'),
        "holds no certificate": text.replace("privlearn-certificate", "other"),
        "markup within": text.replace('"format"', '<b>"format"</b>'),
        "not at its place": text.replace("<main>", '<main id="privlearn-certificate">'),
    }
    for problem, changed in changes.items():
        assert changed != text
        path.write_text(changed, encoding="utf-8")
        assert main(["verify", str(path)]) == 1
        assert problem in capsys.readouterr().err


# Scores and ledgers


def test_scores_come_with_their_certificates(path, capsys):
    X, y = rows()
    model = fitted()
    one = metrics.evaluate(model, X, y, epsilon=3, delta=1e-6, bounds_y=(0, 3))
    model.report(path, scores=[one, one.to_dict()])
    text = path.read_text(encoding="utf-8")
    assert len(blocks(text)) == 3
    assert "Private scores" in text
    assert main(["verify", str(path)]) == 0
    assert "certificate of scores 2 holds" in capsys.readouterr().out
    with pytest.raises(TypeError, match="evaluate returned"):
        model.report(path, scores=0.9)
    with pytest.raises(ValueError, match="incomplete or damaged"):
        model.report(path, scores=one.to_dict() | {"scores": 3})
    of_classes = LogisticRegression(bounds_X=(0, 1), classes=[0, 1], epsilon=5, delta=1e-6)
    of_classes.fit(X, y > 1.0)
    other = metrics.evaluate(of_classes, X, y > 1.0, epsilon=3, delta=1e-6)
    with pytest.raises(ValueError, match="predicts 2 classes, but this one predicts numbers"):
        model.report(path, scores=other)
    with pytest.raises(ValueError, match="predicts numbers, but this one predicts 2 classes"):
        of_classes.report(path, scores=[other, one])
    assert path.read_text(encoding="utf-8") == text


def test_the_ledger_is_shown_and_must_know_the_charge(tmp_path, path):
    ledger = Ledger.create(tmp_path / "l.ledger", epsilon=20, delta=1e-6)
    with ledger.signed(by="ana", note="<b>wages</b>"):
        model = fitted(ledger=ledger, dataset="people & others")
    model.report(path)
    shown = Page(path.read_text(encoding="utf-8")).text
    assert "people & others" in shown
    assert "<b>wages</b> (this model)" in shown
    assert "ana" not in re.sub("[a-z]+ana|ana[a-z]+", "", shown)
    assert str(tmp_path) not in shown
    with ledger.dataset("more"):
        fitted(ledger=ledger).report(path)  # the name is found by the charge
    assert "The ledger of the data set more" in Page(path.read_text(encoding="utf-8")).text
    other = Ledger.create(tmp_path / "o.ledger", epsilon=20, delta=1e-6)
    with pytest.raises(LedgerError):
        model.report(path, ledger=other, dataset="people & others")


# The command line


@pytest.mark.parametrize("model", ["linear", pytest.param("kernel", marks=pytest.mark.slow)])
def test_the_command_writes_pages_of_all_files(tmp_path, monkeypatch, capsys, model):
    monkeypatch.chdir(tmp_path)
    lines = [f"{k % 40 / 10},{'ab'[k % 2]},{(k % 40) / 40}" for k in range(2_000)]
    (tmp_path / "p.csv").write_text("\n".join(["x,kind,y", *lines]) + "\n")
    fit = ["fit", "p.csv", "--target", "y", "--epsilon", "5", "--categories", "kind=a,b"]
    assert main([*fit, "--model", model, "-o", "m.json"]) == 0
    assert main(["report", "m.json", "--out", "m.html"]) == 0
    assert main(["verify", "m.html"]) == 0
    assert "<bdi>y</bdi>" in (tmp_path / "m.html").read_text(encoding="utf-8")
    fitted().save("unnamed.json")
    assert main(["report", "unnamed.json"]) == 0
    assert (tmp_path / "unnamed.html").exists()
    capsys.readouterr()
    for line, problem in (
        (["unnamed.json"], "not replaced unasked"),
        (["unnamed.json", "--ledger", "l"], "go together"),
        (["p.csv", "--out", "q.html"], "no model file"),
        (["unnamed.json", "--scores", "p.csv", "--out", "q.html"], "no scores"),
        (["unnamed.json", "--out", "unnamed.json", "--overwrite"], "are the same file"),
    ):
        assert main(["report", *line]) == 1
        assert problem in capsys.readouterr().err


# Readings of the promise


def test_limits_on_tests_are_those_of_gaussian_noise():
    """Above the exact trade-off of a Gaussian mechanism, and close to it."""
    from scipy.special import ndtr, ndtri

    from privlearn.accounting import Gaussian, compose

    mu = 0.7
    curve = compose([(Gaussian(mu), 1)])
    points = [(e, curve.delta(e)) for e in np.linspace(0.0, 4.0, 41).tolist()]
    for alarm in (0.01, 0.05, 0.3, 0.5, 0.9):
        exact = float(ndtr(ndtri(alarm) + mu))
        assert exact <= power_at_most(points, alarm) <= exact * 1.01


def test_limits_are_rounded_up():
    for part in np.random.default_rng(0).uniform(0.0, 0.99999, 200).tolist():
        assert float(percent(part).split()[0]) >= 100.0 * part - 1e-6


def test_odds_change_by_the_factor():
    for before in (0.01, 0.3):
        after = at_most(before, 1.0)
        assert after / (1 - after) == pytest.approx(math.e * before / (1 - before))


def test_papers_of_all_methods_have_a_reference():
    from privlearn.solvers import SOLVERS

    for name in SOLVERS:
        plan = LinearRegression(solver=name, **BOX).plan(n=5_000, n_features=3)
        authors = re.findall(r"([A-Z]\w+)(?: et al\.|, [A-Z]\w+)* \d{4}", plan.paper)
        assert authors, plan.paper
        assert all(any(one in full for full in REFERENCES.values()) for one in authors), plan.paper


def test_dates_are_told_as_dates():
    """Days are counted from the first one that was declared, or from 1970."""
    days = pd.to_datetime("2010-01-01") + pd.to_timedelta(np.arange(2_000), unit="D")
    frame = pd.DataFrame({"since": days, "open": days, "cost": np.arange(2_000) / 1_000})
    schema = {"since": Date("2010-01-01", "2024-12-31"), "open": Date()}
    model = LinearRegression(epsilon=20, schema=schema, bounds_y=(0, 2)).fit(frame, "cost")
    shown = Page(read(model)).text
    assert "This is a linear regression of cost from 2 columns" in shown
    since, opened = re.findall(r"date (\d{4})-\d\d-\d\d to (\d{4})-\d\d-\d\d", shown)
    assert since[0] == "2010"
    assert "2014" < since[1] <= "2024"
    assert "2005" < opened[0] <= "2010"
    assert "1970-01" not in shown
    assert "1984" not in shown


def test_columns_of_kernels_are_in_their_own_units(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"20{k % 20:02}-05-17,{20 + k % 50},{k % 50 / 50}" for k in range(600)]
    (tmp_path / "people.csv").write_text("\n".join(["since,age,cost", *lines]) + "\n")
    (tmp_path / "s.toml").write_text(
        '[schema]\nsince = { kind = "date", first = 2000-01-01, last = 2024-12-31 }\n'
        'age = { kind = "number", low = 10, high = 90 }\n'
    )
    line = ["fit", "people.csv", "--target", "cost", "--model", "kernel", "--epsilon", "20"]
    assert main([*line, "--schema", "s.toml", "--bounds-y", "0:1"]) == 0
    assert main(["report", "model.json", "-o", "model.html"]) == 0
    shown = Page((tmp_path / "model.html").read_text()).text
    since = re.search(r"since date (\d{4})-\S+ to (\d{4})", shown)
    assert since is not None
    assert "2000" <= since[1] < since[2] <= "2024"
    low, high = re.search(r"age number (\S+) to (\S+)", shown).groups()
    assert 10 <= float(low) < 40 < float(high) <= 90
    model = privlearn.load(tmp_path / "model.json")
    of_scaled, at = model.coef_[model.feature_map_.n_features_out :], 1
    assert Learned.of(model).coef[0, at] == pytest.approx(of_scaled[at] / (90 - 10))
