"""`python -m benchmarks`: list, run or redraw components."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable

from benchmarks.harness.components import Component, discover, run
from benchmarks.harness.needs import Options, one_thread


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks; 0 when every component ran or said why it cannot."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.one_thread:
        one_thread()
    options = Options(asked.quick, asked.seeds, asked.fetch, asked.redraw, asked.one_thread)
    components = discover()
    chosen = _choose(components, asked.names)
    if isinstance(chosen, str):
        parser.error(chosen)
    act = _describe if asked.list else run
    failed = [component.name for component in chosen if not _succeeds(act, component, options)]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _succeeds(act: Callable, component: Component, options: Options) -> bool:
    """Print what `act` says; an error is shown and does not keep the others from running."""
    try:
        print(act(component, options), flush=True)
    except Exception:
        print(f"{component.name}: failed", flush=True)
        traceback.print_exc()
        return False
    return True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Benchmarks of privlearn.")
    add = parser.add_argument
    add("names", nargs="*", help="components such as speed/moments, or groups such as speed")
    add("--list", action="store_true", help="list components and what they lack, run nothing")
    add("--quick", action="store_true", help="a short version, into benchmarks/results/quick")
    add("--seeds", type=_positive, help="seeds, or rounds of timing, instead of the usual number")
    add("--redraw", action="store_true", help="tables and figures again, from stored results")
    add("--one-thread", action="store_true", help="CPU time of one thread: for busy machines")
    add("--fetch", action="store_true", help="download data sets that are not here from OpenML")
    return parser


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} given, but a whole number from 1 on is needed")
    return int(text)


def _choose(components: dict[str, Component], names: list[str]) -> list[Component] | str:
    """The components of these names and groups, all without names; or what is wrong."""
    if not names:
        return list(components.values())
    chosen: dict[str, Component] = {}
    for name in names:
        found = {k: c for k, c in components.items() if k == name or k.startswith(f"{name}/")}
        if not found:
            return f"there is no component {name!r}; there are {', '.join(components)}"
        chosen |= found
    return list(chosen.values())


def _describe(component: Component, options: Options) -> str:
    reasons = component.reasons(options)
    lacking = f"  [cannot run: {'; '.join(reasons)}]" if reasons else ""
    return f"{component.name:<16} {component.title}{lacking}"


if __name__ == "__main__":
    sys.exit(main())
