"""What a comparison took, as the report that `dsconv bench` writes and merges."""

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
    """A dataset for each side, a round for each of its epochs."""
    datasets = [
        DatasetReport(
            path=side.name, format=side.format, samples=count, settings=side.settings, rounds=[turn(e) for e in done]
        )
        for side, count, done in zip(sides, samples, epochs)
    ]
    gpu = world.device.type == "cuda"
    made = Report(
        machine=Machine.this(torch.__version__, torch.cuda.get_device_name(world.device) if gpu else "cpu"),
        options=options(settings, world),
        consumer=f"{settings.model} in PyTorch, {world.size} process(es)",
        datasets=datasets,
        notes=notes(sides, epochs, settings, world),
    )
    return made.summarise()


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
    """Those of `dsconv bench` by its names, then the trainer's own."""
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
    """What the figures mean where that is not plain."""
    told = []
    if not epochs[0][-1].validated:
        told.append("accuracy is that of the training images, while they were learnt: there is no split to evaluate on")
    if world.device.type == "cpu" and any(side.settings.get("pin_memory") for side in sides):
        told.append("pinned memory does nothing without a GPU")
    if settings.compile:
        told.append("the first epoch has the compilation in it")
    if settings.profile:
        told.append("the first steps of the first epoch are slower for being profiled")
    return told
