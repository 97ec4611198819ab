"""python -m dsconv.train: see --help."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from dsconv.train import after, before, tutorial
from dsconv.train.arguments import parse
from dsconv.train.compare import compare
from dsconv.train.data import Side
from dsconv.train.distributed import World, join
from dsconv.train.epoch import Epoch
from dsconv.train.settings import Settings


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the comparison and gives the exit code."""
    asked, settings = parse(argv)
    with ExitStack() as stack:
        world = stack.enter_context(join(asked.device))
        if asked.preset:
            sides = experiment(asked, settings, world, stack)
        else:
            sides = [before.folder(Path(asked.before), settings, world)] if asked.before else []
            sides += [after.images(Path(path), settings, world) for path in asked.after]
        report = compare(sides, settings, world, tell)
        if world.rank > 0:
            return 0
        if asked.json:
            report.save(asked.json)
        print(f"\n{report}")
    return 0


def experiment(asked: argparse.Namespace, settings: Settings, world: World, stack: ExitStack) -> list[Side]:
    """The tutorial's sides. Its scratch folder goes with the stack."""
    if world.size > 1:
        raise ValueError("--preset tutorial runs in one process")
    scratch = Path(stack.enter_context(TemporaryDirectory(prefix="dsconv-digits-")))
    folder = Path(asked.data) if asked.data else scratch
    if not asked.data:
        print(f"drawing {asked.digits} digits in the place of MNIST's (--data DIR takes its IDX files)")
        tutorial.draw(folder, asked.digits, settings.seed)
    return tutorial.sides(folder, tutorial.pack(folder, scratch), settings, world)


def tell(name: str, number: int, epoch: Epoch) -> None:
    of = "validation" if epoch.validated else "training"
    print(
        f"{name}: epoch {number}: {epoch.seconds:.2f} s, {epoch.images_per_second:.0f} images/s; "
        f"waited {epoch.wait_seconds:.2f} s, transfer {epoch.transfer_seconds:.2f} s, step {epoch.step_seconds:.2f} s; "
        f"loss {epoch.loss:.3f}, {of} accuracy {epoch.accuracy:.1%}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
