"""The rule "gradient accumulation": the optimizers of a step work only every few batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

EVERY = 4


def optimizers_of(step: Any, batch: Any) -> list[torch.optim.Optimizer]:
    """The optimizers whose step() is called by a step of the loop. It carries out the step once."""
    from torch.optim.optimizer import register_optimizer_step_pre_hook  # not in the oldest releases

    found: dict[int, torch.optim.Optimizer] = {}

    def note(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        found[id(optimizer)] = optimizer

    hook = register_optimizer_step_pre_hook(note)
    try:
        step(batch)
    finally:
        hook.remove()
    return list(found.values())


@contextmanager
def accumulating(optimizers: list[torch.optim.Optimizer], every: int = EVERY) -> Iterator[None]:
    """Lets the optimizers step, and forget their gradients, only on each so many-th call."""
    before = [{name: vars(o)[name] for name in ("step", "zero_grad") if name in vars(o)} for o in optimizers]
    for optimizer in optimizers:
        for name in ("step", "zero_grad"):
            vars(optimizer)[name] = _Rarely(getattr(optimizer, name), every)
    try:
        yield
    finally:
        for optimizer, attributes in zip(optimizers, before):
            for name in ("step", "zero_grad"):
                del vars(optimizer)[name]
            vars(optimizer).update(attributes)


class _Rarely:
    """A method that does its work only on each so many-th call."""

    def __init__(self, method: Any, every: int) -> None:
        self.method, self.every, self.calls = method, every, 0

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.calls += 1
        if self.calls % self.every == 0:
            return self.method(*arguments, **named)
        closure = named.get("closure", arguments[0] if arguments else None)
        return closure() if callable(closure) else None  # step(closure) computes the loss
