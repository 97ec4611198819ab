"""The measurements of a comparison, as a report like that of `dsconv bench`, which can merge it."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from dsconv._report import DatasetReport, Machine, Report, Round, Stages
from dsconv.train.data import Side
from dsconv.train.distributed import World
from dsconv.train.epoch import Epoch
from dsconv.train.settings import Settings


def report(
    sides: Sequence[Side], samples: Sequence[int], epochs: Sequence[Sequence[Epoch]], settings: Settings, world: World
) -> Report:
    """A report with a dataset for each side and a round for each of its epochs."""
    datasets = [
        DatasetReport(
            path=side.name, format=side.format, samples=count, settings=side.settings, rounds=[turn(e) for e in done]
        )
        for side, count, done in zip(sides, samples, epochs)
    ]
    gpu = world.device.type == "cuda"
    result = Report(
        machine=Machine.this(torch.__version__, torch.cuda.get_device_name(world.device) if gpu else "cpu"),
        options=options(settings, world),
        consumer=f"{settings.model} in PyTorch, {world.size} process(es)",
        datasets=datasets,
        notes=notes(sides, epochs, settings, world),
    )
    return result.summarise()


def turn(epoch: Epoch) -> Round:
    return Round(
        images=epoch.images,
        loaded=epoch.images,
        seconds=epoch.seconds,
        wait_seconds=epoch.wait_seconds,
        transfer_seconds=epoch.transfer_seconds,
        stage_seconds=Stages(step=epoch.step_seconds, **epoch.loader),
        loss=epoch.loss,
        accuracy=epoch.accuracy,
    )


def options(settings: Settings, world: World) -> dict[str, object]:
    """The options that `dsconv bench` has too, under its names, and the trainer's own."""
    shared = {
        "rounds": settings.epochs,
        "epochs": 1,
        "batch": settings.batch_size,
        "workers": settings.num_workers,
        "dtype": "float32",
        "layout": "nhwc" if settings.channels_last else "nchw",
        "augment": f"train:{settings.size}" if settings.augment else f"eval:{settings.size}",
        "seed": settings.seed,
    }
    return shared | {"processes": world.size, "trainer": settings.to_json()}


def notes(sides: Sequence[Side], epochs: Sequence[Sequence[Epoch]], settings: Settings, world: World) -> list[str]:
    """Explanations of figures that could be misunderstood."""
    found = []
    if not epochs[0][-1].validated:
        found.append("accuracy is of the training images during training: the dataset has no split for evaluation")
    if world.device.type == "cpu" and any(side.settings.get("pin_memory") for side in sides):
        found.append("pinned memory does nothing without a GPU")
    if settings.compile:
        found.append("the first epoch includes the compilation")
    if settings.profile:
        found.append("the profiler slows down the first steps of the first epoch")
    return found
