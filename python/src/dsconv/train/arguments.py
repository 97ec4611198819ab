"""The command line of the trainer."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields

from dsconv._errors import Error
from dsconv.train.models import ADAM_RATE, MODELS, RATES, SIZES
from dsconv.train.settings import Settings
from dsconv.train.ways import Way

ABOUT = """Trains the same network in the same loop with ImageFolder and torch's DataLoader, and with dsconv.
Prints the times, loss and accuracy of each epoch. All sides start with the same weights and take turns by epochs."""

EXAMPLES = """examples:
  python -m dsconv.train --before images/ --after out.lmdb --model resnet18
  python -m dsconv.train --after out.lmdb --decoder cpu --decoder gpu --precision bf16 --channels-last
  torchrun --nproc-per-node 4 -m dsconv.train --before images/ --after out.lmdb --model resnet50 --precision bf16
  python -m dsconv.train --preset tutorial --data mnist/
"""


PROGRAM = "python -m dsconv.train"
AUTO = "auto"  # of --num-workers


class UsageError(ValueError):
    """The arguments are wrong, or do not fit the data."""


@contextmanager
def usage() -> Iterator[None]:
    """Turns errors of the code inside, which uses the arguments, into a UsageError of one line."""
    try:
        yield
    except (Error, OSError, ValueError, ImportError) as error:
        raise UsageError(line(error)) from error


def line(error: BaseException) -> str:
    """An error's message as one line."""
    return " ".join(str(error).split()) or type(error).__name__


def parse(argv: Sequence[str] | None = None) -> tuple[argparse.Namespace, Settings]:
    """The parsed arguments, and the settings with the model's defaults. Exits on wrong usage."""
    parser = commands()
    asked = parser.parse_args(argv)
    tutorial = asked.preset == "tutorial"
    if tutorial and (asked.before or asked.after):
        parser.error("--preset tutorial has its own data: use --data DIR instead of --before and --after")
    if not tutorial and not (asked.before or asked.after):
        parser.error("nothing to train on: give --before DIR, --after DATASET or --preset tutorial")
    if asked.data and not tutorial:
        parser.error("--data DIR is for --preset tutorial")
    if tutorial and (asked.size or asked.augment is not None):
        parser.error("--preset tutorial does not change the digits: leave out --size and --augment")
    for folder in (asked.before, asked.data):
        if folder and not os.path.isdir(folder):
            parser.error(f"{folder}: no such folder")
    for flag, path in (("--profile", asked.profile), ("--tensorboard", asked.tensorboard)):
        if path and os.path.exists(path) and not os.path.isdir(path):
            parser.error(f"{flag} {path}: it is not a folder")
    if asked.json and os.path.isdir(asked.json):
        parser.error(f"--json {asked.json}: it is a folder, not a file")
    if asked.json and not os.path.isdir(os.path.dirname(asked.json) or "."):
        parser.error(f"--json {asked.json}: its folder does not exist")
    asked.ways = ways(asked, parser)
    asked.model = asked.model or ("mlp-128-64" if tutorial else "resnet18")
    asked.epochs = asked.epochs or (5 if tutorial else 3)
    asked.optimizer = asked.optimizer or ("adam" if tutorial else "sgd")
    asked.num_workers = asked.num_workers or ("8" if tutorial else AUTO)
    if tutorial and asked.num_workers == AUTO:
        parser.error("--preset tutorial compares numbers of workers: give --num-workers a number")
    asked.num_workers = None if asked.num_workers == AUTO else int(asked.num_workers)
    asked.size = asked.size or (28 if tutorial else SIZES[asked.model])
    asked.lr = asked.lr or default_rate(asked)
    asked.augment = asked.augment is not False and not tutorial
    return asked, Settings(**{field.name: getattr(asked, field.name) for field in fields(Settings)})


def default_rate(asked: argparse.Namespace) -> float:
    """The learning rate: SGD's grows with the images per step, Adam's does not."""
    if asked.optimizer == "adam":
        return ADAM_RATE
    sgd: float = RATES[asked.model] * asked.batch_size * asked.accumulate / 256
    return sgd


def ways(asked: argparse.Namespace, parser: argparse.ArgumentParser) -> list[Way]:
    """How dsconv loads: a side of each dataset for each of them."""
    decoders, places = asked.decoder or ["cpu"], asked.normalize or ["host"]
    if (asked.decoder or asked.normalize) and not asked.after:
        parser.error("--decoder and --normalize are of dsconv: give --after DATASET")
    if asked.nvjpeg and "gpu" not in decoders:
        parser.error("--nvjpeg PATH is for --decoder gpu")
    found = [
        Way(decoder, place, asked.nvjpeg if decoder == "gpu" else None) for decoder in decoders for place in places
    ]
    return list(dict.fromkeys(found))


