"""What people type first, and what is said then."""

import pytest

from privlearn.cli import main

ROWS = "patient,age,length_of_stay\n" + "".join(
    f"P{k // 2},{20 + k % 60},{k % 9}\n" for k in range(2_000)
)
FIT = ("fit", "stays.csv", "--target", "length_of_stay", "--epsilon", "1")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stays.csv").write_text(ROWS)
    return tmp_path


@pytest.fixture
def told(capsys):
    """Run a command, and return what it said on either stream."""

    def run(*line, status=1):
        try:
            found = main([*line])
        except SystemExit as stopped:
            found = stopped.code
        seen = capsys.readouterr()
        assert found == status, seen.err
        return seen.err if status else seen.out + seen.err

    return run


@pytest.mark.parametrize("words", [["--eps", "1"], ["--eps=1"]])
def test_a_shortened_option_is_named(told, words):
    """Not only the option that is missing then."""
    text = told("fit", "stays.csv", "--target", "age", *words, status=2)
    assert "required: --epsilon; --eps is unknown: did you mean '--epsilon'?" in text
    assert "unknown: did you mean '--max-rows'?" in told(*FIT, "--max-row", "2", status=2)
    assert "is unknown" not in told("fit", "stays.csv", status=2)


def test_a_target_by_its_initials(told):
    text = told("fit", "stays.csv", "--target", "los", "--epsilon", "1")
    assert "did you mean 'length_of_stay'?" in text


def test_names_are_listed_where_one_of_them_was_given(told):
    """Else the first line may be a record, and is not shown."""
    line = ["fit", "stays.csv", "--target", "pay", "--epsilon", "1"]
    text = told(*line)
    assert "None of them is like it: look at that line" in text
    assert "length_of_stay" not in text
    for more in (["--ignore", "patient"], ["--person", "patient", "--max-rows", "2"]):
        assert "age, length_of_stay" in told(*line, *more)


def test_scores_say_that_nobody_counts(told):
    told(*FIT, "--ignore", "patient", status=0)
    score = ("evaluate", "model.json", "stays.csv", "--epsilon", "1", "--bounds-y", "0:9")
    assert "note: no ledger is charged; if people of the fit" in told(*score, status=0)
    ledger = ("--ledger", "a.ledger", "--dataset", "d", "--ledger-epsilon", "3")
    assert "no ledger" not in told(*score, *ledger, status=0)


def test_scores_of_rows_of_a_model_of_people_are_warned_of(told):
    told(*FIT, "--person", "patient", "--max-rows", "2", status=0)
    score = ("evaluate", "model.json", "stays.csv", "--epsilon", "1", "--bounds-y", "0:9")
    text = told(*score, status=0)
    assert "privlearn: warning: the model was fitted to people" in text
    assert "--person COLUMN --max-rows K" in text
    assert "fitted to people" not in told(*score, "--person", "patient", "--max-rows=2", status=0)


def test_rows_after_people_in_a_ledger(told):
    ledger = ("--ledger", "a.ledger", "--dataset", "d", "--ledger-epsilon", "3", "--overwrite")
    told(*FIT, *ledger, "--person", "patient", "--max-rows", "2", status=0)
    text = told(*FIT, *ledger, "--ignore", "patient")
    assert "(on the command line: --person patient) and max_rows_per_person (--max-rows)" in text


def test_people_after_rows_in_a_ledger(told):
    ledger = ("--ledger", "a.ledger", "--dataset", "d", "--ledger-epsilon", "3", "--overwrite")
    told(*FIT, *ledger, "--ignore", "patient", status=0)
    text = told(*FIT, *ledger, "--person", "patient", "--max-rows", "2")
    assert "fit without groups (on the command line: without --person)" in text
    assert "only other people's rows may be charged to a data set of their own" in text


def test_columns_that_contribute_nothing_are_named(told, folder):
    """And nothing is divided by a standard error that is not there."""
    lines = [f"P{k},{k % 7},{k / 3:.2f} EUR\n".replace(".", ",") for k in range(900)]
    lines = [line.replace(",", ".", 2).replace(".", ",", 2) for line in lines]
    rows = ["patient;length_of_stay;costs\n", *(line.replace(",", ";", 2) for line in lines)]
    (folder / "stays.csv").write_text("".join(rows))
    more = ("--ignore", "patient", "--schema", "estimate", "--intervals")
    text = told(*FIT, *more, status=0)
    assert "privlearn: warning: no value of 'costs' was frequent enough" in text
    assert "declare it in a schema" in text
    assert "divide" not in text


ENTRIES = '[schema]\n{}age = {{ kind = "number", low = 0, high = 99 }}\n'


@pytest.mark.parametrize("kind", ["number", "ignore", "category"])
def test_a_schema_may_have_the_column_of_ids(told, folder, kind):
    """As the template does; it is left out."""
    (folder / "all.toml").write_text(ENTRIES.format(f'patient = {{ kind = "{kind}" }}\n'))
    (folder / "bare.toml").write_text(ENTRIES.format(""))
    people = ("--epsilon", "1", "--person", "patient", "--max-rows", "2")
    target = ("--target", "length_of_stay")
    facts = ("--bounds-y", "0:9", *people)
    plans = [
        told("plan", "--rows", "1000", *target, "--schema", f, *facts, status=0)
        for f in ("all.toml", "bare.toml")
    ]
    assert plans[0] == plans[1]
    told("fit", "stays.csv", *target, "--schema", "all.toml", *facts, status=0)
    assert '"patient"' not in (folder / "model.json").read_text().split('"certificate"')[0]
    told("evaluate", "model.json", "stays.csv", *people, status=0)


def test_a_plan_of_people_needs_to_know_how_many_rows_count(told):
    line = ("plan", "--rows", "1000", "--features", "2", "--epsilon", "1", "--person", "patient")
    assert "how many rows of one person count?" in told(*line)
    line = ("plan", "--rows", "1000", "--epsilon", "1", "--person", "age", "--max-rows", "2")
    assert "is the column of ids" in told(*line, "--bounds", "age=0:99")
