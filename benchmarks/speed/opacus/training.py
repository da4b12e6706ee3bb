"""Logistic regression by DP-SGD with Opacus, as its users write it, and as fast as it goes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import chain, islice, repeat

import numpy as np

__all__ = ["Training", "configurations", "train"]


@dataclass(frozen=True)
class Training:
    """What both libraries are asked to do: everything that fixes the amount of work."""

    steps: int
    batch_size: int
    step_size: float
    clip: float
    noise_multiplier: float


def configurations():
    """How Opacus can be used: (name, way to per-row gradients, whether rows are read at once)."""
    return (
        ("as documented", "hooks", False),
        ("functorch", "functorch", False),
        ("ghost clipping", "ghost", False),
        ("rows read at once", "hooks", True),
        ("ghost clipping, rows read at once", "ghost", True),
    )


def train(X, y, training, *, mode="hooks", at_once=False, seed=0):
    """Train from zero, without an intercept, and return the coefficients."""
    import torch

    torch.manual_seed(seed)
    model = torch.nn.Linear(X.shape[1], 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=training.step_size)
    loader = _loader(X, y, training.batch_size, at_once)
    model, optimizer, criterion, loader = _private(model, optimizer, loader, training, mode)
    batches = chain.from_iterable(repeat(loader))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Full backward hook is firing")
        for rows, labels in islice(batches, training.steps):
            optimizer.zero_grad()
            criterion(model(rows).squeeze(1), labels).backward()
            optimizer.step()
    return next(model.parameters()).detach().numpy().ravel().astype(float)


def _private(model, optimizer, loader, training, mode):
    import torch
    from opacus import PrivacyEngine

    criterion = torch.nn.BCEWithLogitsLoss()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Secure RNG turned off")
        engine = PrivacyEngine()
    made = engine.make_private(
        module=model,
        optimizer=optimizer,
        criterion=criterion,
        data_loader=loader,
        noise_multiplier=training.noise_multiplier,
        max_grad_norm=training.clip,
        poisson_sampling=True,
        grad_sample_mode=mode,
    )
    if len(made) == 3:
        model, optimizer, loader = made
        return model, optimizer, criterion, loader
    return made


def _loader(X, y, batch_size, at_once):
    """A usual loader; Opacus turns its batches into Poisson batches of rate 1/len(loader)."""
    import torch

    tensors = (torch.from_numpy(X.astype(np.float32)), torch.from_numpy(y.astype(np.float32)))
    if at_once:
        dataset, collate = _RowsAtOnce(tensors), _as_it_is
    else:
        dataset, collate = torch.utils.data.TensorDataset(*tensors), None
    return torch.utils.data.DataLoader(
        dataset, batch_size=batch_size, shuffle=True, drop_last=True, collate_fn=collate
    )


class _RowsAtOnce:
    """A data set that is asked for all rows of a batch in one call."""

    def __init__(self, tensors):
        self.tensors = tensors

    def __len__(self):
        return len(self.tensors[0])

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __getitems__(self, indices):
        return self[indices]


def _as_it_is(batch):
    return batch
