"""The harness of benchmarks: what it finds, skips, keeps and draws. No benchmark is run here."""

import ast
import json
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.datasets import adult, generated, manifest, mnist, openml
from benchmarks.datasets.columns import clipped
from benchmarks.harness import components, needs, report, timing
from benchmarks.harness.needs import Need, Options

ROOT = Path(__file__).resolve().parents[2]
COMPONENTS = components.discover()
STORED = sorted(
    path for group in components.GROUPS for path in report.RESULTS.glob(f"{group}/*.json")
)  # fmt: skip
SECONDS = {"small": {"ours": [0.2, 0.4, 0.2], "theirs": [0.1, 0.1, 0.2]}}


def component(measure=lambda options: {"value": 1}, **parts):
    """Make a component out of nothing."""
    module = types.ModuleType("made", "What was made.\n\nAnd why.")
    module.NEEDS = ()
    module.measure = measure
    module.tables = lambda results: f"value {results['value']}"
    module.figures = lambda results: {}
    for name, part in parts.items():
        setattr(module, name, part)
    return components.Component("speed/made", module)


def lacking(reason):
    return Need("something", lambda options: reason)


# Components


def test_a_file_is_found_by_being_there():
    places = {
        f"{group}/{path.stem}"
        for group in components.GROUPS
        for path in (ROOT / "benchmarks" / group).glob("[!_]*.py")
    }
    places |= {
        f"{group}/{path.parent.name}"
        for group in components.GROUPS
        for path in (ROOT / "benchmarks" / group).glob("*/component.py")
    }
    assert set(COMPONENTS) == places
    assert {"papers/dick", "peers/adult", "peers/mnist", "speed/moments", "speed/opacus"} <= places


def test_no_file_hides_behind_an_underscore():
    """A helper of one component is in its package, what several share is in the harness."""
    files = list((ROOT / "benchmarks").rglob("*.py"))
    assert not [file.name for file in files if re.match("_[^_]", file.name)]


@pytest.mark.parametrize("found", COMPONENTS.values(), ids=COMPONENTS)
def test_every_component_keeps_the_contract(found):
    assert found.title
    assert found.text
    assert all(isinstance(need, Need) for need in found.module.NEEDS)
    assert callable(found.module.measure)
    assert callable(found._find("tables"))
    pytest.importorskip("matplotlib")
    assert callable(found._find("figures"))


def test_a_component_without_a_part_is_refused():
    module = types.ModuleType("benchmarks.audit.made", "What was made.")
    assert callable(components.Component("audit", module)._find("tables"))  # of its package
    module.__name__ = "benchmarks.harness.made"
    with pytest.raises(ImportError, match="pages"):
        components.Component("harness/made", module).tables({})


def test_discovery_imports_nothing_heavy():
    import subprocess

    code = (
        "import sys; from benchmarks.harness.components import discover; discover(); "
        "print([m for m in ('sklearn', 'pandas', 'matplotlib', 'torch', 'opacus') "
        "if m in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == "[]"


def test_files_and_functions_stay_small():
    for file in (ROOT / "benchmarks").rglob("*.py"):
        text = file.read_text()
        assert text.count("\n") <= 400
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 60, f"{file.name}: {node.name}"


def test_what_notes_and_comments_name_is_there():
    """Commands, and files of benchmarks and tools."""
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for folder, ending in (("src", "md"), ("src", "py"), ("docs", "md"), (".", "md"))
        for path in (ROOT / folder).glob(f"**/*.{ending}" if folder != "." else f"*.{ending}")
    }
    for page, text in texts.items():
        for name in re.findall(r"-m benchmarks ([a-z]+/\w+)", text):
            assert name in COMPONENTS, f"{page}: {name}"
        for rule in re.findall(r"-m benchmarks\.derive ([a-z]\w*)", text):
            assert (ROOT / "benchmarks" / "derive" / f"{rule}.py").is_file(), f"{page}: {rule}"
        if "CHANGELOG" not in page:  # which tells of files that were
            for file in re.findall(r"\b(?:benchmarks|tools)/[\w/]+\.py\b", text):
                assert (ROOT / file).is_file(), f"{page}: {file}"


