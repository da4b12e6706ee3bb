"""Is the generator ChaCha20? Published vectors, checked once per process before the first draw.

RFC 8439 fills the last four words of the state with a 32-bit counter and a 96-bit nonce.
`randomgen` has one 128-bit number there, counts it in 32-bit words of output (16 to a block), and
so starts at ``counter = 16 * (block counter + 2**32 * nonce)``, both read as little-endian numbers.
That must be below 2^128, which only forbids nonces whose last byte is 16 or more: every vector of
the block function in the RFC can be asked for.
"""

from __future__ import annotations

from typing import NamedTuple

from privlearn.exceptions import PrivacyError
from privlearn.noise.generator import KeyedGenerator

__all__ = ["BLOCKS", "Block", "check_generator", "keystream"]

_WORDS_PER_BLOCK = 8


class Block(NamedTuple):
    """One vector of the block function, in hexadecimal."""

    where: str
    key: str
    nonce: str
    counter: int
    output: str


_ZERO_KEY, _ZERO_NONCE = "00" * 32, "00" * 12

BLOCKS = (
    Block(
        "RFC 8439, section 2.3.2",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "000000090000004a00000000",
        1,
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    ),
    Block(
        "RFC 8439, appendix A.1, no. 1",
        _ZERO_KEY,
        _ZERO_NONCE,
        0,
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ),
    Block(
        "RFC 8439, appendix A.1, no. 2",
        _ZERO_KEY,
        _ZERO_NONCE,
        1,
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    ),
    Block(
        "RFC 8439, appendix A.1, no. 3",
        "00" * 31 + "01",
        _ZERO_NONCE,
        1,
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
    ),
    Block(
        "RFC 8439, appendix A.1, no. 4",
        "00ff" + "00" * 30,
        _ZERO_NONCE,
        2,
        "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
        "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
    ),
    Block(
        "RFC 8439, appendix A.1, no. 5",
        _ZERO_KEY,
        "00" * 11 + "02",
        0,
        "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
        "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d",
    ),
)

_checked = False


def keystream(key: bytes, nonce: bytes, counter: int, blocks: int = 1) -> bytes:
    """Return blocks of the key stream as RFC 8439 numbers them, from `randomgen`."""
    generator = KeyedGenerator(key, counter + (int.from_bytes(nonce, "little") << 32))
    output: bytes = generator.random_raw(_WORDS_PER_BLOCK * blocks).astype("<u8").tobytes()
    return output


def check_generator() -> None:
    """Compare the generator with the RFC, once per process; refuse to draw if it differs.

    Examples
    --------
    >>> check_generator()
    """
    global _checked
    if _checked:
        return
    for block in BLOCKS:
        found = keystream(bytes.fromhex(block.key), bytes.fromhex(block.nonce), block.counter)
        if found.hex() != block.output:
            raise PrivacyError(
                f"the random generator of the installed randomgen is not ChaCha20: {block.where} "
                "gives other numbers; nothing was drawn. Install randomgen again"
            )
    _checked = True
