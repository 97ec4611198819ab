"""What is measured of an epoch."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Epoch:
    """What an epoch took and gave, over all processes.

    Seconds are those of the slowest process; the others, and the three stages, are means of the processes.
    """

    images: int
    steps: int
    seconds: float
    wait_seconds: float
    transfer_seconds: float
    step_seconds: float
    loss: float  # mean over the training images
    accuracy: float  # of the training images while they were learnt, or of the validation split
    validated: bool = False  # which of the two
    # Seconds of the loaders, summed over processes and threads: read, decode, augment, collate; empty if not known.
    loader: dict[str, float] = field(default_factory=dict)

    @property
    def images_per_second(self) -> float:
        return self.images / self.seconds
