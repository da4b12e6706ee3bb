"""Which of the fast tests `make test-oldest` runs: the libraries' versions decide nothing else.

Something of every file is run. Where libraries are met (containers are read, scikit-learn's
contract, certificates, files, packaging, documentation) that is everything; of files that look at
our own texts, arithmetic or planted bugs it is one test; elsewhere every function, with every third
of its cases. Audits are run on every estimator, and on every solver under every relation; that each
estimator gets the same numbers from each solver is seen by the golden fits, all of which are run.
"""

from __future__ import annotations

from collections import Counter

from selection import covering, fast_configurations

EVERY_THIRD = 3
LIBRARIES = (
    "data/",
    "datasets/",
    "golden/",
    "schema/",
    "cli/test_cli_files.py",
    "cli/test_cli_verify.py",
    "core/test_certificate_file.py",
    "test_docs.py",
    "test_no_cache.py",
    "test_packaging.py",
    "test_public_names.py",
    "conformance/test_every_estimator.py::test_scikit_learn_contract",
    "conformance/test_every_estimator.py::test_rows_are_read_one_by_one",
)
OURS = (
    "accounting/",
    "benchmarks/",
    "mutants/",
    "papers/",
    "test_glossary.py",
    "test_habits.py",
    "test_layers.py",
    "test_no_clocks.py",
    "test_nouns.py",
    "test_selection.py",
)
AUDIT = "conformance/test_every_estimator.py::test_audit["
AUDITED = (("estimator",), ("solver", "relation"))


def chosen(names):
    """Those of the tests' names that are run, in their order; names begin below the folder `tests`.

    Examples
    --------
    >>> chosen(["data/test_a.py::test_b[1]", "data/test_a.py::test_b[2]"])
    ['data/test_a.py::test_b[1]', 'data/test_a.py::test_b[2]']
    >>> chosen([f"core/test_a.py::test_b[{k}]" for k in range(5)])
    ['core/test_a.py::test_b[0]', 'core/test_a.py::test_b[3]']
    >>> chosen(["mutants/test_a.py::test_b", "mutants/test_a.py::test_c"])
    ['mutants/test_a.py::test_b']
    """
    audited = {name for name, _ in covering(fast_configurations(), AUDITED, ())}
    met: Counter[str] = Counter()
    return [name for name in names if _is_taken(name, met, audited)]


def _is_taken(name, met, audited):
    """Whether a test is run; `met` counts cases of a function, or tests of a file."""
    if name.startswith(LIBRARIES):
        return True
    if name.startswith(AUDIT):
        return name[len(AUDIT) : -1] in audited
    ours = name.startswith(OURS)
    family = name.partition("::" if ours else "[")[0]
    met[family] += 1
    return met[family] == 1 if ours else met[family] % EVERY_THIRD == 1
