"""A kernel that reads memory and does nothing else, to compare others with."""

import triton
import triton.language as tl


@triton.jit
def read_kernel(words, sums, count, SIZE: tl.constexpr):
    """Sum of all words, modulo 2^32, for each program."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    total = tl.zeros((SIZE,), tl.int32)
    for t in range(program, tl.cdiv(count, SIZE), programs):
        place = tl.cast(t, tl.int64) * SIZE + tl.arange(0, SIZE)
        total += tl.load(words + place, mask=place < count, other=0)
    tl.store(sums + program, tl.sum(total))
