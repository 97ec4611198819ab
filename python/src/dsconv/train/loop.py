"""The training loop. It is the same for all loaders."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import torch
from torch.profiler import record_function

from dsconv.train.clock import Clock
from dsconv.train.data import Batch, Batches, Data
from dsconv.train.distributed import World
from dsconv.train.epoch import Epoch
from dsconv.train.learner import Learner
from dsconv.train.trace import Trace

LOADER = ("read", "decode", "augment", "collate")


class Tally:
    """Samples, losses and guesses, summed on the device: reading them at every step would hold a GPU up."""

    def __init__(self, device: torch.device) -> None:
        self.sums = torch.zeros(3, dtype=torch.float64, device=device)

    def add(self, sums: torch.Tensor) -> None:
        """Adds a batch's."""
        self.sums += sums

    def means(self, world: World) -> tuple[int, float, float]:
        """The samples of all processes, their mean loss and the share of them that were guessed."""
        samples, loss, guessed = world.sum(*self.sums.tolist())
        return int(samples), loss / max(samples, 1), guessed / max(samples, 1)


def train(learner: Learner, data: Data, world: World, epochs: int, limit: int | None, trace: Trace) -> Iterator[Epoch]:
    """Trains, and gives each epoch when it has ended. Limit is of batches an epoch."""
    clock = Clock(world.device)
    learner.begin(epochs * math.ceil(count(data, limit) / learner.settings.accumulate))
    for number in range(epochs):
        data.set_epoch(number)
        trace.start()
        before = data.clock()
        epoch = learn(learner, data, world, clock, limit, trace.step)
        trace.stop()
        epoch = replace(epoch, loader=spent(before, data.clock(), world))
        if data.val is not None:
            epoch = replace(epoch, accuracy=evaluate(learner, data, world), validated=True)
        yield epoch


def learn(
    learner: Learner, data: Data, world: World, clock: Clock, limit: int | None, stepped: Callable[[], None]
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
        first = n - n % accumulate
        group = min(accumulate, steps - first)
        with record_function("dsconv.step"):
            tally.add(learner.learn(images, labels, group, n + 1 == first + group))
        clock.lap("step")
        stepped()
    seconds, stages = clock.stop()
    images, loss, accuracy = tally.means(world)
    if images == 0:
        raise ValueError("training: the loader gave no batch")
    wait, transfer, step = world.mean(stages["wait"], stages["transfer"], stages["step"])
    return Epoch(images, steps, world.longest(seconds), wait, transfer, step, loss, accuracy)


def spent(before: dict[str, float], after: dict[str, float], world: World) -> dict[str, float]:
    """What the loaders of all processes took between two readings of their clocks; empty if they have none."""
    known = [stage for stage in LOADER if stage in after]
    return dict(zip(known, world.sum(*(after[stage] - before[stage] for stage in known)))) if known else {}


def evaluate(learner: Learner, data: Data, world: World) -> float:
    """The share of the validation images whose label is guessed."""
    tally = Tally(world.device)
    learner.network.eval()
    for images, labels in data.val:
        images, labels = learner.take(images, labels, data.non_blocking)
        tally.add(learner.guess(images, labels))
    _, _, accuracy = tally.means(world)
    return accuracy


def count(data: Data, limit: int | None) -> int:
    """The batches of an epoch."""
    return min(len(data.train), limit or len(data.train))


def waited(batches: Batches, steps: int) -> Iterator[Batch]:
    """The first batches, whose making is a range of its own in a profiler's trace."""
    iterator = islice(iter(batches), steps)
    while True:
        with record_function("dsconv.wait"):
            batch = next(iterator, None)
        if batch is None:
            return
        yield batch
