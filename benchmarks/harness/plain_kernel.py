"""One pass of logistic regression without privacy, in single precision, in one kernel."""

import triton
import triton.language as tl


@triton.jit
def plain_kernel(X, y, weights, sums, n, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """Sums of gradients for each program: every row is read once, in tables of full width."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    column, row = tl.arange(0, WIDTH), tl.arange(0, ROWS)
    own, total = tl.load(weights + column), tl.zeros((WIDTH,), tl.float32)
    for t in tl.range(program, tl.cdiv(n, ROWS), programs, num_stages=3):
        place = tl.cast(t, tl.int64) * ROWS + row
        inside = place < n
        x = tl.load(X + place[:, None] * WIDTH + column[None, :], mask=inside[:, None], other=0.0)
        sign = tl.load(y + place, mask=inside, other=0).to(tl.float32)
        score = tl.sum(x * own[None, :], axis=1)
        slope = -sign / (1.0 + tl.exp(sign * score))
        total += tl.sum(x * slope[:, None], axis=0)
    tl.store(sums + program * WIDTH + column, total)
