"""dsconv.pack: the command of that name, from Python."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from dsconv import _bar, _command

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class PackReport:
    """What a pack did: found = written + skipped + failed."""

    found: int
    written: int
    skipped: int
    failed: int
    bytes: int  # of the images as written
    seconds: float
    report: str  # the table of what was skipped or is odd
    paths: tuple[str, ...]  # of the datasets that were written
    details: dict[str, Any]  # all that ``dsconv pack --json`` says

    def __str__(self) -> str:
        counts = f"found {self.found} = written {self.written} + skipped {self.skipped} + failed {self.failed}"
        rate = self.written / self.seconds if self.seconds else 0.0
        size = f"{self.bytes / 1e6:.3g} MB, {self.seconds:.1f} s, {rate:.0f} images/s"
        text = f"{counts}; {size}: {', '.join(self.paths)}"
        for column in self.details.get("labels", []):
            text += f"\n{column['said']}"
        for option, patterns in self.details.get("unmatched", {}).items():
            text += f"\nmatches nothing: {option} {', '.join(map(repr, patterns))}"
        narrowed = sum(len(d.get("narrowed", ())) for d in self.details["datasets"])
        if narrowed:
            text += f"\n{narrowed} images of 16 bits a channel lost some: they are listed in {self.report}"
        return text + (f"\nskipped are listed in {self.report}" if self.skipped else "")


def pack(
    src: Path,
    dst: Path,
    *,
    format: str | None = None,
    resize: str | None = None,
    upscale: bool = False,
    filter: str | None = None,
    encode: str | None = None,
    no_tile: bool = False,
    strip: bool = False,
    decode: str | None = None,
    color: str | None = None,
    exif: str | None = None,
    compress: str | None = None,
    split: str | None = None,
    labels: Path | None = None,
    label_columns: Sequence[str] | None = None,
    label_sep: str | None = None,
    label_type: str | Mapping[str, str] | None = None,
    class_order: str | None = None,
    include: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] | None = None,
    limit: int | None = None,
    max_pixels: int | None = None,
    on_error: str | None = None,
    check: str | None = None,
    strict: bool = False,
    shard_size: str | None = None,
    shard_count: int | None = None,
    min_shards: int | None = None,
    order: str | None = None,
    workers: int | None = None,
    io_workers: int | None = None,
    checkpoint: str | None = None,
    force: bool = False,
    keep_old: bool = False,
    discard: bool = False,
    report: Path | None = None,
    progress: bool = True,
) -> PackReport:
    """Converts src, a folder of images or a dataset, into the dataset dst.

    dst's suffix says the format: .lmdb, .h5, .tar, .tar.zst, .tfrecord; a pattern such as
    "train-%06d.tar" makes shards. The options are the flags of ``dsconv pack``, whose
    ``--help`` explains each; None is the command's default. `encode` is "keep" (every byte
    as it was), "jpeg-tiled" (every pixel as it was, random crops decoded alone), "jpeg:90",
    "png" or "raw"; `resize` "shorter:256", "longer:N", "exact:WxH", "fit:WxH" or
    "cover:WxH"; `split` "auto", "none", "train=0.9,val=0.1" or a column of the labels.

    `labels` is a table, .csv, .tsv or .jsonl. Numbers in its label columns are class indices if
    all of 0 to n-1 occur; others raise until `label_type` says what they are: "index", "name" or
    "float", numbers to predict, or one for each column, {"age": "float", "class": "name"}. What
    was made of each column is in ``str(report)`` and in ``report.details["labels"]``.

    `include` and `exclude` are patterns for paths in src, such as "*.png", "train/" (the folder
    and all in it), "test/*" or "**/x/*"; those that match nothing are named by the report.

    A bar shows how far it is, tqdm's if that is installed; progress=False shows none.

    Bad images are skipped, counted and listed in the report's table, unless `on_error` is
    "fail" or "quarantine:DIR". Raises ValueError for options that make no sense and
    dsconv.Error for all else, with the command's message. Ctrl-C ends it in order: the same
    call goes on from the last checkpoint, discard=True starts anew. It may be called from
    any thread, but an interrupt reaches the main thread alone. With `force`, `keep_old` keeps the
    dataset that was there before for ``dsconv undo``.
    """
    options = _command.flags(
        format=format, resize=resize, upscale=upscale, filter=filter, encode=encode, no_tile=no_tile, strip=strip,
        decode=decode, color=color, exif=exif, compress=compress, split=split, labels=labels,
        label_columns=_joined(label_columns), label_sep=label_sep, label_type=_typed(label_type),
        class_order=class_order, include=_listed(include), exclude=_listed(exclude), limit=limit,
        max_pixels=max_pixels, on_error=on_error, check=check, strict=strict, shard_size=shard_size,
        shard_count=shard_count, min_shards=min_shards, order=order, workers=workers, io_workers=io_workers,
        checkpoint=checkpoint, force=force, keep_old=keep_old, discard=discard, report=report,
    )  # fmt: skip
    steps = _bar.Steps(unit="image", drawn=progress)
    words = ["pack", "--json", "--progress=json", *options, "--", os.fspath(src), os.fspath(dst)]
    try:
        done = _command.run(words, steps.line)
    finally:
        steps.close()
    return _report(json.loads(done.stdout))


def _joined(names: Sequence[str] | None) -> str | None:
    return names if names is None or isinstance(names, str) else ",".join(names)


def _typed(types: str | Mapping[str, str] | None) -> str | None:
    if types is None or isinstance(types, str):
        return types
    if not isinstance(types, Mapping):
        raise TypeError(f'label_type={types!r}: it must be "index", "name" or "float", or one for each column')
    return ",".join(f"{k}={v}" for k, v in types.items())


def _listed(patterns: str | Sequence[str] | None) -> list[str]:
    if patterns is None:
        return []
    return [patterns] if isinstance(patterns, str) else list(patterns)


def _report(details: dict[str, Any]) -> PackReport:
    datasets = details["datasets"]
    return PackReport(
        found=details["found"],
        written=details["written"],
        skipped=len(details["skipped"]),
        failed=details["failed"],
        bytes=sum(d["bytes_out"] for d in datasets),
        seconds=sum(d["seconds"] for d in datasets),
        report=details["report"],
        paths=tuple(d["path"] for d in datasets),
        details=details,
    )
