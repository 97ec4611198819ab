"""The measurements of an epoch."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Epoch:
    """The measurements of an epoch, over all processes.

    `seconds` is of the slowest process. The three stages are means over the processes.
    """

    images: int
    steps: int
    seconds: float
    wait_seconds: float
    transfer_seconds: float
    step_seconds: float
    loss: float  # mean over the training images
    accuracy: float  # of the validation split, or of the training images during training
    validated: bool = False  # accuracy is of the validation split
    # Seconds of read, decode, augment and collate, summed over processes and threads; empty if unknown.
    loader: dict[str, float] = field(default_factory=dict)

    @property
    def images_per_second(self) -> float:
        return self.images / self.seconds
