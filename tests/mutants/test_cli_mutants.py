"""Planted bugs in how the command reads and writes. Each must be caught by a test that is there."""

import csv
from pathlib import Path

import pytest

from cli import test_cli_files as files
from cli import test_cli_locality as locality
from cli import test_cli_texts as texts
from cli.test_cli_files import empty_ledger, folder, refused  # noqa: F401 (fixtures)
from privlearn._data import named_cells
from privlearn._data.cells import objects
from privlearn.cli import guard, header, outputs, parquet, paths, tables
from privlearn.cli.outputs import Output
from privlearn.schema import Number

BUGS = []


def caught_by(check):
    """Decorate a function that plants a bug with pytest's monkeypatch."""

    def planted(plant):
        BUGS.append((plant, check))
        return plant

    return planted


def dying(room):
    files.test_dying_leaves_the_whole_file_or_none(room["folder"], overwrite=False)


def dying_over_an_old_file(room):
    files.test_dying_leaves_the_whole_file_or_none(room["folder"], overwrite=True)


def clashes(path, way="name"):
    def check(room):
        run = files.test_outputs_are_nothing_that_the_command_needs
        run(room["refused"], room["folder"], "model", path, way)

    return check


def ledgers(room):
    files.test_a_ledger_is_known_by_its_content(room["refused"], room["folder"])


def replacing(room):
    files.test_only_overwrite_replaces(room["refused"], room["folder"])


def taken_late(room):
    run = files.test_a_name_taken_during_the_fit_is_not_replaced
    run(room["folder"], room["capsys"], room["monkeypatch"])


def full_disk(room):
    run = files.test_a_disk_that_fails
    run(room["folder"], room["capsys"], room["monkeypatch"], "write")


def records(record):
    return lambda room: texts.test_a_record_is_no_header(room["refused"], room["folder"], record)


def twice(room):
    texts.test_twice_the_same_name_is_told_by_place(room["refused"], room["folder"])


def quoting(room):
    texts.test_errors_of_libraries_are_not_shown(room["capsys"], room["monkeypatch"])


def one_line(line, k=1):
    def check(room):
        locality.check_csv(room["folder"], locality.LINES, k, [line], classifies=True)

    return check


def one_cell(name, cell):
    def check(room):
        run = locality.test_one_cell_of_a_parquet_file_changes_no_other.hypothesis.inner_test
        run(room["folder"], "pyarrow", name, 0, cell, classifies=True)

    return check


# Writing


@caught_by(dying)
@caught_by(dying_over_an_old_file)
def written_in_place(patch):
    def write(self, text):
        self._path.write_text("")
        descriptor = outputs.os.open(self._path, outputs.os.O_WRONLY)
        outputs.os.write(descriptor, text.encode())
        self.discard()

    patch.setattr(Output, "write", write)


@caught_by(dying)
def named_before_it_is_filled(patch):
    name = Output._name

    def early(self, room):
        name(self, self._part)

    patch.setattr(Output, "_take", early)
    patch.setattr(Output, "_name", lambda self, part: None)


@caught_by(replacing)
def names_are_not_looked_up(patch):
    patch.setattr(outputs.Path, "exists", lambda self: False)


@caught_by(taken_late)
def always_renamed(patch):
    patch.setattr(Output, "_name", lambda self, part: outputs.os.replace(part, self._path))


@caught_by(full_disk)
def reserved_after_the_charge(patch):
    """Nothing is opened before there is something to write."""
    reserve = Output.__init__
    write = Output.write

    def later(self, path, **how):
        self.given, self._how, self._part, self._descriptor = str(path), how, None, -1

    def late(self, text):
        reserve(self, self.given, **self._how)
        write(self, text)

    patch.setattr(Output, "__init__", later)
    patch.setattr(Output, "write", late)


@caught_by(full_disk)
def no_room_is_taken(patch):
    patch.setattr(Output, "_take", lambda self, room: None)


# Paths


@caught_by(clashes("people.csv"))
def no_path_is_compared(patch):
    patch.setattr(paths, "_same", lambda one, other: False)


