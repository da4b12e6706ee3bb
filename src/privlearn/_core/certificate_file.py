"""Certificates as plain values and back: what a file holds is enough to plan the releases again.

Writing is `declared`; reading is `plan_from_dict`. Both go through the same tables of mechanisms,
norms and samplers, and reading believes nothing: a field that is missing, of another kind or
unknown is a `ValueError` that names it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from privlearn._core.certificate_page import blocks, is_page
from privlearn._core.mechanisms import (
    GAUSSIAN,
    GUMBEL,
    LAPLACE,
    SPHERICAL,
    DepthDraw,
    DisjointParts,
    RandomTries,
)
from privlearn._core.mechanisms.frequent import FrequentValues
from privlearn._core.norms import NORMS, Norm
from privlearn._core.plan import STAGES, Plan, Release
from privlearn._core.problem import Adjacency
from privlearn._core.sampling import (
    Arriving,
    Disjoint,
    Full,
    Permuted,
    Poisson,
    WithReplacement,
)

__all__ = [
    "FIRST_FORMAT",
    "FORMAT",
    "KEYS",
    "OPTIONAL_KEYS",
    "RELEASE_KEYS",
    "SEEDED",
    "certificate_of",
    "declared",
    "load",
    "plan_from_dict",
]

FORMAT = "privlearn certificate 2"
FIRST_FORMAT = "privlearn certificate 1"  # "neighbors", no stages, shares always in mu^2
SEEDED = "random_state was set: whoever knows the seed can subtract the noise"

Values = Mapping[str, Any]
Kinds = dict[str, type[Any]]
Types = dict[str, type | tuple[type, ...]]

KEYS: Types = {
    "format": str,
    "version": str,
    "epsilon": float,
    "delta": float,
    "spent_epsilon": float,
    "spent_delta": float,
    "levels": list,
    "adjacency": str,
    "unit": str,
    "private": bool,
    "rows": (int, type(None)),
    "scale": float,
    "releases": list,
    "assumptions": list,
    "paper": str,
}
OPTIONAL_KEYS: Types = {"ledger_head": (str, type(None)), "rows_per_person": int}
UNITS = ("row", "person")
RELEASE_KEYS: Types = {
    "name": str,
    "stage": str,
    "mechanism": str,
    "shape": list,
    "clip": float,
    "norm": str,
    "noise_multiplier": float,
    "noise_scale": float,
    "sensitivity": float,
    "grid": float,
    "sampling": str,
    "count": int,
    "share": float,
    "released": int,
    "declared": dict,
}
OPTIONAL_RELEASE_KEYS: Types = {"threshold": float}  # of releases of frequent values
_DECLARED_KEYS: Types = {
    "mechanism": dict,
    "norm": dict,
    "sampling": dict,
    "weight": float,
    "level": (float, type(None)),
}
_NORM_KEYS: Types = {"diameter": float, "exponent": (float, str)}
_MOST = 1_000_000  # epochs: more would only keep whoever checks a file busy

_MECHANISMS: Kinds = {
    "gaussian": type(GAUSSIAN),
    "laplace": type(LAPLACE),
    "spherical": type(SPHERICAL),
    "gumbel": type(GUMBEL),
    "depth": DepthDraw,
    "tries": RandomTries,
    "parts": DisjointParts,
    "frequent": FrequentValues,
}
_SAMPLINGS: Kinds = {
    "full": Full,
    "poisson": Poisson,
    "arriving": Arriving,
    "disjoint": Disjoint,
    "permuted": Permuted,
    "with_replacement": WithReplacement,
}
_TYPES: Types = {"float": float, "int": int, "bool": bool}  # of their fields


# Writing


def declared(release: Release) -> dict[str, Any]:
    """What a plan says of one release beside its clip, shape and count, as plain values.

    Examples
    --------
    >>> declared(Release("sum", (3,), clip=1.0))["norm"]
    {'diameter': 2.0, 'exponent': 2.0}
    """
    exponent = release.norm.exponent
    return {
        "mechanism": _written(release.mechanism, _MECHANISMS),
        "norm": {
            "diameter": release.norm.diameter,
            "exponent": "inf" if math.isinf(exponent) else exponent,
        },
        "sampling": _written(release.sampling, _SAMPLINGS),
        "weight": release.weight,
        "level": release.level,
    }


def _written(thing: object, kinds: Kinds) -> dict[str, Any]:
    names = [name for name, kind in kinds.items() if kind is type(thing)]
    if not names:
        raise TypeError(
            f"a certificate cannot hold a {type(thing).__name__}; add it to certificate_file.py"
        )
    own = fields(kinds[names[0]])
    return {"kind": names[0]} | {each.name: getattr(thing, each.name) for each in own}


# Reading


def load(text: str) -> dict[str, Any]:
    """Read JSON that says one thing: no key twice, no NaN or Infinity; of a report, its own."""
    if is_page(text):
        text = blocks(text)[0]
    try:
        content = json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except json.JSONDecodeError:
        raise ValueError("this is not JSON; give a certificate's to_json(), or a file") from None
    except RecursionError:
        raise ValueError("this is nested too deeply to be a certificate") from None
    if not isinstance(content, dict):
        raise ValueError("this is JSON, but neither a certificate nor a model that holds one")
    return content


def certificate_of(content: Values) -> Values:
    """The certificate in what a file holds: all of it, or a part of a model's."""
    if str(content.get("format", "")).startswith("privlearn model"):
        found = content.get("certificate")
        if not isinstance(found, dict):
            raise ValueError("the model holds no certificate; it was changed or cut off")
        content = found
    return _upgraded(content) if content.get("format") == FIRST_FORMAT else content


