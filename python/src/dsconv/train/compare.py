"""Trainings of the same network, each fed by another loader, in turns of an epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from dsconv._report import Report
from dsconv.train.arguments import usage
from dsconv.train.data import Data, Side
from dsconv.train.distributed import World
from dsconv.train.epoch import Epoch
from dsconv.train.learner import Learner
from dsconv.train.loop import train
from dsconv.train.report import report
from dsconv.train.settings import Settings
from dsconv.train.trace import Board, Trace, slug

Told = Callable[[str, int, Epoch], None]


def compare(sides: Sequence[Side], settings: Settings, world: World, tell: Told) -> Report:
    """Trains a network on each side, from the same weights, and gives what it took.

    The sides take turns, an epoch at a time, so that a machine that slows down slows all of them down. Tell is
    called after each epoch, in the first process.
    """
    with ExitStack() as stack:
        with usage():
            opened = [stack.enter_context(side.open()) for side in sides]
            check(sides, opened)
            check_backend(settings)
        turns = [
            run(number, side, data, settings, world, stack) for number, (side, data) in enumerate(zip(sides, opened), 1)
        ]
        epochs: list[list[Epoch]] = [[] for _ in sides]
        for number in range(1, settings.epochs + 1):
            for side, turn, done in zip(sides, turns, epochs):
                done.append(next(turn))
                if world.rank == 0:
                    tell(side.name, number, done[-1])
        samples = [data.samples for data in opened]
    return report(sides, samples, epochs, settings, world)


def run(number: int, side: Side, data: Data, settings: Settings, world: World, stack: ExitStack) -> Iterator[Epoch]:
    """The epochs of one side, each when it is asked for."""
    name = f"{number}-{slug(side.name)}"
    traced = Path(settings.profile, f"{name}-rank{world.rank}.json") if settings.profile else None
    board = Board(Path(settings.tensorboard, name) if settings.tensorboard and world.rank == 0 else None)
    stack.callback(board.close)
    learner = Learner(settings, len(data.classes), data.channels, world)
    epochs = train(learner, data, world, settings.epochs, settings.limit_batches, Trace(traced, world.device))
    for n, epoch in enumerate(epochs, 1):
        board.add(n, epoch)
        yield epoch


def check(sides: Sequence[Side], opened: Sequence[Data]) -> None:
    """Refuses to compare trainings of different classes or lengths."""
    for side, data in zip(sides, opened):
        if not data.classes:
            raise ValueError(f"{side.name}: it has no labels to learn")
        if data.classes != opened[0].classes:
            raise ValueError(f"{side.name}: its {len(data.classes)} classes are not those of {sides[0].name}")
        if data.samples != opened[0].samples:
            raise ValueError(
                f"{side.name}: {data.samples} training images, but {sides[0].name} has {opened[0].samples}"
            )
        if (data.val is None) != (opened[0].val is None):
            raise ValueError(f"{side.name} and {sides[0].name}: only one of them has a split to evaluate on")


def check_backend(settings: Settings) -> None:
    """Refuses a compiler's backend that torch does not know."""
    if settings.compile is None:
        return
    from torch._dynamo import list_backends

    known = list_backends(exclude_tags=())
    if settings.compile not in known:
        raise ValueError(f"--compile {settings.compile}: torch knows {', '.join(known)}")
