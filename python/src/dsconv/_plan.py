"""dsconv.plan: calls the command `dsconv plan`."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dsconv import _command, _progress, _scratch
from dsconv._read_options import FieldMap
from dsconv._source_options import Path, source_options, source_words


@dataclass(frozen=True)
class PlanRow:
    """One way to pack the images: a size and an encoding in a format. The figures are of the whole dataset."""

    command: str  # dsconv pack SRC DST ...
    format: str
    encode: str
    lossless: bool  # training gets the same pixels
    sampled: int  # images that were packed to measure it
    disk_bytes: int
    extra_disk: float  # beside the source's: 0.01 is 1 % more
    pack_seconds: float
    epoch_seconds: float
    images_per_second: float
    flags: str = ""  # of the command
    resize: str = ""
    break_even_epochs: float = 0.0  # after which packing has paid; 0: never
    unfit: str = ""  # the reason why it was not measured


@dataclass(frozen=True)
class Plan:
    """What packing a dataset would bring. `print` and notebooks show the table of ``dsconv plan``."""

    rows: tuple[PlanRow, ...]
    epoch_seconds: float  # of the images as they are, by dsconv's loader
    table: str = dataclasses.field(repr=False)
    details: dict[str, Any] = dataclasses.field(repr=False)  # the whole output of ``dsconv plan --json``

    def __str__(self) -> str:
        return self.table


def plan(
    src: Path | Sequence[Path] | Mapping[str, Path | Sequence[Path]],
    *,
    sample: int | None = None,
    format: str | None = None,
    resize: str | Sequence[str] | None = None,
    encode: str | Sequence[str] | None = None,
    rounds: int | None = None,
    dir: str | os.PathLike[str] | None = None,
    consume: str | float | None = None,
    batch: int | None = None,
    workers: int | None = None,
    size: int | None = None,
    augment: str | None = None,
    dtype: str | None = None,
    decode: str | None = None,
    layout: str | None = None,
    split: str | None = None,
    seed: int | None = None,
    order: str | None = None,
    prefetch: int | None = None,
    cache: str | None = None,
    on_error: str | None = None,
    max_pixels: int | None = None,
    labels: Path | Mapping[str, Path] | None = None,
    label_columns: Sequence[str] | Mapping[str, str] | None = None,
    label_sep: str | None = None,
    label_type: str | Mapping[str, str] | None = None,
    class_order: str | None = None,
    field: str | Sequence[str] | Mapping[str, str] | None = None,
    boxes: Path | Sequence[Path] | Mapping[str, Path] | None = None,
    captions: Path | Sequence[Path] | Mapping[str, Path] | None = None,
    include: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] | None = None,
    map: FieldMap | None = None,
    source_format: str | None = None,
    progress: bool = True,
) -> Plan:
    """Says what packing src, a folder of images or a dataset, would bring: bytes, the time of packing,
    the time of an epoch, and after how many epochs the packing has paid.

    About `sample` images are packed in each size and encoding into a temporary folder in `dir`, which is removed, and
    loaded. The options are the flags of ``dsconv plan``, and its ``--help`` explains them; None is the command's
    default.

    src may also be several folders and archives, a list or a dict as for `pack`. `labels`, `field`, `boxes`, `include`,
    `map` and the like say how it is read; they are those of `pack`, and the commands in ``plan.rows`` have them.

    Raises:
        ValueError: options are wrong.
        dsconv.Error: any other error.
    """
    options = _command.flags(
        sample=sample, format=format, resize=resize, encode=encode, rounds=rounds, dir=dir, consume=consume,
        batch=batch, workers=workers, size=size, augment=augment,
        dtype=dtype, decode=decode, layout=layout, split=split, seed=seed, order=order, prefetch=prefetch,
        cache=cache, on_error=on_error, max_pixels=max_pixels,
        **source_options(
            labels, label_columns, label_sep, label_type, class_order, field, boxes, captions, include,
            exclude, map, source_format,
        ),
    )  # fmt: skip
    with _scratch.scratch("plan") as scratch:
        out = pathlib.Path(scratch, "plan.json")
        arguments = ["plan", f"--json={out}", "--progress=json", *options, "--", *source_words(src)]
        done = _progress.run_command(arguments, unit="step", title="plan", drawn=progress)
        details = json.loads(out.read_text(encoding="utf-8"))
    known = {f.name for f in dataclasses.fields(PlanRow)}  # a later command may have more
    return Plan(
        rows=tuple(PlanRow(**{k: v for k, v in row.items() if k in known}) for row in details["rows"]),
        epoch_seconds=details["source"]["epoch_seconds"],
        table=done.stdout,
        details=details,
    )