def _upgraded(content: Values) -> Values:
    """A certificate of the first format as one of this: the same promise in today's words."""
    words = {"neighbors": "adjacency"}
    found = {words.get(key, key): value for key, value in content.items()}
    releases = content.get("releases")
    if isinstance(releases, list) and all(isinstance(each, Mapping) for each in releases):
        found["releases"] = [{"stage": STAGES[-1], **each} for each in releases]
    return found


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key stands twice in one object; no certificate is written like that")
    return content


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number; no certificate holds it")


def _checked(content: object, keys: Mapping[str, Any], where: str, optional: Values = {}) -> Values:  # noqa: B006
    """An object with exactly these keys and types of values."""
    if not isinstance(content, Mapping):
        raise ValueError(f"{where} is not an object with fields")
    for key, kinds in keys.items():
        if key not in content:
            raise ValueError(f"{where} lacks {key!r}, which is needed to check it")
        _check_type(content[key], kinds, key, where)
    for key in content:
        if key in optional:
            _check_type(content[key], optional[key], key, where)
        elif key not in keys:
            raise ValueError(f"{where} holds {key!r}, which this version does not know")
    return content


def _check_type(value: object, kinds: type | tuple[type, ...], key: str, where: str) -> None:
    allowed = kinds if isinstance(kinds, tuple) else (kinds,)
    if isinstance(value, bool):
        right = bool in allowed
    else:
        right = isinstance(value, allowed) or (float in allowed and isinstance(value, int))
    if not right or (isinstance(value, float) and not math.isfinite(value)):
        names = " or ".join("nothing" if k is type(None) else k.__name__ for k in allowed)
        raise ValueError(f"{key!r} of {where} is not of its kind ({names})")


def _check_format(content: Values) -> None:
    found = content.get("format")
    if found in (FORMAT, FIRST_FORMAT):
        return
    if isinstance(found, str) and found.startswith("privlearn certificate"):
        raise ValueError(
            f"this is a {found!r}, and this version reads {FORMAT!r}; update privlearn to check it"
        )
    raise ValueError(
        "this is no certificate of a known format (its 'format' is missing or unknown); "
        "certificates of privlearn before 0.1 held too little to be checked from the file alone"
    )


def _of_kind(content: object, kinds: Kinds, what: str, where: str) -> Any:  # noqa: ANN401
    """A mechanism or a sampler."""
    kind = content.get("kind") if isinstance(content, Mapping) else None
    if not isinstance(kind, str) or kind not in kinds:
        known = ", ".join(kinds)
        raise ValueError(f"{where} has an unknown kind of {what}; this version knows {known}")
    keys = {each.name: _TYPES[str(each.type)] for each in fields(kinds[kind])}
    values = _checked(content, {"kind": str} | keys, f"{what} of {where}")
    if values.get("epochs", 0) > _MOST:
        raise ValueError(f"{what} of {where} has more than {_MOST:,} epochs")
    if "delta" in keys and not 0 < values["delta"] < 1:
        raise ValueError(f"'delta' of {what} of {where} is no probability")
    return kinds[kind](**{key: values[key] for key in keys})


