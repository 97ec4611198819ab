"""Trains the same network with several loaders, which take turns epoch by epoch."""

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
from dsconv.train.loop import alone, train
from dsconv.train.progress import Progress
from dsconv.train.report import Result, report
from dsconv.train.settings import Settings
from dsconv.train.trace import Board, Trace, slug

OnEpoch = Callable[[str, int, Epoch], None]  # the side's name, the number of the epoch
OnProfile = Callable[[str, str], None]  # the side's name, the table of what took the time


def compare(
    sides: Sequence[Side],
    settings: Settings,
    world: World,
    on_epoch: OnEpoch,
    quiet: bool = False,
    on_profile: OnProfile = lambda name, table: None,
) -> Report:
    """Trains a network on each side, from the same weights, and returns the measurements.

    The sides take turns epoch by epoch, so that a slower machine slows down all of them. on_epoch is called after each
    epoch, in the first process, which also shows the progress on standard error unless it is quiet. If the settings
    ask for a profile, on_profile is called after the last epoch, for each side, in the first process.
    """
    with ExitStack() as stack:
        with usage():
            opened = [stack.enter_context(side.open()) for side in sides]
            check(sides, opened)
            check_backend(settings)
        learners = [Learner(settings, len(data.classes), data.channels, world) for data in opened]
        traces = [trace(number, side, settings, world) for number, side in enumerate(sides, 1)]
        turns = [
            run(number, side, data, learner, traces[number - 1], world, stack, quiet)
            for number, (side, data, learner) in enumerate(zip(sides, opened, learners), 1)
        ]
        epochs: list[list[Epoch]] = [[] for _ in sides]
        for number in range(1, settings.epochs + 1):
            for side, turn, done in zip(sides, turns, epochs):
                done.append(next(turn))
                if world.rank == 0:
                    on_epoch(side.name, number, done[-1])
        steps = [
            alone(learner, world, done[-1].step_seconds / done[-1].steps) for learner, done in zip(learners, epochs)
        ]
        results = [
            Result(side, data.samples, summed(data.decoded(), world), done, step)
            for side, data, done, step in zip(sides, opened, epochs, steps)
        ]
    for side, traced in zip(sides, traces):
        if world.rank == 0 and traced.table:
            on_profile(side.name, traced.table)
    return report(results, settings, world)


def summed(counts: dict[str, int], world: World) -> dict[str, int]:
    """The sums of the counts over all processes, which have the same names."""
    return dict(zip(counts, map(int, world.sum(*counts.values())))) if counts else {}


def trace(number: int, side: Side, settings: Settings, world: World) -> Trace:
    """The profiler of one side. Each side has a folder of its own: in TensorBoard it is a run."""
    folder = Path(settings.profile, f"{number}-{slug(side.name)}") if settings.profile else None
    return Trace(folder, world.rank, world.device)


def run(
    number: int,
    side: Side,
    data: Data,
    learner: Learner,
    traced: Trace,
    world: World,
    stack: ExitStack,
    quiet: bool,
) -> Iterator[Epoch]:
    """The epochs of one side. Each runs when it is requested."""
    settings = learner.settings
    name = f"{number}-{slug(side.name)}"
    board = Board(Path(settings.tensorboard, name) if settings.tensorboard and world.rank == 0 else None)
    stack.callback(board.close)
    progress = Progress(side.name, settings.epochs, shown=world.rank == 0 and not quiet, processes=world.size)
    epochs = train(learner, data, world, settings.epochs, settings.limit_batches, traced, progress)
    for n, epoch in enumerate(epochs, 1):
        board.add(n, epoch)
        yield epoch


def check(sides: Sequence[Side], opened: Sequence[Data]) -> None:
    """Raises ValueError if the sides have different classes or numbers of samples."""
    for side, data in zip(sides, opened):
        if not data.classes:
            raise ValueError(f"{side.name}: the dataset has no labels")
        if data.classes != opened[0].classes:
            raise ValueError(f"{side.name}: its {len(data.classes)} classes are not the same as in {sides[0].name}")
        if data.samples != opened[0].samples:
            raise ValueError(
                f"{side.name}: {data.samples} training images, but {sides[0].name} has {opened[0].samples}"
            )
        if (data.val is None) != (opened[0].val is None):
            raise ValueError(f"{side.name} and {sides[0].name}: only one of them has a split for evaluation")


def check_backend(settings: Settings) -> None:
    """Raises ValueError for a compiler backend that torch does not have."""
    if settings.compile is None:
        return
    from torch._dynamo import list_backends

    known = list_backends(exclude_tags=())
    if settings.compile not in known:
        raise ValueError(f"--compile {settings.compile}: choose one of {', '.join(known)}")
