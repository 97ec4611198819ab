"""The measurements of a comparison, as a report like that of `dsconv bench`, which can merge it."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from dsconv._ranks import threads
from dsconv._report import DatasetReport, Machine, Report, Round, Stages
from dsconv.train.costs import Subject, costs
from dsconv.train.data import Side
from dsconv.train.distributed import World
from dsconv.train.epoch import Epoch
from dsconv.train.settings import Settings


@dataclass(frozen=True)
class Result:
    """The measurements of a side."""

    side: Side
    samples: int
    decoded: dict[str, int]  # images by what decoded them; empty without a GPU
    epochs: Sequence[Epoch]
    alone: float  # seconds of a step while nothing is loaded


def report(results: Sequence[Result], settings: Settings, world: World) -> Report:
    """A report with a dataset for each side and a round for each of its epochs."""
    datasets = [
        DatasetReport(
            path=result.side.name,
            format=result.side.format,
            samples=result.samples,
            decoded=result.decoded,
            swept_images_per_second={str(count): rate for count, rate in result.side.swept.items()},
            step_us_per_image_without_loading=1e6 * result.alone / settings.batch_size,
            settings=result.side.settings,
            rounds=[turn(epoch) for epoch in result.epochs],
            costs=costs_of(result, settings, world),
        )
        for result in results
    ]
    gpu = world.device.type == "cuda"
    result = Report(
        machine=Machine.this(torch.cuda.get_device_name(world.device) if gpu else "cpu"),
        options=options(results, settings, world),
        consumer=f"{settings.model} in PyTorch, {world.size} process(es)",
        datasets=datasets,
        notes=notes(results, settings, world),
    )
    return result.summarise().judge()


def costs_of(result: Result, settings: Settings, world: World) -> dict[str, Any]:
    """The costs of a side."""
    gpu = any(count for path, count in result.decoded.items() if path != "cpu")
    ours = bool(result.epochs[-1].loader)
    workers = threads(settings.threads) if ours else result.side.settings.get("num_workers", 0)
    local = int(os.environ.get("LOCAL_WORLD_SIZE", world.size))
    return costs(result.epochs, Subject(settings.batch_size, workers, ours, world.size, local, result.alone, gpu))


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


def options(results: Sequence[Result], settings: Settings, world: World) -> dict[str, object]:
    """The options that `dsconv bench` has too, under its names, and the trainer's own."""
    shared = {
        "rounds": settings.epochs,
        "epochs": 1,
        "batch": settings.batch_size,
        "workers": next((w for r in results if (w := r.side.settings.get("num_workers")) is not None), 0),
        "dtype": "float32",
        "layout": "nhwc" if settings.channels_last else "nchw",
        "augment": f"train:{settings.size}" if settings.augment else f"eval:{settings.size}",
        "seed": settings.seed,
    }
    return shared | {"processes": world.size, "trainer": settings.to_json()}


def notes(results: Sequence[Result], settings: Settings, world: World) -> list[str]:
    """Explanations of figures that could be misunderstood, and figures that the table does not have."""
    found = [note for result in results for note in of_side(result)]
    if not results[0].epochs[-1].validated:
        found.append("accuracy is of the training images during training: the dataset has no split for evaluation")
    if world.device.type == "cpu" and any(result.side.settings.get("pin_memory") for result in results):
        found.append("pinned memory does nothing without a GPU")
    if settings.compile:
        found.append("the first epoch includes the compilation")
    if settings.profile:
        found.append("the profiler slows down the first steps of the first epoch")
    return found


def of_side(result: Result) -> list[str]:
    """The notes of one side."""
    name = result.side.name
    loading = statistics.median(epoch.step_seconds / epoch.steps for epoch in result.epochs)
    found = [f"{name}: a step takes {1e3 * loading:.1f} ms while batches load, {1e3 * result.alone:.1f} ms without"]
    if result.decoded:
        found.append(f"{name}: decoded by {', '.join(f'{path} {count}' for path, count in result.decoded.items())}")
    if result.side.swept:
        rates = ", ".join(f"{count} with {rate:.0f} images/s" for count, rate in result.side.swept.items())
        found.append(f"{name}: numbers of workers tried, without training: {rates}")
    return found