def _norm(content: object, name: str, where: str) -> Norm:
    values = _checked(content, _NORM_KEYS, f"the norm of {where}")
    exponent = math.inf if values["exponent"] == "inf" else values["exponent"]
    found = NORMS.get(name)
    if found is None:
        raise ValueError(f"{where} has an unknown norm; this version knows {', '.join(NORMS)}")
    if (values["diameter"], exponent) != (found.diameter, found.exponent):
        raise ValueError(
            f"{where} has the norm {name!r} with diameter {values['diameter']} and exponent "
            f"{values['exponent']}, but that norm has {found.diameter} and {found.exponent}"
        )
    return found


def _release(content: object, place: int) -> Release:
    values = _checked(content, RELEASE_KEYS, f"release number {place}", OPTIONAL_RELEASE_KEYS)
    where = f"release {values['name']!r}"
    own = _checked(values["declared"], _DECLARED_KEYS, f"'declared' of {where}")
    shape = values["shape"]
    if not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"'shape' of {where} is no list of lengths")
    if own["level"] is not None and not own["level"] > 0:
        raise ValueError(f"'level' of {where} is no epsilon")
    if values["stage"] not in STAGES:
        raise ValueError(f"'stage' of {where} is not one of {', '.join(STAGES)}")
    return Release(
        name=values["name"],
        shape=tuple(shape),
        clip=values["clip"],
        norm=_norm(own["norm"], values["norm"], where),
        mechanism=_of_kind(own["mechanism"], _MECHANISMS, "mechanism", where),
        sampling=_of_kind(own["sampling"], _SAMPLINGS, "sampling", where),
        count=values["count"],
        weight=own["weight"],
        level=own["level"],
        stage=values["stage"],
    )


def plan_from_dict(content: Values) -> Plan:
    """The plan that a certificate was made from, from what its file declares.

    Only what was declared is read. What follows from it (sensitivities, noise, price) is for
    `certificate_check` to compare.

    Parameters
    ----------
    content : dict
        What `Certificate.to_dict` gave, or JSON gave back.

    Examples
    --------
    >>> from privlearn._core.certificate import Certificate
    >>> from privlearn._core.problem import Budget, Adjacency
    >>> plan = Plan((Release("sum", (3,), clip=1.0),), Adjacency.ZERO_OUT, scale=4.3)
    >>> written = Certificate(plan, Budget(1.0, 1e-6), private=True, made={"sum": 1}).to_dict()
    >>> plan_from_dict(written) == plan
    True
    """
    _check_format(content)
    values = _checked(content, KEYS, "the certificate", OPTIONAL_KEYS)
    try:
        relation = Adjacency(values["adjacency"])
    except ValueError:
        known = ", ".join(relation.value for relation in Adjacency)
        raise ValueError(f"'adjacency' is not one of {known}") from None
    if not values["scale"] > 0:
        raise ValueError("'scale' of the certificate is not above 0")
    if not values["releases"]:
        raise ValueError("the certificate lists no release")
    _check_unit(values)
    return Plan(
        releases=tuple(_release(each, k) for k, each in enumerate(values["releases"], start=1)),
        adjacency=relation,
        scale=values["scale"],
        rows=values["rows"],
        assumptions=tuple(_texts(values["assumptions"], values["private"])),
        paper=values["paper"],
        rows_per_person=values.get("rows_per_person"),
    )


def _check_unit(values: Values) -> None:
    """People have a largest number of rows, and rows have none."""
    if values["unit"] not in UNITS:
        raise ValueError(f"'unit' of the certificate is not one of {', '.join(UNITS)}")
    if (values["unit"] == "person") is not ("rows_per_person" in values):
        raise ValueError(
            "'unit' and 'rows_per_person' contradict each other: a person has a largest number of "
            "rows that count, and a row has none"
        )


def _texts(assumptions: Sequence[object], private: bool) -> list[str]:
    """What was assumed, without the note about the seed, which must be where it belongs."""
    if not all(isinstance(text, str) for text in assumptions):
        raise ValueError("'assumptions' of the certificate is no list of texts")
    if (SEEDED in assumptions) is private:
        raise ValueError(
            "'private' and the note about random_state contradict each other; one was changed"
        )
    return [str(text) for text in assumptions if text != SEEDED]
