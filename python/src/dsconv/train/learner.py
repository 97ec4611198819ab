"""The network and how it learns from a batch."""

from __future__ import annotations

import math
from contextlib import nullcontext

import torch
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from dsconv.train.distributed import World
from dsconv.train.models import build
from dsconv.train.settings import Settings

UNKNOWN = -1  # the label of samples that have none: nothing is learnt from them
AUTOCAST = {"fp16": torch.float16, "bf16": torch.bfloat16}


class Learner:
    """A network, its copies in other processes, and its optimiser: SGD with momentum.

    The weights that it begins with depend on the settings alone. `begin` comes before the first batch.
    """

    def __init__(self, settings: Settings, classes: int, channels: int, world: World) -> None:
        self.settings, self.device = settings, world.device
        self.layout = torch.channels_last if settings.channels_last else torch.preserve_format
        torch.manual_seed(settings.seed)
        self.network = build(settings.model, classes, channels, settings.size)
        self.network.to(self.device, memory_format=self.layout)
        self.copies = None
        if world.size > 1:
            ids = [self.device.index] if self.device.type == "cuda" else None
            self.copies = DistributedDataParallel(self.network, device_ids=ids)
        whole = self.copies or self.network
        self.forward = torch.compile(whole, backend=settings.compile) if settings.compile else whole
        self.optimizer = torch.optim.SGD(self.network.parameters(), settings.lr, momentum=0.9, weight_decay=1e-4)
        # Of fp16 alone: small gradients of it would be 0.
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=settings.precision == "fp16")

    def begin(self, steps: int) -> None:
        """Says how many steps there will be: the learning rate falls to 0 over them, as half a cosine."""
        self.steps, self.done = steps, 0

    def take(self, images: torch.Tensor, labels: torch.Tensor, non_blocking: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """The batch on the device. What is there already stays as it is."""
        images = images.to(self.device, non_blocking=non_blocking, memory_format=self.layout)
        return images, labels.to(self.device, non_blocking=non_blocking)

    def learn(self, images: torch.Tensor, labels: torch.Tensor, group: int = 1, last: bool = True) -> torch.Tensor:
        """Adds the gradients of one of a group of batches; the last of a group moves the weights.

        Gives what `sums` does.
        """
        # The copies exchange gradients once a group.
        with self.copies.no_sync() if self.copies and not last else nullcontext():
            with self.autocast():
                scores = self.forward(images)
                loss = functional.cross_entropy(scores, labels, ignore_index=UNKNOWN, reduction="sum")
            known = (labels != UNKNOWN).sum()
            self.scaler.scale(loss / known.clamp(min=1) / group).backward()
        if last:
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad(set_to_none=True)
            self.done += 1
            self.optimizer.param_groups[0]["lr"] = (
                self.settings.lr * (1 + math.cos(math.pi * self.done / self.steps)) / 2
            )
        return sums(scores, labels, loss, known)

    @torch.no_grad()
    def guess(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """The `sums` of images to evaluate on."""
        with self.autocast():
            scores = self.network(images)
            loss = functional.cross_entropy(scores, labels, ignore_index=UNKNOWN, reduction="sum")
        return sums(scores, labels, loss, (labels != UNKNOWN).sum())

    def autocast(self) -> torch.autocast:
        precision = self.settings.precision
        return torch.autocast(self.device.type, AUTOCAST.get(precision), enabled=precision in AUTOCAST)


@torch.no_grad()
def sums(scores: torch.Tensor, labels: torch.Tensor, loss: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    """Of a batch: how many samples it has, the sum of their losses, how many were guessed. It is on the device."""
    guessed = (scores.argmax(1) == labels).sum()
    return torch.stack((known.double(), loss.double(), guessed.double()))
