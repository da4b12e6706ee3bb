"""`privlearn verify`: does a certificate add up? Nothing but its file is needed."""

from __future__ import annotations

import argparse
from pathlib import Path

from privlearn._core.certificate_check import Checked, check_certificate
from privlearn._core.certificate_file import load
from privlearn.cli.errors import CommandError

__all__ = ["add_options", "run"]

EXAMPLE = """\
examples:
  the certificate inside a model
    privlearn verify wage.json
  a certificate that was sent to you (model.privacy_.to_json())
    privlearn verify certificate.json

Nothing is believed: sensitivities, noise and cost are computed again from what the file declares,
and the cost a second time by dp_accounting where it is installed: pip install 'privlearn[verify]'
"""
NOT_CHECKED = (
    "not checked: that the fit made these releases and no others, and what it assumes (see above)"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.description = "Computes everything that a certificate says again, from the file alone."
    parser.epilog = EXAMPLE
    parser.add_argument("file", help="a certificate, or a model that holds one (JSON)")


def run(args: argparse.Namespace) -> int:
    """Check the file and say what was checked; 1 if it does not hold."""
    try:
        checked = check_certificate(load(_text(args.file)))
    except ValueError as error:
        problem = str(error)
    else:
        if checked.holds:
            print(f"{args.file}: the certificate holds")
            for name, text in _lines(checked):
                print(f"  {name:<12} {text}")
            print(NOT_CHECKED)
            return 0
        problem = "; ".join(checked.problems)
    raise CommandError(f"{args.file} does not hold: {problem}")


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(
            f"{path} cannot be read: {error.strerror}; give a model or a certificate (JSON)"
        ) from None
    except UnicodeDecodeError:
        raise CommandError(
            f"{path} is not text, so it holds no certificate; give a model or a certificate (JSON)"
        ) from None


def _lines(checked: Checked) -> list[tuple[str, str]]:
    certificate, plan = checked.certificate, checked.certificate.plan
    number, second = len(plan.releases), checked.no_second
    if checked.second is not None:
        second = f"epsilon = {checked.second.recomputed:.6g} by dp_accounting, written by others"
    return [
        ("made by", f"privlearn {certificate.version}"),
        ("promised", f"epsilon = {certificate.epsilon:g}, delta = {certificate.delta:g}"),
        ("adjacency", certificate.relation()),
        ("releases", f"{number}: sensitivity, noise, grid and share of each follow from what is"),
        ("", "declared (clip, norm, mechanism, sampling, count)"),
        *(("", line) for line in plan.describe()),
        ("spent", f"epsilon = {checked.spent:.6g} by our accountant, as the file says"),
        ("", second),
        *(("assumes", line) for line in certificate.assumptions),
        ("private", "yes" if certificate.private else "NO: random_state was set"),
    ]
