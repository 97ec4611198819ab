"""The command python -m dsconv.train."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from dsconv._errors import Error

if importlib.util.find_spec("torch") is None:
    sys.exit("python -m dsconv.train: error: PyTorch is not installed, which pip install torch provides")

from dsconv.train import from_dataloader, from_dsconv, published, tutorial
from dsconv.train.arguments import PROGRAM, UsageError, line, parse, usage
from dsconv.train.compare import compare
from dsconv.train.data import Side
from dsconv.train.distributed import World, join
from dsconv.train.epoch import Epoch
from dsconv.train.settings import Settings
from dsconv.train.totals import totals


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the comparison and returns the exit code: 2 for wrong usage, 1 for any other failure."""
    arguments, settings = parse(argv)
    try:
        run(arguments, settings)
    except (Error, OSError, UsageError) as failed:
        print(f"{PROGRAM}: error: {line(failed)}", file=sys.stderr)
        return 2 if isinstance(failed, UsageError) else 1
    return 0


def run(asked: argparse.Namespace, settings: Settings) -> None:
    with ExitStack() as stack:
        with usage():
            world = stack.enter_context(join(asked.device))
            if settings.pin_memory is None:
                settings = replace(settings, pin_memory=world.device.type == "cuda")
            if asked.preset:
                sides = experiment(asked, settings, world, stack)
            else:
                sides = loaders(asked, settings, world)
        report = compare(sides, settings, world, print_epoch, asked.quiet, print_profile)
        if world.rank > 0:
            return
        if asked.preset:
            samples = report.datasets[0].samples
            report.notes.append(published.comparable(settings, samples) if asked.data else published.DRAWN)
        if asked.json:
            report.save(asked.json)
        there = published.SECONDS if asked.preset and asked.data else ()
        print(f"\n{report}\n{totals(report, title(asked, settings), there)}")


def title(asked: argparse.Namespace, settings: Settings) -> str:
    """The head of the table of totals."""
    epochs = f"{settings.epochs} epochs" if settings.epochs > 1 else "1 epoch"
    return f"{epochs}, drawn digits" if asked.preset and not asked.data else epochs


def loaders(asked: argparse.Namespace, settings: Settings, world: World) -> list[Side]:
    """The folder's side, and each dataset's."""
    after = [from_dsconv.images(Path(path), settings, world, way) for path in asked.after for way in asked.ways]
    # The last to be made: it may measure for seconds.
    before = [from_dataloader.folder(Path(asked.before), settings, world)] if asked.before else []
    return before + after


def experiment(asked: argparse.Namespace, settings: Settings, world: World, stack: ExitStack) -> list[Side]:
    """The sides of the tutorial. The stack removes its scratch folder."""
    if world.size > 1:
        raise ValueError("--preset tutorial runs in one process")
    scratch = Path(stack.enter_context(TemporaryDirectory(prefix="dsconv-digits-")))
    folder = Path(asked.data) if asked.data else scratch / "idx"  # a dataset cannot be packed into its own folder
    if not asked.data:
        print(f"drawing {asked.digits} digits to use instead of MNIST (--data DIR uses MNIST's IDX files)")
        folder.mkdir()
        tutorial.draw(folder, asked.digits, settings.seed)
    return tutorial.sides(folder, tutorial.pack(folder, scratch), settings, world)


def print_profile(name: str, table: str) -> None:
    print(f"\n{name}: the first steps, by torch.profiler\n{table}", flush=True)


def print_epoch(name: str, number: int, epoch: Epoch) -> None:
    split = "validation" if epoch.validated else "training"
    print(
        f"{name}: epoch {number}: {epoch.seconds:.2f} s, {epoch.images_per_second:.0f} images/s; "
        f"waited {epoch.wait_seconds:.2f} s, transfer {epoch.transfer_seconds:.2f} s, step {epoch.step_seconds:.2f} s; "
        f"loss {epoch.loss:.3f}, {split} accuracy {epoch.accuracy:.1%}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
