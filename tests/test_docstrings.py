"""Every estimator says what all its parameters, attributes and methods are, in one place."""

import inspect
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.utils._param_validation import StrOptions

from privlearn._core.docstrings import ARGUMENTS, ATTRIBUTES, PARAMETERS, _parted, documented
from support import modules

HEADER = re.compile(r"([*\w]+) : (\S.*)")


def documented_classes():
    """Estimators, selectors and transformers: whatever is public and has `fit`."""
    found = {}
    for module in modules():
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing) and hasattr(thing, "fit") and hasattr(thing, "get_params"):
                found[name] = thing
    helpers = re.compile("Private|.*Mixin$")
    return [found[name] for name in sorted(found) if not helpers.match(name)]


CLASSES = documented_classes()
each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def made(cls, **given):
    wanted = {"n_components": 4, "k": 2} if "Random" in cls.__name__ else {"k": 2}
    known = inspect.signature(cls).parameters
    return cls(**{name: value for name, value in {**wanted, **given}.items() if name in known})


def sections(doc):
    return _parted(doc)[1]


def entries(section):
    """[(name, type, text)] of a section; every line must belong to one."""
    found = []
    for line in section.splitlines():
        if line.startswith("    "):
            found[-1][2].append(line.strip())
        else:
            name, kind = HEADER.fullmatch(line).groups()
            found.append((name, kind, []))
    return [(name, kind, " ".join(text)) for name, kind, text in found]


def is_sentence(text):
    return len(text.split()) >= 4 and text[0].isupper() and text.endswith(".")


def test_all_public_classes_are_looked_at():
    names = {cls.__name__ for cls in CLASSES}
    assert names >= {"LinearRegression", "LinearSVC", "KernelClassifier", "KendallSelector"}
    assert names >= {"SubLassoSelector", "RandomFourierFeatures", "RandomProjection"}


@each_class
def test_parameters_are_those_of_the_signature_in_its_order(cls):
    listed = entries(sections(cls.__doc__)["Parameters"])
    parameters = inspect.signature(cls).parameters
    assert [name for name, _, _ in listed] == list(parameters)
    assert {name for name, _, _ in listed} == set(made(cls).get_params())
    for name, kind, text in listed:
        kind, _, default = kind.partition(", default=")
        assert kind, name
        assert is_sentence(text), f"{name}: {text}"
        if parameters[name].default is inspect.Parameter.empty:
            assert not default
        else:
            assert eval(default) == parameters[name].default, name


@each_class
def test_choices_are_those_that_fit_accepts(cls):
    kinds = {name: kind for name, kind, _ in entries(sections(cls.__doc__)["Parameters"])}
    for name, allowed in cls._parameter_constraints.items():
        options = [one.options for one in allowed if isinstance(one, StrOptions)]
        if options:
            assert set(re.findall(r'"(\w+)"', kinds[name].partition("}")[0])) == options[0], name


def fitted(cls):
    """With names, and nothing declared, so that everything that can be estimated is."""
    random = np.random.default_rng(5)
    X = pd.DataFrame(random.uniform(0, 1, (400, 3)), columns=["a", "b", "c"])
    y = (X["a"] > 0.5).astype(int) if hasattr(cls, "classes") else X["a"] * 2.0
    with_few = {"n_components": 4} if "n_components" in inspect.signature(cls).parameters else {}
    return made(cls, epsilon=10.0, random_state=1, **with_few).fit(X, y)


@each_class
def test_attributes_are_those_that_a_fit_sets(cls):
    listed = entries(sections(cls.__doc__)["Attributes"])
    model = fitted(cls)
    computed = {name for name in dir(cls) if isinstance(getattr(cls, name, None), property)}
    learned = {
        name
        for name in {*vars(model), *computed}
        if name.endswith("_") and not name.startswith("_") and hasattr(model, name)
    }
    assert {name for name, _, _ in listed} == learned
    assert len(listed) == len(learned)
    for name, kind, text in listed:
        assert kind
        assert is_sentence(text), f"{name}: {text}"


@each_class
def test_there_are_examples_and_relatives(cls):
    found = sections(cls.__doc__)
    assert list(found)[:2] == ["Parameters", "Attributes"]
    assert ">>> " in found["Examples"]
    assert found["See Also"]
    for line in found["See Also"].splitlines():
        name = line.split(" : ")[0].rsplit(".", 1)[-1]
        assert name in {other.__name__ for other in CLASSES} - {cls.__name__}


