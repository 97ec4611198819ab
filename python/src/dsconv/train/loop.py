"""The training loop. It is the same for all loaders."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import torch
from torch.profiler import record_function

from dsconv._report import WORKER_STAGES
from dsconv.train.clock import Clock
from dsconv.train.data import Batch, Batches, Data
from dsconv.train.distributed import World
from dsconv.train.epoch import Epoch
from dsconv.train.learner import Learner
from dsconv.train.progress import Progress
from dsconv.train.trace import Trace

ALONE_STEPS, ALONE_SECONDS = 50, 1.0  # of the steps without loading, at most


class Tally:
    """Sums of samples, losses and correct predictions, on the device: reading them in every step would stop the GPU."""

    def __init__(self, device: torch.device) -> None:
        self.sums = torch.zeros(3, dtype=torch.float64, device=device)

    def add(self, sums: torch.Tensor) -> None:
        """Adds the sums of a batch."""
        self.sums += sums

    def means(self, world: World) -> tuple[int, float, float]:
        """The number of samples of all processes, their mean loss, and the accuracy."""
        samples, loss, correct = world.sum(*self.sums.tolist())
        return int(samples), loss / max(samples, 1), correct / max(samples, 1)


def train(
    learner: Learner, data: Data, world: World, epochs: int, limit: int | None, trace: Trace, progress: Progress
) -> Iterator[Epoch]:
    """Trains, and yields each epoch after its end. limit is the maximum number of batches in an epoch."""
    clock = Clock(world.device)
    learner.begin(epochs * math.ceil(count(data, limit) / learner.settings.accumulate))
    for number in range(epochs):
        data.set_epoch(number)
        trace.start()
        before = data.clock()
        with progress.shows(number + 1, count(data, limit)):
            epoch = learn(learner, data, world, clock, limit, trace.step, progress)
        trace.stop()
        epoch = replace(epoch, loader=spent(before, data.clock(), world))
        if data.val is not None:
            with progress.shows(number + 1, len(data.val), ", evaluation"):
                accuracy = evaluate(learner, data.val, data.non_blocking, world, progress)
            epoch = replace(epoch, accuracy=accuracy, validated=True)
        yield epoch


def learn(
    learner: Learner,
    data: Data,
    world: World,
    clock: Clock,
    limit: int | None,
    on_step: Callable[[], None],
    progress: Progress,
) -> Epoch:
    """One epoch of training, of at most limit batches."""
    steps = count(data, limit)
    accumulate = learner.settings.accumulate
    tally = Tally(world.device)
    learner.network.train()
    clock.start()
    for n, (images, labels) in enumerate(waited(data.train, steps)):
        clock.lap("wait")
        with record_function("dsconv.transfer"):
            images, labels = learner.take(images, labels, data.non_blocking)
        clock.lap("transfer")
        if n == 0:
            learner.kept = images, labels  # of an epoch's batches the first one is whole
        first = n - n % accumulate
        group = min(accumulate, steps - first)
        with record_function("dsconv.step"):
            tally.add(learner.learn(images, labels, group, n + 1 == first + group))
        clock.lap("step")
        on_step()
        progress.step(len(images), tally.sums)
    seconds, stages = clock.stop()
    images, loss, accuracy = tally.means(world)
    if images == 0:
        raise ValueError("training: the loader returned no batch")
    wait, transfer, step = world.mean(stages["wait"], stages["transfer"], stages["step"])
    return Epoch(images, steps, world.longest(seconds), wait, transfer, step, loss, accuracy)


def alone(learner: Learner, world: World, step_seconds: float) -> float:
    """Seconds of a step on the kept batch, again and again, while nothing is loaded. It changes the weights.

    Every process must call it, with the same seconds of a step during the training, which limit its duration.
    """
    assert learner.kept is not None
    images, labels = learner.kept
    accumulate = learner.settings.accumulate
    groups = max(1, min(ALONE_STEPS, int(ALONE_SECONDS / max(step_seconds, 1e-9))) // accumulate)
    clock = Clock(world.device)
    learner.begin(1 + groups)
    learner.network.train()
    for group in range(1 + groups):
        if group == 1:
            clock.start()  # the first ones bring caches and clock rates back
        for n in range(accumulate):
            learner.learn(images, labels, accumulate, n + 1 == accumulate)
            clock.lap("step")
    _, stages = clock.stop()
    return world.mean(stages["step"])[0] / (groups * accumulate)


def spent(before: dict[str, float], after: dict[str, float], world: World) -> dict[str, float]:
    """The seconds of all processes' loaders between two readings of their clocks; empty without clocks."""
    stages = [stage for stage in WORKER_STAGES if stage in after]
    return dict(zip(stages, world.sum(*(after[stage] - before[stage] for stage in stages)))) if stages else {}


def evaluate(learner: Learner, batches: Batches, non_blocking: bool, world: World, progress: Progress) -> float:
    """The accuracy on the validation images."""
    tally = Tally(world.device)
    learner.network.eval()
    for images, labels in batches:
        images, labels = learner.take(images, labels, non_blocking)
        tally.add(learner.evaluate(images, labels))
        progress.step(len(images), tally.sums)
    _, _, accuracy = tally.means(world)
    return accuracy


def count(data: Data, limit: int | None) -> int:
    """The number of batches in an epoch."""
    return min(len(data.train), limit or len(data.train))


def waited(batches: Batches, steps: int) -> Iterator[Batch]:
    """The first batches. The wait for each is a separate range in a profiler's trace."""
    iterator = islice(iter(batches), steps)
    while True:
        with record_function("dsconv.wait"):
            batch = next(iterator, None)
        if batch is None:
            return
        yield batch
