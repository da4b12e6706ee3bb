"""Public facts about columns: ranges, category lists, class labels. Never read off the data."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from privlearn.cli.errors import CommandError
from privlearn.schema import Category, Estimate, Ignore, Number
from privlearn.schema.kinds import Kind
from privlearn.schema.plain import kind_from

__all__ = ["Facts", "checked_norm", "parse_bounds", "parse_categories", "parse_range", "read_facts"]

Range = tuple[float, float]
PLAIN = Number()
SMALLEST, LARGEST = 1e-100, 1e100  # what products and quotients of facts can bear
KEYS = ("target", "columns", "classes", "data_norm", "bounds", "categories", "schema")


@dataclass(frozen=True)
class Facts:
    """What is declared about a file's columns.

    Attributes
    ----------
    bounds : dict
        Lowest and highest value of numeric columns; the target's may be among them.
    categories : dict
        All values that a text column may hold.
    target : str or None
        The column to predict.
    columns : tuple of str or None
        The columns to predict from; None means all others.
    classes : tuple of str or None
        All labels of a target that is no number.
    data_norm : float or None
        Largest Euclidean norm of an encoded row, the intercept's 1 included.
    schema : dict
        Kinds of columns in the words of `privlearn.schema`, where more is said than a range or a
        list.
    number : Number
        How numbers are written in columns of which the schema does not say it, and in the target.
    estimate: bool
        Whether it is found out what columns are of which nothing is said; else they are numbers.
    """

    bounds: dict[str, Range] = field(default_factory=dict)
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    target: str | None = None
    columns: tuple[str, ...] | None = None
    classes: tuple[str, ...] | None = None
    data_norm: float | None = None
    schema: dict[str, Kind | Ignore] = field(default_factory=dict)
    number: Number = PLAIN
    estimate: bool = False

    def __post_init__(self) -> None:
        both = sorted(set(self.bounds) & set(self.categories))
        if both:
            raise CommandError(
                f"column {both[0]!r} has bounds and categories; give bounds to numbers and "
                "categories to text"
            )
        twice = sorted(set(self.schema) & {*self.bounds, *self.categories})
        if twice and isinstance(self.schema[twice[0]], Ignore):
            raise CommandError(
                f"column {twice[0]!r} is ignored, but has bounds or categories; keep one"
            )
        if twice:
            raise CommandError(
                f"column {twice[0]!r} is in [schema] and in [bounds] or [categories]; keep one"
            )

    @property
    def kinds(self) -> dict[str, Kind | Ignore]:
        """All that is declared about columns, by name."""
        numbers = {
            name: replace(self.number, low=low, high=high)
            for name, (low, high) in self.bounds.items()
        }
        lists = {name: Category(values) for name, values in self.categories.items()}
        return numbers | lists | {name: self._written(kind) for name, kind in self.schema.items()}

    @property
    def rest(self) -> Kind:
        """What columns are of which nothing is said."""
        rest = self._written(Estimate()) if self.estimate else self.number
        assert isinstance(rest, Kind)
        return rest

    def _written(self, kind: Kind | Ignore) -> Kind | Ignore:
        """The kind, with the notation of all numbers where it has none of its own."""
        if not isinstance(kind, Number | Estimate) or kind.rule is not None:
            return kind
        return replace(
            kind,
            decimal=self.number.decimal,
            thousands=self.number.thousands,
            currency=self.number.currency,
            percent=self.number.percent,
        )

    def updated(self, other: Facts) -> Facts:
        """These facts, where `other` says nothing else."""
        single = {
            key: getattr(other, key)
            for key in ("target", "columns", "classes", "data_norm")
            if getattr(other, key) is not None
        }
        said = set(other.kinds)
        about = ("bounds", "categories", "schema")
        single |= {
            key: {k: v for k, v in getattr(self, key).items() if k not in said}
            | getattr(other, key)
            for key in about
        }
        return replace(self, **single)


def parse_range(text: str) -> Range:
    """Read ``LOW:HIGH``.

    Examples
    --------
    >>> parse_range("17:90")
    (17.0, 90.0)
    """
    parts = text.split(":")
    try:
        low, high = (float(part) for part in parts)
    except ValueError:
        remedy = "write two numbers LOW:HIGH, for example 0:100"
        raise CommandError(f"{text!r} is no range; {remedy}") from None
    return _range((low, high), text)


def _range(pair: Range, text: str) -> Range:
    low, high = pair
    if not (low < high and math.isfinite(high - low)):
        raise CommandError(f"the range {text} needs two finite numbers, the lower one first")
    if max(-low, high) > LARGEST or high - low < SMALLEST:
        raise CommandError(
            f"the range {text} is too wide or too narrow to calculate with: numbers up to "
            f"{LARGEST:g} and widths from {SMALLEST:g} can be used; change the column's unit"
        )
    return low, high


def checked_norm(norm: float) -> float:
    """A norm with which one can calculate."""
    if not SMALLEST <= norm <= LARGEST:
        raise CommandError(
            f"the norm {norm:g} cannot be used; it must lie between {SMALLEST:g} and {LARGEST:g}"
        )
    return norm


def parse_bounds(text: str) -> tuple[str, Range]:
    """Read ``COLUMN=LOW:HIGH``.

    Examples
    --------
    >>> parse_bounds("age=17:90")
    ('age', (17.0, 90.0))
    """
    name, equals, numbers = text.rpartition("=")
    if not (equals and name.strip()):
        raise CommandError(f"--bounds {text} names no column; write --bounds COLUMN=LOW:HIGH")
    return name.strip(), parse_range(numbers)


def parse_categories(text: str) -> tuple[str, tuple[str, ...]]:
    """Read ``COLUMN=A,B,C``.

    Examples
    --------
    >>> parse_categories("sex=male,female")
    ('sex', ('male', 'female'))
    """
    name, equals, values = text.partition("=")
    if not (equals and name.strip()):
        raise CommandError(f"--categories {text} names no column; write --categories COLUMN=A,B,C")
    return name.strip(), _distinct(values.split(","), f"--categories {text}")


def _distinct(values: list[str], where: str) -> tuple[str, ...]:
    stripped = tuple(value.strip() for value in values)
    if len(stripped) < 2 or "" in stripped or len(set(stripped)) < len(stripped):
        raise CommandError(f"{where} needs two or more different values, for example no,yes")
    return stripped


def read_facts(path: str | Path) -> Facts:
    """Read a schema file (TOML)."""
    content = _toml(path)
    unknown = sorted(set(content) - set(KEYS))
    if unknown:
        raise CommandError(
            f"the schema file {path} has the entry {unknown[0]!r}, which is unknown; "
            f"there are: {', '.join(KEYS)}"
        )
    return _facts(content, str(path))


def _toml(path: str | Path) -> dict[str, Any]:
    """The file's entries. Its text is not quoted: it may be a file with data, given by mistake."""
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        problem = f"cannot be read: {error.strerror}; give a TOML file, such as --template makes"
    except UnicodeDecodeError:
        problem = "is not UTF-8 text; save it as UTF-8"
    except (ValueError, RecursionError) as error:
        place = re.search(r"\(at [^()]*\)$", str(error))
        problem = (
            f"is not valid TOML {place[0] if place else '(anywhere)'}. A template: privlearn plan "
            "--template DATA.csv --target COLUMN"
        )
    raise CommandError(f"the schema file {path} {problem}")


