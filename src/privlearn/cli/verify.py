"""`privlearn verify`: does a certificate add up? Nothing but its file is needed."""

from __future__ import annotations

import argparse
from pathlib import Path

from privlearn._core.certificate_check import Checked, check_certificate
from privlearn._core.certificate_file import load
from privlearn._core.certificate_page import blocks, is_page
from privlearn._core.harmless import harmless
from privlearn.cli.errors import CommandError

__all__ = ["add_options", "run"]

EXAMPLE = """\
examples:
  the certificate inside a model
    privlearn verify wage.json
  a certificate that was sent to you (model.privacy_.to_json())
    privlearn verify certificate.json
  those inside a report (model.report("model.html"))
    privlearn verify model.html

Nothing is believed: sensitivities, noise and cost are computed again from what the file declares,
and the cost a second time by dp_accounting where it is installed: pip install dp-accounting
"""
NOT_CHECKED = (
    "not checked: that the fit made these releases and no others, and what it assumes (see above)"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.description = "Computes everything that a certificate says again, from the file alone."
    parser.epilog = EXAMPLE
    parser.add_argument(
        "file", help="a certificate, or a model (JSON) or a report (HTML) that holds one"
    )


def run(args: argparse.Namespace) -> int:
    """Check the file and say what was checked; 1 if it does not hold."""
    for title, checked in _checked(args.file):
        but = "" if checked.certificate.private else ", but the fit is NOT PRIVATE"
        print(f"{args.file}: the certificate{title} holds{but}")
        for name, text in _lines(checked):
            print(f"  {name:<12} {harmless(text, 'terminal')}")
    print(NOT_CHECKED)
    return 0


def _checked(file: str) -> list[tuple[str, Checked]]:
    """All certificates of a file, a report may have several; what does not hold is an error."""
    text, found = _text(file), []
    try:
        parts = blocks(text) if is_page(text) else [text]
        for k, part in enumerate(parts):
            found.append((f" of scores {k}" if k else "", check_certificate(load(part))))
    except ValueError as error:
        problems = [str(error)]
    else:
        problems = [problem for _, checked in found for problem in checked.problems]
    if problems:
        raise CommandError(f"{file} does not hold: {harmless('; '.join(problems), 'terminal')}")
    return found


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