def own_methods(cls):
    for name in dir(cls):
        method = inspect.unwrap(getattr(cls, name)) if not name.startswith("_") else None
        if inspect.isfunction(method) and method.__module__.startswith("privlearn"):
            yield method


@each_class
def test_methods_say_what_they_take_and_return(cls):
    seen = set()
    for method in own_methods(cls):
        seen.add(method.__name__)
        found = sections(method.__doc__)
        assert found["Returns"].strip(), method
        _, *parameters = inspect.signature(method).parameters.values()
        names = [str(one).split(":")[0].split("=")[0] for one in parameters]
        listed = entries(found.get("Parameters", ""))
        assert [name for name, _, _ in listed] == names, method
        for name, kind, text in listed:
            assert kind
            assert text.endswith("."), f"{method.__qualname__}, {name}"
    assert "fit" in seen


def test_no_docstring_sends_elsewhere_for_its_parameters():
    for cls in CLASSES:
        assert "As in `" not in sections(cls.__doc__)["Parameters"], cls


# The composer itself


class Base:
    """A base.

    Parameters
    ----------
    epsilon : float
        A text of the base's own.
    """


def test_own_texts_come_first_then_those_above_then_shared_ones():
    from dataclasses import dataclass

    @documented
    @dataclass(kw_only=True)
    class Middle(Base):
        """Its summary.

        Parameters
        ----------
        extra : int, default=99
            Nobody else has it.

        Notes
        -----
        Something.
        """

        epsilon: float = 1.0
        dataset: str | None = None
        extra: int = 3

    found = sections(Middle.__doc__)
    assert Middle.__doc__.startswith("Its summary.\n\nParameters\n----------\n")
    assert list(found) == ["Parameters", "Attributes", "Notes"]
    (epsilon, dataset, extra) = entries(found["Parameters"])
    assert epsilon == ("epsilon", "float, default=1.0", "A text of the base's own.")
    assert dataset[1] == "str or None, default=None"
    assert extra[1] == "int, default=3"  # of the signature, whatever the docstring says

    @documented
    @dataclass(kw_only=True)
    class Lower(Middle):
        """Below."""

        extra: int = 4

    assert entries(sections(Lower.__doc__)["Parameters"])[2] == (
        "extra",
        "int, default=4",
        extra[2],
    )


def test_a_parameter_without_a_text_is_refused():
    with pytest.raises(TypeError, match="method has no text about unheard_of; add one"):

        @documented
        def method(self, unheard_of):
            """What it does."""


def test_a_text_about_nothing_is_refused():
    with pytest.raises(TypeError, match="method has no z; leave it out"):

        @documented
        def method(self, X):
            """What it does.

            Parameters
            ----------
            z : int
                A parameter of the past.
            """


def test_every_shared_text_is_used():
    used = {"Parameters": set(), "Attributes": set(), "arguments": set()}
    for cls in CLASSES:
        for name in ("Parameters", "Attributes"):
            used[name] |= {text for _, _, text in entries(sections(cls.__doc__)[name])}
        for method in own_methods(cls):
            listed = entries(sections(method.__doc__).get("Parameters", ""))
            used["arguments"] |= {text for _, _, text in listed}
    shared = {"Parameters": PARAMETERS, "Attributes": ATTRIBUTES, "arguments": ARGUMENTS}
    for name, texts in shared.items():
        for parameter, _, text in entries(texts.strip()):
            assert text in used[name], parameter


STRIPPED = """
from dataclasses import dataclass
from privlearn._core.docstrings import documented
@documented
@dataclass
class Model:
    "A text that is not there."
    unheard_of: int = 0
    @documented
    def fit(self, unheard_of):
        "Nor is this."
print("Parameters" in (Model.__doc__ or ""), Model.fit.__doc__)
"""
EVERYTHING = """
from privlearn import KernelRegressor, LogisticRegression
from privlearn.feature_selection import KendallSelector
from privlearn.kernel_approximation import RandomProjection
print("Parameters" in (LogisticRegression.__doc__ or ""), LogisticRegression.fit.__doc__)
"""


@pytest.mark.parametrize("code", [STRIPPED, pytest.param(EVERYTHING, marks=pytest.mark.slow)])
def test_without_docstrings_everything_still_works(code):
    done = subprocess.run(
        [sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["False", "None"], done.stderr
