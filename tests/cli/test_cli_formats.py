"""Files as they come: packed, piped, in other encodings; and files that are none of ours."""

import bz2
import gzip
import io
import json
import lzma
import sys
import zipfile

import pytest

from privlearn.cli import main
from privlearn.cli.dialect import Dialect
from privlearn.cli.tables import open_source

ROWS = "age,sex,wage\n30,male,900\n41,female,700\n52,male,800\n"
FACTS = ["--bounds", "age=17:90", "--categories", "sex=male,female", "--bounds-y", "0:2000"]
TARGET = ["--target", "wage", "--epsilon", "1", "--solver", "moments"]
SECRET = "Xaverius"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def piped(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def cells(path, dialect=None, remedy=None):
    source = open_source(path, dialect or Dialect())
    found = [table.columns for table in source.tables(source.names, remedy=remedy)]
    return {name: [cell for part in found for cell in part[name]] for name in source.names}


# Packed files and standard input


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "-"])
def test_what_is_packed_is_known_by_its_bytes(folder, monkeypatch, pack, name):
    data = pack(ROWS.encode())
    (folder / "rows.csv").write_bytes(data)
    (folder / "rows.csv.gz").write_bytes(data)
    piped(monkeypatch, data)
    assert cells(name) == {
        "age": ["30", "41", "52"],
        "sex": ["male", "female", "male"],
        "wage": ["900", "700", "800"],
    }


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("kept", [0.7, 30])
def test_packed_files_that_are_cut_off(folder, capsys, pack, kept):
    data = pack((ROWS * 500).encode())
    size = kept if isinstance(kept, int) else int(kept * len(data))
    (folder / "rows.csv").write_bytes(data[:size])
    assert main(["fit", "rows.csv", *TARGET, *FACTS]) == 1
    assert "rows.csv cannot be read: it is packed, and damaged" in capsys.readouterr().err


def test_standard_input_is_read_once(folder, monkeypatch, capsys):
    (folder / "new.csv").write_text("age,sex\n30,male\n")
    line = ["fit", "-", *TARGET, *FACTS]
    assert main([*line, "--predict", "-", "--predictions", "p.csv"]) == 1
    assert "are both standard input (-), which is read once" in capsys.readouterr().err
    piped(monkeypatch, ROWS.encode())
    assert main([*line, "--predict", "new.csv", "--predictions", "p.csv"]) == 0
    piped(monkeypatch, b"sex,age\nmale,30\n")
    capsys.readouterr()
    assert main(["predict", "model.json", "-"]) == 0
    assert capsys.readouterr().out == (folder / "p.csv").read_text()


# Separators, encodings and names, by the header alone


@pytest.mark.parametrize("mark", [";", "\t", "|", ","])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_the_header_tells_separator_and_encoding(folder, capsys, mark, encoding):
    text = "größe,name\n1,é\n2,ü\n".replace(",", mark)
    (folder / "rows.csv").write_bytes(text.encode(encoding))
    assert cells("rows.csv") == {"größe": ["1", "2"], "name": ["é", "ü"]}
    note = capsys.readouterr().err
    assert ("--separator" in note) == (mark != ",")
    assert ("--encoding" in note) == (encoding == "cp1252")


def test_records_tell_nothing(folder):
    """What a record holds changes neither the separator nor the encoding of the others."""
    (folder / "rows.csv").write_bytes(b"a,b\n1;2;3;4,5\n\xe9,6\n7,\xc3\xa9\n")
    assert cells("rows.csv") == {"a": ["1;2;3;4", "", "7"], "b": ["5", "", "é"]}
    found = cells("rows.csv", Dialect(encoding="latin-1"))
    assert found == {"a": ["1;2;3;4", "é", "7"], "b": ["5", "6", "Ã©"]}


def test_an_encoding_that_is_wrong_is_told_with_the_option(folder, capsys):
    (folder / "rows.csv").write_bytes((ROWS + "1,é,3\n").encode("latin-1"))
    assert main(["fit", "rows.csv", *TARGET, *FACTS]) == 1
    assert "text that is not UTF-8; add --encoding" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["utf-16", "utf-7", "cp037", "rot13", "iso2022_jp", "no such"])
