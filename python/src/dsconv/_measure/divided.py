"""Whether an iterable dataset divides its samples between workers."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch.utils.data import DataLoader
from torch.utils.data._utils import worker

from dsconv._measure.random_state import undisturbed

# Of torch's WorkerInfo: who reads one of them chooses a share.
_SHARE = ("id", "num_workers")


def divides(loader: DataLoader[Any]) -> bool:
    """Reports whether the dataset or worker_init_fn asks which worker it is in.

    It starts one worker of the user's kind, in whose process torch's WorkerInfo notes that it is read. The worker makes
    one batch, as some datasets ask only then.
    """
    asked = torch.zeros(1, dtype=torch.uint8).share_memory_()
    probe = copy.copy(loader)
    attributes = vars(probe)
    attributes.update(num_workers=1, prefetch_factor=1, persistent_workers=False, pin_memory=False, _iterator=None)
    attributes["worker_init_fn"] = Spy(asked, loader.worker_init_fn)
    attributes["generator"] = None  # the user's stays as it is
    with undisturbed():
        iterator = iter(probe)
        try:
            next(iterator, None)
        finally:
            end = getattr(iterator, "_shutdown_workers", None)
            if end is not None:
                end()
    return bool(asked.item())


class Spy:
    """A worker_init_fn that watches torch's WorkerInfo, and then calls the user's."""

    def __init__(self, asked: torch.Tensor, then: Any) -> None:
        self.asked, self.then = asked, then

    def __call__(self, worker_id: int) -> None:
        worker._worker_info = Watched(worker._worker_info, self.asked)
        if self.then is not None:
            self.then(worker_id)


class Watched:
    """A WorkerInfo that notes in `asked` that a share was asked for."""

    def __init__(self, info: Any, asked: torch.Tensor) -> None:
        self.__dict__.update(_info=info, _asked=asked)

    def __getattr__(self, name: str) -> Any:
        if name in _SHARE:
            self._asked[0] = 1
        return getattr(self._info, name)
