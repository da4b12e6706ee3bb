"""Sums that travel: the same numbers behind masks, and damage that is noticed."""

import numpy as np
import pytest

from privlearn._data import masked
from privlearn.exceptions import PlanViolationError

KEY, OTHER = bytes(range(32)), bytes(32)


@pytest.mark.parametrize(
    "parts",
    [
        [[0, -1, 2**100], [5, -(2**64), -(2**100)], [2**32 - 1, 2**95, -1]],
        [np.array([[1.0, 2.0**52]]), np.array([[3.0, 0.0]]), np.array([[0.0, 1.0]])],
        [np.array([-5, 2**62]), np.array([4, -1]), np.array([0, -(2**61)])],
    ],
    ids=["Python's integers", "counts", "words"],
)
def test_masked_sums_are_the_sums(parts):
    expected = [sum(own) for own in zip(*parts, strict=True)]
    words = [masked.as_words(part) for part in parts]
    size = len(words[0])
    sent = [own + masked.mask(KEY, place, size) for place, own in enumerate(words)]
    total = sum(sent) - masked.total_mask(KEY, range(3), size)
    found = masked.from_words(total, parts[0])
    assert np.array_equal(found, expected) if isinstance(found, np.ndarray) else found == expected
    both = zip(sent, words, strict=True)
    assert all(set(own.tolist()).isdisjoint(one.tolist()) for own, one in both)


def test_what_is_no_sum_of_whole_numbers_is_refused():
    for wrong in (np.array([0.5]), [2**200]):
        with pytest.raises(PlanViolationError):
            masked.as_words(wrong)


def test_masks_belong_to_a_key_and_a_place():
    masks = [masked.mask(KEY, 0, 8), masked.mask(KEY, 1, 8), masked.mask(OTHER, 0, 8)]
    assert len({one.tobytes() for one in masks}) == 3
    assert np.array_equal(masks[0], masked.mask(KEY, 0, 8))


@pytest.mark.parametrize("place", [0, 31, 32, -1])
def test_a_changed_bit_is_noticed(place):
    for sent, read in (
        (masked.stamped(KEY, np.arange(4, dtype=np.uint64)), lambda x: masked.checked(KEY, x)),
        (masked.sealed(KEY, 3, {"a": 1}), lambda x: masked.opened(KEY, 3, x)),
    ):
        read(sent)
        damaged = bytearray(sent)
        damaged[place] ^= 1
        with pytest.raises(masked.DamagedError):
            read(bytes(damaged))


def test_what_is_sealed_is_read_with_its_key_and_place_alone():
    text = "somebody's label"
    sent = masked.sealed(KEY, 3, text)
    assert text.encode() not in sent
    assert masked.opened(KEY, 3, sent) == text
    for key, place in ((OTHER, 3), (KEY, 4)):
        with pytest.raises(masked.DamagedError):
            masked.opened(key, place, sent)