def test_encodings_that_are_no_lines_of_bytes(capsys, name):
    with pytest.raises(SystemExit):
        main(["fit", "rows.csv", *TARGET, "--encoding", name])
    text = capsys.readouterr().err
    assert "iconv -f" in text or "is no known encoding; write for example utf-8" in text


def test_names_by_option(folder, capsys):
    (folder / "rows.csv").write_text("1,2\n3,4\n")
    assert main(["fit", "rows.csv", "--target", "b", "--epsilon", "1"]) == 1
    assert "--names A,B,..., and --no-header" in capsys.readouterr().err
    assert cells("rows.csv", Dialect(names=("a", "b"))) == {"a": ["3"], "b": ["4"]}
    whole = Dialect(names=("a", "b"), header=False)
    assert cells("rows.csv", whole) == {"a": ["1", "3"], "b": ["2", "4"]}
    assert main(["fit", "rows.csv", "--target", "b", "--epsilon", "1", "--no-header"]) == 1
    assert "add the names of all columns: --names" in capsys.readouterr().err
    assert main(["fit", "rows.csv", "--target", "b", "--epsilon", "1", "--names", "a,b,c"]) == 1
    assert "--names has 3 names, but the first line of rows.csv has 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    "first",
    [b"%PDF", b"\x1f\x8b", b"BZh9", b"PK\x03\x04", b"\xff\xfe", b"", b"1,2,3", b"a\0b", b'"'],
)
def test_without_a_header_a_first_record_decides_nothing(folder, first):
    (folder / "rows.csv").write_bytes(first + b"\n3;4,5\n6,7\n")
    found = cells("rows.csv", Dialect(names=("a", "b"), header=False))
    assert found == {"a": ["", "3;4", "6"], "b": ["", "5", "7"]}


def test_without_a_header_the_name_tells_what_is_packed(folder):
    dialect = Dialect(names=("a", "b"), header=False)
    for pack, end in ((gzip.compress, "gz"), (bz2.compress, "bz2"), (lzma.compress, "xz")):
        (folder / f"rows.csv.{end}").write_bytes(pack(b"1,2\n"))
        assert cells(f"rows.csv.{end}", dialect) == {"a": ["1"], "b": ["2"]}


def test_duplicate_names_by_option(folder, capsys):
    (folder / "rows.csv").write_text("a,b,a\n1,2,3\n")
    assert main(["fit", "rows.csv", "--target", "b", "--epsilon", "1"]) == 1
    assert "add --rename-duplicates" in capsys.readouterr().err
    assert cells("rows.csv", Dialect(rename=True)) == {
        "a": ["1"],
        "b": ["2"],
        "a (column 3)": ["3"],
    }


# Line breaks in quotes


def test_quoted_newlines_by_option(folder):
    (folder / "rows.csv").write_bytes(b'a,b\r\n1,"x\r\ny, ""z"""\r\n2,"u\n\nv"\r\n3,w\r\n')
    found = cells("rows.csv", Dialect(line_breaks=True))
    assert found == {"a": ["1", "2", "3"], "b": ['x\ny, "z"', "u\n\nv", "w"]}
    assert len(cells("rows.csv")["a"]) == 6  # without it, a line is a row


def test_a_quote_without_a_partner_is_a_line_of_its_own(folder):
    (folder / "rows.csv").write_bytes(b'a,b\n1,"x\n2,y\n3,z\n')
    found = cells("rows.csv", Dialect(line_breaks=True))
    assert found == {"a": ["", "2", "3"], "b": ["", "y", "z"]}


# What is no CSV file


def xlsx(folder):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as book:
        book.writestr("[Content_Types].xml", SECRET)
        book.writestr("xl/workbook.xml", SECRET)
    return data.getvalue()


def a_zip(folder):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("people.csv", SECRET)
    return data.getvalue()


