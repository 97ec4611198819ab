"""The settings that all sides of a comparison share."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    """The settings of a training. Batch size and workers are per process."""

    model: str = "resnet18"
    epochs: int = 1
    batch_size: int = 64
    size: int = 224
    augment: bool = True
    optimizer: str = "sgd"  # or adam
    lr: float = 0.1
    precision: str = "fp32"
    accumulate: int = 1
    channels_last: bool = False
    compile: str | None = None
    seed: int = 0
    limit_batches: int | None = None
    num_workers: int | None = 0  # None: the best of a few, which `sweep` finds
    pin_memory: bool | None = False  # None: with a GPU
    persistent_workers: bool = True
    prefetch_factor: int | None = None
    threads: int | None = None
    profile: str | None = None
    tensorboard: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