@caught_by(clashes("people.csv", "dots"))
@caught_by(clashes("people.csv", "hard"))
@caught_by(clashes("schema.toml", "soft"))
def paths_are_compared_as_written(patch):
    patch.setattr(paths, "_same", lambda one, other: one == other)


@caught_by(clashes("l.ledger-wal"))
def what_lies_beside_a_ledger_is_forgotten(patch):
    patch.setattr(paths, "BESIDE", ())


@caught_by(ledgers)
def ledgers_are_not_recognised(patch):
    patch.setattr(paths, "_has_mark", lambda path: False)


# Headers and texts


@caught_by(records("30,900"))
@caught_by(records("Smith,1999-12-31"))
def any_line_is_a_header(patch):
    patch.setattr(header, "looks_like_data", lambda name: False)


@caught_by(records("Smith,,north"))
def gaps_are_names(patch):
    patch.setattr(header, "_has_gaps", lambda names: False)


@caught_by(twice)
def names_are_quoted_when_refused(patch):
    def quoting(path, names):
        raise header.CommandError(f"{names} hold a name twice")

    patch.setattr(header, "checked_names", quoting)


@caught_by(quoting)
def every_text_is_shown(patch):
    patch.setattr(guard, "on_purpose", lambda error: True)


# Rows


@caught_by(one_line(b'30,1,1,"male,yes'))
@caught_by(one_line(b""))
@caught_by(one_line(b"30,\xff,1,male,yes"))
def rows_are_logical_lines(patch):
    def rows(self, remedy):
        with Path(self.path).open(newline="", encoding="utf-8") as file:
            for cells in list(filter(None, csv.reader(file)))[1:]:
                yield cells if len(cells) == len(self.names) else [""] * len(self.names)

    patch.setattr(tables.CsvSource, "_rows", rows)


@caught_by(one_line(b"30,1"))
def broken_lines_are_left_out(patch):
    rows = tables.CsvSource._rows
    patch.setattr(tables.CsvSource, "_rows", lambda self, remedy: filter(any, rows(self, remedy)))


@caught_by(one_line(b"30,\xff,1,male,yes"))
def faults_end_the_run(patch):
    patch.setattr(tables, "cells_of", lambda line, separator, _: line.decode().split(separator))


@caught_by(one_line(b"word,1,1,male,yes"))
def one_word_makes_a_column_unusable(patch):
    cell_by_cell = Number.read

    def whole(self, cells):
        odd = any(isinstance(cell, str) and cell.strip() == "word" for cell in cells.tolist())
        return cell_by_cell(self, cells) * (float("nan") if odd else 1.0)

    def whole_texts(texts):
        return whole(Number(), objects(texts))

    patch.setattr(Number, "read", whole)
    patch.setattr(tables, "_numbers", whole_texts)


@caught_by(one_cell("label", None))
def labels_are_written_by_the_type_of_their_column(patch):
    def by_type(series):
        column = series.to_native().to_pandas()  # a gap makes floats of whole numbers
        return objects(None if cell != cell else str(cell) for cell in column)

    patch.setattr(parquet, "cells_of_series", by_type)


@caught_by(one_cell("age", 2**53 + 3))
def a_library_casts_the_column(patch):
    import narwhals.stable.v1 as nw

    def cast(series):
        if not series.dtype.is_numeric():
            return named_cells.cells_of_series(series)
        return series.cast(nw.Float64).to_numpy().copy()

    patch.setattr(parquet, "cells_of_series", cast)


NUMBERED = [f"{plant.__name__}-{k}" for k, (plant, _) in enumerate(BUGS)]


@pytest.fixture
def room(folder, refused, capsys, monkeypatch):  # noqa: F811
    return {"folder": folder, "refused": refused, "capsys": capsys, "monkeypatch": monkeypatch}


@pytest.mark.parametrize(("plant", "check"), BUGS, ids=NUMBERED)
def test_planted_bugs_are_caught(plant, check, room):
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        with pytest.raises((Exception, pytest.fail.Exception)):
            check(room)


@pytest.mark.parametrize("check", [check for _, check in BUGS], ids=NUMBERED)
def test_it_is_the_bug_that_fails(check, room):
    check(room)