RECORD = f"{SECRET},1\n".encode()
FILES = {
    "book.xlsx": (xlsx, "a workbook of Excel"),
    "book.csv": (xlsx, "'CSV UTF-8 (Comma delimited)'"),
    "old.xls": (lambda _: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + RECORD, "a workbook of Excel"),
    "old.dat": (lambda _: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + RECORD, "a workbook of Excel"),
    "sheet.ods": (a_zip, "a workbook of a spreadsheet program"),
    "people.zip": (a_zip, "a zip archive; unpack it (unzip people.zip)"),
    "report.pdf": (lambda _: b"%PDF-1.7\n" + RECORD, "a PDF, which is no table"),
    "utf16.csv": (lambda _: ROWS.encode("utf-16"), "iconv -f UTF-16 -t UTF-8 utf16.csv"),
    "utf16le.csv": (lambda _: ROWS.encode("utf-16-le"), "iconv -f UTF-16"),
    "page.csv": (lambda _: b"<!DOCTYPE html>" + RECORD, "a web page"),
    "rows.json": (lambda _: b'[{"name": "' + RECORD, "JSON, which is no table"),
    "table.csv": (lambda _: b"PAR1" + RECORD, "a name that ends in .parquet"),
    "data.csv": (lambda _: b"SQLite format 3\0" + RECORD, "export the table as CSV"),
    "empty.csv": (lambda _: b"", "is empty; its first line must name the columns"),
    "blank.csv": (lambda _: b"\n" + RECORD, "is empty; its first line must name the columns"),
    "header.csv": (lambda _: b"age,sex,wage\n", "names its columns but has no rows"),
    "one.csv": (lambda _: b"wage\n1\n", "has no column besides the target"),
    "record.csv": (lambda _: RECORD, "and not like column names"),
    "mac.csv": (lambda _: ROWS.replace("\n", "\r").encode(), "tr '\\r' '\\n'"),
    "semi.csv": (lambda _: ROWS.replace(",", ";").encode(), "add --separator ';'"),
    "comma.csv": (lambda _: b'age,wage\n"1,5","2,5"\n', "--decimal , --thousands ."),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_none_of_ours(folder, capsys, name):
    make, words = FILES[name]
    (folder / name).write_bytes(make(folder))
    more = ["--separator", ","] if name == "semi.csv" else []
    assert main(["fit", name, *TARGET, *more]) == 1
    text = capsys.readouterr().err
    assert words in text
    assert SECRET not in text
    assert not (folder / "model.json").exists()


def test_the_target_misspelt_or_with_blanks(folder, capsys):
    (folder / "rows.csv").write_text("age,hours per week\n1,2\n")
    assert main(["fit", "rows.csv", "--target", "hours per wek", "--epsilon", "1"]) == 1
    assert "did you mean 'hours per week'?" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["fit", "rows.csv", "--epsilon", "1", "--target", "hours", "per", "week"])
    assert "a name with blanks needs quotes" in capsys.readouterr().err


def test_ids_are_told_how_to_be_used(folder, capsys):
    (folder / "rows.csv").write_text("patient id,age,wage\nA7,30,1\nA8,31,2\n")
    assert main(["fit", "rows.csv", *TARGET]) == 1
    text = capsys.readouterr().err
    assert "if it tells whose each row is: --person 'patient id' --max-rows 5; 5 stands for" in text
    assert "A7" not in text


# What a wide file takes


def test_parts_of_a_file_are_read_alike(folder, monkeypatch):
    from privlearn.cli import tables
    from privlearn.schema import Category, Number
    from privlearn.schema.encoding import Column, Encoding

    lines = ["a,b,c,d", "1,x,2,q", "x,y,True,q", "nan,,1e400,q", "1_0, x ,\u0663,q"]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = (Column("a", Number()), Column("b", Category(["x", "y"])), Column("c", Number(0, 9)))
    encoding, found = Encoding(columns), []
    for most in (1, 7, 10_000):
        monkeypatch.setattr(tables, "AT_ONCE", most)
        X, rest = tables.read_encoded(open_source("rows.csv"), encoding, ["d"], remedy=None)
        assert rest.labels("d") == ["q"] * 4
        found.append(X.values.tobytes())
    whole = {name: tables.objects(values) for name, values in cells("rows.csv").items()}
    assert found == [encoding.encode(whole, 4).tobytes()] * 3


def test_many_columns(folder, capsys):
    names = [f"x{k}" for k in range(1_200)]
    rows = [",".join(map(str, range(k, k + 1_201))) for k in range(5)]
    (folder / "wide.csv").write_text("\n".join([",".join(["y", *names]), *rows]) + "\n")
    assert main(["fit", "wide.csv", "--target", "y", "--epsilon", "1"]) == 0
    text = capsys.readouterr().out
    assert "and 201 more, which are in model.json" in text
    assert len(json.loads((folder / "model.json").read_text())["columns"]) == 1_200