def commands() -> argparse.ArgumentParser:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(PROGRAM, description=ABOUT, epilog=EXAMPLES, formatter_class=plain)
    what = parser.add_argument_group("sides to compare")
    what.add_argument("--before", metavar="DIR", help="folder of images, for ImageFolder and DataLoader")
    what.add_argument(
        "--after", metavar="DATASET", action="append", default=[], help="for dsconv; repeat it for several datasets"
    )
    what.add_argument("--preset", choices=["tutorial"], help="MNIST: 0 workers; 8; 8 with pinned memory; dsconv")
    what.add_argument(
        "--data", metavar="DIR", help="folder of MNIST's IDX files, for the tutorial (default: drawn digits)"
    )
    what.add_argument(
        "--digits", type=positive, default=60000, metavar="N", help="number of drawn training digits (default: 60000)"
    )
    learning(parser.add_argument_group("training"))
    loading(parser.add_argument_group("loading, per process"))
    output = parser.add_argument_group("output")
    output.add_argument(
        "--profile",
        metavar="DIR",
        help="profile the first steps: print what took the time, and write traces for TensorBoard and Perfetto to DIR",
    )
    output.add_argument("--tensorboard", metavar="DIR", help="write curves for TensorBoard to DIR")
    output.add_argument("--quiet", action="store_true", help="no progress on standard error")
    output.add_argument("--json", metavar="FILE", help="write the report with all epochs to FILE")
    return parser


def learning(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--model", choices=MODELS, help="(default: resnet18; mlp-128-64 in the tutorial)")
    group.add_argument("--epochs", type=positive, metavar="N", help="(default: 3; 5 in the tutorial)")
    group.add_argument("--batch-size", type=positive, default=64, metavar="N", help="per process (default: 64)")
    group.add_argument(
        "--size", type=positive, metavar="N", help="width and height of the images (default: 224; mlp: 28)"
    )
    group.add_argument(
        "--augment",
        action=argparse.BooleanOptionalAction,
        help="train on random crops and flips, as torchvision's reference scripts (default), or on the image's center",
    )
    group.add_argument(
        "--optimizer", choices=["sgd", "adam"], help="sgd is with momentum (default: sgd; adam in the tutorial)"
    )
    group.add_argument(
        "--lr",
        type=rate,
        metavar="RATE",
        help="learning rate (default: of sgd, depends on the model and the images per step; of adam, 0.001)",
    )
    group.add_argument(
        "--precision",
        choices=["fp32", "fp16", "bf16"],
        default="fp32",
        help="fp16: autocast and GradScaler; bf16: autocast (default: fp32)",
    )
    group.add_argument(
        "--accumulate",
        type=positive,
        default=1,
        metavar="N",
        help="sum the gradients of N batches in each step (default: 1)",
    )
    group.add_argument("--channels-last", action="store_true", help="use the layout NHWC for images and weights")
    group.add_argument("--compile", nargs="?", const="inductor", metavar="BACKEND", help="torch.compile the network")
    group.add_argument("--device", help="cpu, cuda, cuda:1 (default: a GPU if there is one)")
    group.add_argument("--seed", type=int, default=0, help="of the weights, order and augmentation (default: 0)")
    group.add_argument("--limit-batches", type=positive, metavar="N", help="stop each epoch after N batches")


def loading(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--num-workers",
        type=workers,
        metavar="N",
        help="of the DataLoader; auto: the fastest of three numbers, measured before the training "
        "(default: auto; tutorial: 8)",
    )
    group.add_argument(
        "--pin-memory", action=argparse.BooleanOptionalAction, help="of the DataLoader (default: with a GPU)"
    )
    group.add_argument(
        "--persistent-workers", action=argparse.BooleanOptionalAction, default=True, help="of the DataLoader (default)"
    )
    group.add_argument(
        "--prefetch-factor",
        type=positive,
        metavar="N",
        help="batches to prefetch for each worker or thread (default: 2 a worker; of dsconv, 2 in all)",
    )
    group.add_argument("--threads", type=positive, metavar="N", help="of dsconv (default: number of cores)")
    group.add_argument(
        "--decoder",
        choices=["cpu", "gpu"],
        action="append",
        help="of dsconv: what decodes JPEGs (default: cpu); repeat it to compare",
    )
    group.add_argument(
        "--normalize",
        choices=["host", "device"],
        action="append",
        help="of dsconv: where uint8 pixels become normalised floats (default: host); repeat it to compare",
    )
    group.add_argument("--nvjpeg", metavar="PATH", help="of --decoder gpu: libnvjpeg.so (default: found)")


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return value


def workers(text: str) -> str:
    if text != AUTO and int(text) < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return text


def rate(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value