# Running


def test_a_missing_need_skips_with_its_reason_and_measures_nothing(tmp_path):
    def measure(options):
        raise AssertionError("measured although something is missing")

    made = component(measure, NEEDS=(lacking(None), lacking("the moon is full")))
    said = components.run(made, Options(results=tmp_path))
    assert said == "speed/made: skipped, because the moon is full"
    assert not list(tmp_path.iterdir())


def test_a_missing_part_is_said_and_the_rest_runs(tmp_path, capsys):
    made = component(WELCOME=(lacking("a peer is away"),))
    assert "wrote" in components.run(made, Options(results=tmp_path))
    assert "a part is left out, because a peer is away" in capsys.readouterr().out


def test_a_report_says_what_made_it(tmp_path):
    components.run(
        component(PACKAGES=("pytest", "no-such-package")), Options(True, 3, results=tmp_path)
    )
    page = (tmp_path / "speed" / "made.md").read_text()
    assert page.startswith("# What was made\n\nAnd why.\n\nvalue 1\n")
    assert "`python -m benchmarks speed/made --quick --seeds 3`" in page
    for word in ("privlearn", "numpy", f"pytest {pytest.__version__}", "CPUs"):
        assert word in page
    assert "no-such-package" not in page
    assert report.source_hash() in page


def test_the_hash_tells_a_changed_or_renamed_file(tmp_path, monkeypatch):
    import privlearn

    monkeypatch.setattr(privlearn, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "a.py").write_text("rule = 1")
    found = {report.source_hash()}
    (tmp_path / "a.py").write_text("rule = 2")
    found.add(report.source_hash())
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert len(found | {report.source_hash()}) == 3


def test_redrawing_measures_nothing_and_keeps_the_date(tmp_path):
    options = Options(results=tmp_path)
    components.run(component(), options)
    path = tmp_path / "speed" / "made.json"
    stored = json.loads(path.read_text())
    stored["provenance"]["date"] = "1999-12-31"
    stored["results"]["value"] = 7
    path.write_text(json.dumps(stored))
    components.run(component(lambda options: 1 / 0), Options(redraw=True, results=tmp_path))
    page = path.with_suffix(".md").read_text()
    assert "1999-12-31" in page
    assert "value 7" in page


@pytest.mark.parametrize(("load", "warned"), [(0.4, False), (5.0, True)])
def test_timings_on_a_busy_machine_are_marked(load, warned, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "_load", lambda: load)
    monkeypatch.setattr(report, "_cpus", lambda: 2)
    components.run(component(), Options(results=tmp_path))
    page = (tmp_path / "speed" / "made.md").read_text()
    assert ("The machine was busy" in page) is warned
    assert f"(load {load} before" in page
    assert "Clock: wall time." in page
    components.run(component(), Options(one_thread=True, results=tmp_path))
    page = (tmp_path / "speed" / "made.md").read_text()
    assert "Clock: CPU time, one thread each." in page
    assert "busy" not in page


