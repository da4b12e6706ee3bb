"""Gradient steps of logistic regression without privacy, on a GPU, in single precision."""

import time

__all__ = ["WAYS", "seconds_of_steps"]


def seconds_of_steps(gradient, passes):
    """Seconds of so many steps, one after the other: the least of three runs."""
    import torch

    found = []
    for _ in range(3):
        weights = torch.zeros(64, device="cuda")
        gradient(weights)
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(passes):
            weights = weights - 1e-8 * gradient(weights)
        torch.cuda.synchronize()
        found.append(time.perf_counter() - start)
    return min(found)


def _by_torch(X, y):
    """As one writes it; y is -1 and 1 in single precision from the start."""
    import torch

    signs = y.float() * 2.0 - 1.0

    def gradient(weights):
        slopes = -signs * torch.sigmoid(-signs * (X @ weights))
        return slopes @ X

    return gradient


def _compiled(X, y):
    import torch

    return torch.compile(_by_torch(X, y))


def _by_one_kernel(X, y):
    """Every row is read once."""
    import torch

    from benchmarks.harness.plain_kernel import plain_kernel

    signs, programs = y * 2 - 1, 132 * 4
    sums = torch.empty((programs, X.shape[1]), device="cuda")

    def gradient(weights):
        plain_kernel[(programs,)](
            X, signs, weights, sums, X.shape[0], WIDTH=X.shape[1], ROWS=128, num_warps=4
        )
        return sums.sum(dim=0)

    expected = _by_torch(X[:10_000], y[:10_000])(torch.ones(X.shape[1], device="cuda") / 8.0)
    plain_kernel[(programs,)](
        X, signs, torch.ones(X.shape[1], device="cuda") / 8.0, sums, 10_000,
        WIDTH=X.shape[1], ROWS=128, num_warps=4,
    )  # fmt: skip
    assert torch.allclose(sums.sum(dim=0), expected, rtol=1e-3, atol=0.5)
    return gradient


WAYS = {"torch": _by_torch, "torch, compiled": _compiled, "one kernel": _by_one_kernel}
