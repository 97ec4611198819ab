"""The network and its training step."""

from __future__ import annotations

import math
from contextlib import nullcontext

import torch
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from dsconv.train.distributed import World
from dsconv.train.models import build
from dsconv.train.settings import Settings

UNKNOWN = -1  # the label of samples without label, which the training ignores
AUTOCAST = {"fp16": torch.float16, "bf16": torch.bfloat16}


class Learner:
    """A network, its copies in other processes, and its optimizer.

    The initial weights depend only on the settings. `begin` must be called before the first batch.
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
        network = self.copies or self.network
        self.forward = torch.compile(network, backend=settings.compile) if settings.compile else network
        self.optimizer = optimizer(self.network, settings)
        # Only for fp16, in which small gradients would become 0.
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=settings.precision == "fp16")
        self.kept: tuple[torch.Tensor, torch.Tensor] | None = None  # a batch on the device, for steps without loading

    def begin(self, steps: int) -> None:
        """Sets the number of steps. SGD's learning rate falls to 0 over them, as half a cosine."""
        self.steps, self.done = steps, 0

    def take(self, images: torch.Tensor, labels: torch.Tensor, non_blocking: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """Copies the batch to the device if it is not there yet."""
        images = images.to(self.device, non_blocking=non_blocking, memory_format=self.layout)
        return images, labels.to(self.device, non_blocking=non_blocking)

    def learn(self, images: torch.Tensor, labels: torch.Tensor, group: int = 1, last: bool = True) -> torch.Tensor:
        """Adds the gradients of one batch of a group. The last batch of a group updates the weights.

        Returns the same as `sums`.
        """
        # The copies exchange gradients once per group.
        with self.copies.no_sync() if self.copies and not last else nullcontext():
            with self.autocast():
                scores = self.forward(images)
                loss = functional.cross_entropy(scores, labels, ignore_index=UNKNOWN, reduction="sum")
            labelled = (labels != UNKNOWN).sum()
            self.scaler.scale(loss / labelled.clamp(min=1) / group).backward()
        if last:
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad(set_to_none=True)
            self.done += 1
            if self.settings.optimizer == "sgd":
                self.optimizer.param_groups[0]["lr"] = (
                    self.settings.lr * (1 + math.cos(math.pi * self.done / self.steps)) / 2
                )
        return sums(scores, labels, loss, labelled)

    def evaluate(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """The `sums` of a batch, without training."""
        with torch.no_grad(), self.autocast():
            scores = self.network(images)
            loss = functional.cross_entropy(scores, labels, ignore_index=UNKNOWN, reduction="sum")
        return sums(scores, labels, loss, (labels != UNKNOWN).sum())

    def autocast(self) -> torch.autocast:
        precision = self.settings.precision
        return torch.autocast(self.device.type, AUTOCAST.get(precision), enabled=precision in AUTOCAST)


def optimizer(network: torch.nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """SGD with momentum and weight decay, or Adam with torch's defaults and a constant learning rate."""
    if settings.optimizer == "adam":
        return torch.optim.Adam(network.parameters(), settings.lr)
    return torch.optim.SGD(network.parameters(), settings.lr, momentum=0.9, weight_decay=1e-4)


def sums(scores: torch.Tensor, labels: torch.Tensor, loss: torch.Tensor, labelled: torch.Tensor) -> torch.Tensor:
    """The number of labelled samples of a batch, the sum of their losses and the number of correct predictions, in one
    tensor on the device."""
    with torch.no_grad():
        correct = (scores.argmax(1) == labels).sum()
        return torch.stack((labelled.double(), loss.double(), correct.double()))