def _facts(content: Mapping[str, Any], path: str) -> Facts:
    norm = content.get("data_norm")
    if norm is not None and not _is_number(norm):
        raise CommandError(f"data_norm in {path} is no number; write data_norm = 2.5")
    lists = dict(_section(content, "categories", path))
    return Facts(
        bounds={
            k: _toml_range(k, v, path)
            for k, v in _section(content, "bounds", path)
            if v != []  # as the template has it: not known
        },
        categories={
            k: _distinct(_texts(k, v, path), f"{k!r} in {path}")
            for k, v in lists.items()
            if not isinstance(v, dict)
        },
        target=None if "target" not in content else str(content["target"]),
        columns=_optional_texts(content, "columns", path),
        classes=_optional_texts(content, "classes", path),
        data_norm=None if norm is None else checked_norm(_float(norm)),
        schema=_described(content, lists, path),
    )


def _described(
    content: Mapping[str, Any], lists: Mapping[str, Any], path: str
) -> dict[str, Kind | Ignore]:
    """Columns of [schema], and those of [categories] that say more than a list."""
    found = {k: _kind(k, v, path) for k, v in _section(content, "schema", path)}
    for name, value in lists.items():
        if isinstance(value, dict):
            if name in found:
                raise CommandError(f"column {name!r} is in [schema] and in [categories]; keep one")
            found[name] = _kind(name, {"kind": Category.word} | value, path)
    return found


def _kind(name: str, value: object, path: str) -> Kind | Ignore:
    """An entry in the words of `privlearn.schema`."""
    example = '{ kind = "number", low = 0, high = 100, missing = "fill" }'
    problem = f"is no table; write for example {example}"
    if isinstance(value, dict):
        try:
            return kind_from(value)
        except (TypeError, ValueError) as error:
            problem = f"cannot be used: {error}"
    raise CommandError(f"{name!r} in [schema] of {path} {problem}")


def _section(content: Mapping[str, Any], key: str, path: str) -> list[tuple[str, Any]]:
    section = content.get(key, {})
    if not isinstance(section, dict):
        raise CommandError(
            f"{key} in {path} is no table; write a line [{key}] and below it columns"
        )
    return list(section.items())


def _toml_range(name: str, value: object, path: str) -> Range:
    if not (isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))):
        raise CommandError(
            f"the bounds of {name!r} in {path} are no pair of numbers; write for example "
            f"{name} = [0, 100], or {name} = [] where nothing is known"
        )
    return _range((_float(value[0]), _float(value[1])), f"of {name!r} in {path}")


def _float(value: float) -> float:
    """A number of the file; whole ones may be longer than any float."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _texts(name: str, value: object, path: str) -> list[str]:
    if not isinstance(value, list):
        raise CommandError(
            f'{name!r} in {path} is no list; write for example ["no", "yes"], or in [categories] '
            '{ values = ["no", "yes"], other = true }'
        )
    return [str(item) for item in value]


def _optional_texts(content: Mapping[str, Any], key: str, path: str) -> tuple[str, ...] | None:
    return tuple(_texts(key, content[key], path)) if key in content else None