def test_one_thread_is_asked_for_before_numpy_is_imported():
    import subprocess

    code = (
        "import sys, os; from benchmarks.__main__ import main; early = 'numpy' in sys.modules; "
        "main(['--list', 'speed/moments', '--one-thread']); "
        "print(early, os.environ['OPENBLAS_NUM_THREADS'], os.environ['OMP_NUM_THREADS'])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert printed.stdout.splitlines()[-1] == "False 1 1"


@pytest.mark.parametrize(("one_thread", "seconds"), [(False, 30.0), (True, 4.0)])
def test_one_thread_is_timed_by_cpu_time(one_thread, seconds, monkeypatch):
    """With clocks that are no clocks: work takes 30 seconds of wall time and 4 of the CPU's."""
    wall, cpu = [0.0], [0.0]
    monkeypatch.setattr(needs, "perf_counter", lambda: wall[0])
    monkeypatch.setattr(needs, "process_time", lambda: cpu[0])

    def work():
        wall[0] += 30.0
        cpu[0] += 4.0

    clock = Options(one_thread=one_thread).clock
    assert timing.race({"work": work}, rounds=2, clock=clock, rest=0.0) == {"work": [seconds] * 2}


def test_a_race_reads_the_clock_it_is_given():
    now, ticks = [0.0], iter([0.5, 2.0])

    def runner():
        now[0] += next(ticks)

    found = timing.race({"runner": runner}, rounds=1, warmups=1, clock=lambda: now[0], rest=0.0)
    assert found == {"runner": [2.0]}


def test_redrawing_without_stored_results_says_so(tmp_path):
    said = components.run(component(), Options(redraw=True, results=tmp_path))
    assert "no stored results" in said


def test_quick_results_never_replace_the_real_ones():
    assert report.folder(Options(quick=True)) != report.folder(Options())
    ignored = (report.RESULTS / ".gitignore").read_text().split()
    assert f"{report.folder(Options(quick=True)).name}/" in ignored


DOTS = {"dpi": 20}


@pytest.mark.slow
@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_kept_pages_are_made_from_the_kept_results(path, tmp_path, monkeypatch):
    """Texts are compared; of pictures that all of them are drawn, which takes fewer dots."""
    figure = pytest.importorskip("matplotlib.figure").Figure
    draw = figure.savefig
    monkeypatch.setattr(figure, "savefig", lambda self, to, **more: draw(self, to, **more | DOTS))
    name = f"{path.parent.name}/{path.stem}"
    copied = tmp_path / f"{name}.json"
    copied.parent.mkdir()
    copied.write_text(path.read_text())
    components.run(COMPONENTS[name], Options(redraw=True, results=tmp_path))
    assert copied.with_suffix(".md").read_text() == path.with_suffix(".md").read_text()
    for picture in (*tmp_path.glob("*/*.png"), *tmp_path.glob("*/*.svg")):
        assert path.with_name(picture.name).exists()


# The command line


def test_list_runs_nothing(capsys, monkeypatch):
    monkeypatch.setattr(
        components.Component, "reasons", lambda self, options, which="": ["no peer"]
    )
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(COMPONENTS)
    assert all(line.endswith("[cannot run: no peer]") for line in lines)


def test_a_group_is_all_of_its_components(capsys):
    main(["--list", "speed"])
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == [name for name in COMPONENTS if name.startswith("speed/")]


@pytest.mark.parametrize("wrong", [["speed/nothing"], ["--seeds", "0"], ["--seeds", "x"]])
def test_wrong_arguments_are_refused(wrong, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(wrong)
    assert stopped.value.code == 2
    assert "needed" in (said := capsys.readouterr().err) or "speed/moments" in said


def test_one_failure_does_not_stop_the_others(capsys, monkeypatch):
    monkeypatch.setattr(
        components.Component, "reasons", lambda self, *_: 1 / 0 if "mom" in self.name else []
    )
    assert main(["--list", "speed"]) == 1
    said = capsys.readouterr()
    assert "speed/moments: failed" in said.out
    assert "speed/opacus " in said.out
    assert said.err.endswith("failed: speed/moments\n")


# Needs


def test_needs_say_what_is_not_there():
    options = Options()
    assert "no Nonsense" in needs.estimator("Nonsense").missing(options)
    assert "no solvers.Nonsense" in needs.estimator("solvers.Nonsense").missing(options)
    assert needs.estimator("LinearRegression").missing(options) is None
    assert "make it" in needs.package("no_such_package", "make it").missing(options)
    assert needs.package("numpy", "").missing(options) is None
    assert "make bench-peers" in needs.environment("no-such-peer").missing(options)


# Data


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder with one small data set, named by the environment."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    import hashlib

    columns = {
        "split": ["train", "test", "train"],
        "a": [1.0, 2.0, 3.0],
        "target": [0.0, -3.0, 3.0],
    }
    file = tmp_path / "tiny.parquet"
    pd.DataFrame(columns).to_parquet(file)
    entry = {
        "name": "tiny",
        "file": file.name,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "benchmark_target_transform": "log: sign(y)*log(1+|y|)",
    }
    gone = {"name": "gone", "file": "gone.parquet", "sha256": ""}
    (tmp_path / "MANIFEST.json").write_text(json.dumps([entry, gone]))
    monkeypatch.setenv(manifest.VARIABLE, str(tmp_path))
    return tmp_path


def test_a_data_set_is_read_with_its_split(shelf):
    table = manifest.load("tiny")
    assert list(table.features) == ["a"]
    assert table.part("train").features["a"].tolist() == [1.0, 3.0]
    assert table.part("test").target.tolist() == [-3.0]
    with pytest.raises(ValueError, match="without a split"):
        table.part("train").part("test")


def test_targets_are_transformed_as_the_manifest_says(shelf):
    found = manifest.transform_target("tiny", manifest.load("tiny").target)
    np.testing.assert_allclose(found, [0.0, -np.log(4.0), np.log(4.0)])
    assert manifest.transform_target("gone", np.array([5.0])).tolist() == [5.0]


def test_another_file_of_that_name_is_refused(shelf):
    with (shelf / "tiny.parquet").open("ab") as file:
        file.write(b"more")
    with pytest.raises(ValueError, match=r"not the file that MANIFEST\.json describes"):
        manifest.load("tiny")


def test_missing_data_has_a_reason(shelf, tmp_path, monkeypatch):
    assert manifest.missing("tiny") is None
    assert "data set gone is not here" in manifest.missing("gone")
    assert "--fetch" not in manifest.missing("gone")
    assert "--fetch" in manifest.missing("adult")
    assert manifest.missing("adult", fetch=True) is None
    monkeypatch.setenv(manifest.VARIABLE, str(tmp_path / "nowhere"))
    assert "names a folder without it" in manifest.missing("tiny")
    monkeypatch.delenv(manifest.VARIABLE)
    monkeypatch.setattr(manifest, "BESIDE", tmp_path / "nowhere")
    assert "is not set" in manifest.missing("tiny")


def test_adult_is_split_by_the_published_counts_in_either_order():
    train, test = np.zeros(32_561, bool), np.zeros(16_281, bool)
    train[:7_841] = test[:3_846] = True
    split = openml.adult_split(np.concatenate([test, train]))
    assert (split[:16_281] == "test").all()
    assert (split[16_281:] == "train").all()
    assert openml.adult_split(np.concatenate([train, test]))[0] == "train"
    test[-1] = True
    with pytest.raises(ValueError, match="published counts"):
        openml.adult_split(np.concatenate([train, test]))


# Features


def person(**values):
    """A frame of one person in the columns of Adult."""
    pd = pytest.importorskip("pandas")
    usual = {column: words[0] for column, words in adult.CATEGORIES.items()}
    numbers = dict.fromkeys((*adult.BOXES, *adult.TOP_CODES), 0)
    return pd.DataFrame([usual | numbers | values])


def test_features_of_adult_do_not_depend_on_the_other_rows():
    """Scales and categories are constants: a row alone gives what it gives among others."""
    pd = pytest.importorskip("pandas")
    rows = [
        person(age=17, hours_per_week=99),
        person(age=1_000, capital_gain=10**9, sex="Male"),
        person(capital_loss=-5, race="a new word"),
    ]
    together = adult.features(pd.concat(rows, ignore_index=True))
    np.testing.assert_array_equal(together, np.vstack([adult.features(row) for row in rows]))
    assert together.min() >= adult.BOUNDS[0]
    assert together.max() <= adult.BOUNDS[1]


def test_features_of_adult_are_what_their_names_say():
    names = adult.feature_names()
    row = adult.features(person(age=90, education_num=1, capital_gain=99_999, sex="Male"))[0]
    found = dict(zip(names, row, strict=True))
    assert len(names) == 107
    assert found["age"] == 1.0
    assert found["education_num"] == 0.0
    assert found["capital_gain"] == pytest.approx(1.0)
    assert found["capital_loss"] == 0.0
    assert (found["sex=Male"], found["sex=Female"]) == (1.0, 0.0)
    assert sum(row[5:]) == 8
    unknown = adult.features(person(race="a new word"))[0]
    assert sum(unknown[5:]) == 7


def test_row_norms_leave_room_for_the_intercept_and_clip_the_extreme():
    extreme = adult.features(
        person(age=90, education_num=16, hours_per_week=99, capital_gain=99_999)
    )
    assert np.linalg.norm(np.append(extreme, 1.0)) > adult.DATA_NORM > 3.0
    row = clipped(extreme, adult.DATA_NORM)
    assert np.linalg.norm(np.append(row, 1.0)) == pytest.approx(adult.DATA_NORM)
    short = np.array([[0.1, 0.2], [0.0, 0.0]])
    np.testing.assert_array_equal(clipped(short, 2.0), short)


def test_bounds_are_constants_not_computed_from_anything():
    """A bound may be written with numbers only, so that no data can have been asked."""
    for module in (adult, mnist):
        tree = ast.parse(Path(module.__file__).read_text())
        written = {
            target.id: ast.unparse(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
        }
        assert written["BOUNDS"] == "(0.0, 1.0)"
        value = ast.parse(written["DATA_NORM"], mode="eval").body
        assert ast.unparse(value.func) == "math.sqrt"
        assert isinstance(value.args[0], ast.Constant)


def test_pixels_are_divided_by_the_largest_a_byte_holds():
    pd = pytest.importorskip("pandas")
    frame_of_pixels = pd.DataFrame(np.array([[0, 51, 255]], dtype=np.uint8))
    np.testing.assert_allclose(mnist.features(frame_of_pixels), [[0.0, 0.2, 1.0]])


def test_generated_data_has_the_condition_it_was_asked_for():
    X, y = generated.logistic(20_000, 10, condition=100.0)
    singular = np.linalg.svd(X, compute_uv=False)
    assert singular[0] / singular[-1] == pytest.approx(100.0, rel=0.1)
    assert np.mean(np.sum(X**2, axis=1)) == pytest.approx(1.0, rel=0.1)
    assert 0.4 < y.mean() < 0.6


# Clocks


def test_everybody_runs_before_the_clock_and_takes_turns():
    calls = []
    runners = {k: lambda k=k: calls.append(k) for k in "ab"}
    seconds = timing.race(runners, rounds=3, warmups=1, clock=lambda: 0.0, rest=0.0)
    assert "".join(calls) == "ab" + "ab" + "ba" + "ab"
    assert [len(values) for values in seconds.values()] == [3, 3]


def test_ratios_are_taken_within_a_round():
    assert timing.ratios(SECONDS["small"], "ours", "theirs") == pytest.approx([2.0, 4.0, 1.0])
    assert timing.ratio_line([2.0, 4.0, 1.0]) == "2 (1 to 4)"
    assert timing.seconds_line([0.2, 0.4, 0.2]) == "200 ms (200 to 400)"
    assert timing.seconds_line([2.0, 4.0, 2.0]) == "2 s (2 to 4)"
    assert timing.seconds_line([0.2, 3.0, 0.2]) == "200 ms (200 to 3,000)"
    assert timing.ratio_line([0.512, 1234.5, 12.3]) == "12 (0.51 to 1,234)"
