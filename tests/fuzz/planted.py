"""Secrets that are planted in data, and whether a text holds one, in any usual spelling."""

from __future__ import annotations

import random
import re
import struct

HASHES = re.compile(rb"[0-9a-f]{32,}")  # keys and seals: any seven digits are in some of them
TOKEN = re.compile(r"\d[\d_]*(?:,\d{3})*\.?\d*(?:[eE][-+]?\d+)?")
LARGE_DIGITS, SMALL_DIGITS = 4, 6  # significant digits at which a number is taken for quoted


class Pick:
    """Choices of one example, written down; `random.Random` or hypothesis makes them."""

    def __init__(self, source):
        self.source = source
        self.story = []

    def __call__(self, what, options):
        """One of a list, or a key of a dictionary whose value is returned."""
        names = list(options)
        chosen = names[self.source.randrange(len(names))]
        self.story.append(f"{what}={chosen!r}"[:70])
        return options[chosen] if isinstance(options, dict) else chosen

    def chance(self, percent):
        return self.source.randrange(100) < percent

    def between(self, low, high):
        return self.source.randrange(low, high + 1)

    def told(self):
        return ", ".join(self.story)


class Secrets:
    """Numbers and words that are nowhere but in the data."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self.large_numbers, self.small_numbers, self.words = [], [], []
        self.outcome = "?"  # of the example that they are planted in

    def large(self):
        number = round(self._random.uniform(1.1e6, 9.9e6), 4)
        self.large_numbers.append(number)
        return number

    def small(self):
        number = round(self._random.uniform(0.1, 1.0), 12)
        self.small_numbers.append(number)
        return number

    def whole(self):
        return int(self._kept(self._random.randrange(1_000_003, 9_999_999)))

    def word(self):
        mark = f"{self._random.getrandbits(40):010x}"
        self.words.append(mark)
        return f"SECRET-{mark}"

    def _kept(self, number):
        self.large_numbers.append(float(number))
        return number

    def also(self, number):
        """Another number that must not be quoted either, such as a numerator."""
        return self._kept(number)

    def spelled(self, word):
        """Another word that must not be quoted."""
        self.words.append(word.lower())
        return word

    def found_in(self, text, noisy=False):
        """The first secret that a text holds, or None; `noisy` texts hold random numbers too."""
        lower = text.lower()
        for word in self.words:
            if word in lower:
                return word
        for token in TOKEN.findall(text):
            found = self._quoted(token.replace(",", "").replace("_", ""), noisy)
            if found is not None:
                return found
        return None

    def _quoted(self, token, noisy):
        mantissa, _, exponent = token.lower().partition("e")
        digits = mantissa.replace(".", "").lstrip("0")
        if len(digits) < LARGE_DIGITS:
            return None
        try:
            value = float(token)
        except (ValueError, OverflowError):
            return None
        decimals = len(mantissa.partition(".")[2])
        unit = 10.0 ** max(-300, min(300, int(exponent or 0) - decimals))
        kinds = [(self.large_numbers, LARGE_DIGITS)]
        if not noisy:
            kinds.append((self.small_numbers, SMALL_DIGITS))
        for numbers, least in kinds:
            if len(digits) >= least:
                for number in numbers:
                    if abs(value - number) <= 0.51 * unit or 0 <= number - value < unit:
                        return number
        return None

    def found_in_bytes(self, content):
        """The first secret in a file, as text or as the bytes of a number."""
        content = HASHES.sub(b"", content)
        lower = content.lower()
        for word in self.words:
            if word.encode() in lower:
                return word
        for number in self.large_numbers:
            spelled = (repr(number).encode(), str(int(number)).encode())
            if any(some in content for some in spelled):
                return number
            if struct.pack("<d", number) in content or struct.pack(">d", number) in content:
                return number
        return None
