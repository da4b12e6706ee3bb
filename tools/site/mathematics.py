"""Mathematics set at build time: nothing is left for the reader's browser to fetch or to run.

Formulas between dollar signs become MathML, which browsers draw by themselves. The notes beside the
code are written in plain letters (mu^2, eps_1, x <= y), so that they can be read in an editor; on
the site these get their signs, indices and exponents.
"""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

__all__ = ["drawn", "set_plain"]

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "epsilon": "ε",
    "eta": "η", "kappa": "κ", "lambda": "λ", "mu": "μ", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "theta": "θ", "phi": "φ", "Phi": "Φ", "omega": "ω", "chi": "χ",
}  # fmt: skip
SIGNS = {
    "&lt;=": "≤", "&gt;=": "≥", "!=": "≠", "&lt;-": "←", "-&gt;": "→", " - ": " − ",
    "sqrt(": "√(",
}  # fmt: skip
WORD = "|".join(sorted(GREEK, key=len, reverse=True))
NAME = rf"(?:{WORD}|[A-Za-z])"
# A letter, whatever its index and exponent are; a lone a, A or I is a word of English.
SYMBOL = re.compile(
    rf"(?<![\w'’.&#-])(?P<name>{NAME})(?P<prime>'(?!\w))?(?:_(?P<down>\{{[^{{}}]*\}}|\w{{1,5}}))?"
    rf"(?P<prime2>'(?!\w))?(?![\w;])"
)
POWER = re.compile(r"\^(\{[^{}]*\}|\([^()]*\)|-?[\d.]+|-?\w+)")
TAG = re.compile(r"(<[^>]+>)")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.S)


def drawn(page: str) -> str:
    """A page of HTML in which every formula between dollar signs is MathML."""

    def mathml(match: re.Match) -> str:
        block = "block" if match.group(1) == "div" else "inline"
        made = convert(html.unescape(match.group(2)).strip(), display=block)
        return made if block == "inline" else f'<div class="formula" tabindex="0">{made}</div>'

    return FORMULA.sub(mathml, page)


def set_plain(page: str) -> str:
    """A page of HTML in which plain formulas outside code have signs, indices and exponents."""
    out, closed_until = [], None
    for part in TAG.split(page):
        if part.startswith("<"):
            name = re.match(r"</?(\w+)", part)
            word = name.group(1) if name else ""
            if closed_until is None and word in ("code", "pre", "math", "script", "style"):
                closed_until = f"</{word}>"
            elif part == closed_until:
                closed_until = None
            out.append(part)
        else:
            out.append(part if closed_until else _set(part))
    return "".join(out)


def _set(text: str) -> str:
    for plain, sign in SIGNS.items():
        text = text.replace(plain, sign)
    text = SYMBOL.sub(_symbol, text)
    return POWER.sub(lambda match: f"<sup>{_inner(match.group(1))}</sup>", text)


def _symbol(match: re.Match) -> str:
    name, down = match.group("name"), match.group("down")
    primes = "′" * sum(bool(match.group(one)) for one in ("prime", "prime2"))
    if name in ("a", "A", "I") and not down and not primes:
        return match.group(0)
    index = f"<sub>{_inner(down)}</sub>" if down else ""
    return f"<i>{GREEK.get(name, name)}</i>{index}{primes}"


def _inner(text: str) -> str:
    """What stands in an index or an exponent, without its braces."""
    bare = text[1:-1] if text[0] == "{" else text
    return re.sub(rf"\b({WORD})\b", lambda m: GREEK[m.group(1)], bare).replace(" - ", " − ")
