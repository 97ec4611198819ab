"""dsconv.pack: calls the command `dsconv pack`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable

from dsconv import _command, _progress
from dsconv._read_options import FieldMap
from dsconv._source_options import Path, source_options, source_words


@dataclass(frozen=True)
class PackReport:
    """The result of `pack`: found = written + skipped + failed."""

    found: int
    written: int
    skipped: int
    failed: int
    bytes: int  # of the written images
    seconds: float
    report: str  # path of the CSV table of skipped images and warnings
    paths: tuple[str, ...]  # of the written datasets
    details: dict[str, Any] = field(repr=False)  # the whole output of ``dsconv pack --json``

    def __str__(self) -> str:
        counts = f"found {self.found} = written {self.written} + skipped {self.skipped} + failed {self.failed}"
        rate = self.written / self.seconds if self.seconds else 0.0
        size = f"{self.bytes / 1e6:.3g} MB, {self.seconds:.1f} s, {rate:.0f} images/s"
        text = f"{counts}; {size}: {', '.join(self.paths)}"
        for column in self.details.get("labels", []):
            text += f"\n{column['said']}"
        for notice in self.details.get("label_notices", []):
            text += f"\n{notice}"
        for found in self.details.get("fields", []):
            missing = f"; {found['missing']} images have none" if found.get("missing") else ""
            text += f"\nfield {found['name']} ({found['kind']}): {found['found']} from {found['from']}{missing}"
        for option, patterns in self.details.get("unmatched", {}).items():
            text += f"\nno file matches {option} {', '.join(map(repr, patterns))}"
        narrowed = sum(len(d.get("narrowed", ())) for d in self.details["datasets"])
        if narrowed:
            text += f"\n{narrowed} images with more than 8 bits per channel lost bits: see {self.report}"
        return text + (f"\nthe skipped images are listed in {self.report}" if self.skipped else "")


def pack(
    src: Any,
    dst: Path,
    *,
    columns: Mapping[str, str | int | Callable[[Any], Any]] | None = None,
    keys: Sequence[str] | str | None = None,
    classes: Sequence[str] | None = None,
    num_workers: int | None = None,
    multiprocessing_context: str | None = None,
    timeout: float = 300,
    format: str | None = None,
    resize: str | None = None,
    upscale: bool = False,
    filter: str | None = None,
    encode: str | None = None,
    no_tile: bool = False,
    strip: bool = False,
    decode: str | None = None,
    decoder: str | None = None,
    nvjpeg: Path | None = None,
    color: str | None = None,
    exif: str | None = None,
    compress: str | None = None,
    split: str | None = None,
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
    limit: int | None = None,
    sample: int | None = None,
    seed: int | None = None,
    max_pixels: int | None = None,
    on_error: str | None = None,
    max_skipped: int | str | None = None,
    check: str | None = None,
    strict: bool = False,
    stats: bool = False,
    shard_size: str | None = None,
    shard_count: int | None = None,
    min_shards: int | None = None,
    order: str | None = None,
    workers: int | None = None,
    io_workers: int | None = None,
    checkpoint: str | None = None,
    memory: str | None = None,
    like: Path | None = None,
    force: bool = False,
    discard: bool = False,
    report: Path | None = None,
    map: FieldMap | Callable[[Any], Any] | None = None,
    source_format: str | None = None,
    progress: bool = True,
) -> PackReport:
    """Converts src, a folder of images, an archive of one or a dataset, into the dataset dst.

    src may also be any dataset of Python's, with a length or an iterable, or a dict of such by the names of splits: see
    docs/python-datasets.md. Its items are (image, label), (image, dict), dicts, named tuples or dataclasses; `columns`
    names the values of others, {"image": 0, "caption": "text"}, and the function `map` changes each item. Files stay as
    they are where the dataset has paths or bytes; of decoded images `encode` must be chosen. `classes` names the
    classes where the dataset does not. `keys` are the samples' keys, or the name of the items' key; without them it is
    the index. `num_workers` processes read the items, one for each core by default; they are started as
    `multiprocessing_context` says. An item that takes longer than `timeout` seconds ends the pack. The options of a
    folder's labels and fields are errors then.

    src may be an archive (.zip, .tar, .tar.gz, .tar.zst), which is read in place. A list of folders and archives is
    packed as one folder, and a dict puts each below the folder of its name: {"train": ["a.tar", "b/"], "val": "val/"}.

    The suffix of dst is the format, in any case: .lmdb, .h5, .tar, .tar.zst, .tfrecord. A pattern such as
    "train-%06d.tar" writes several shards. The options are the flags of ``dsconv pack``, and its ``--help`` explains
    them; None is the command's default.

    `encode` is "keep" (no byte changes), "jpeg-tiled" (no pixel changes, and random crops are decoded alone),
    "jpeg:90", "png" or "raw". `resize` is "shorter:256", "longer:N", "exact:WxH", "fit:WxH" or "cover:WxH". `split` is
    "auto", "none", "train=0.9,val=0.1" (with ":seed=3" other images) or the name of a column of the labels.

    `decoder="gpu"` decodes and resizes JPEGs on an NVIDIA GPU by nvJPEG, which ``pip install nvidia-nvjpeg`` provides;
    `nvjpeg` is the path of another libnvjpeg.so. Pixels are close to Pillow's, not equal.
    ``report.details["datasets"][0]["decoded"]`` counts the images that the GPU's JPEG engine, CUDA and the CPU decoded.

    src may also be a list of images: a .csv, .tsv, .jsonl, .json, .txt or .parquet file with paths, and perhaps labels.

    `labels` is a table: .csv, .tsv, .jsonl, .json, .txt or .parquet. A dict has tables for folders of src, {"val":
    "val.csv"}; other images have the class of their folder, which also names the classes. ImageNet's own files are
    known, such as LOC_val_solution.csv and ILSVRC2012_devkit_t12.tar.gz. Images that their
    table does not list are skipped. `label_columns` names the label columns, or is
    {"path": "Image", "label": "Id"} if the headers are unusual; a "label" of "" says that no column has labels, so that
    images have the class of their folder. ``report.details["label_notices"]`` says how labels were found.

    Numbers in a label column are class indices if all of 0 to n-1 occur.
    Other numbers are an error unless `label_type` gives their type: "index", "name" or "float" (numbers to predict), or
    a type for each column, {"age": "float", "class": "name"}. ``str(report)`` and ``report.details["labels"]`` say
    how each column was read.

    `field` gives samples more than an image and a label, from files beside the images: {"mask": "masks/{key}.png",
    "caption": "{key}.txt"}, or a list of such texts as the flag takes, or "none". `boxes` are a .json file of
    COCO or a pattern of YOLO's or Pascal VOC's files, such as "labels/{key}.txt", and `captions` a .json file of COCO,
    or a .csv or .txt with columns image and caption.
    A dict has a file of COCO for each folder: {"train": "instances_train.json"}.
    ``report.details["fields"]`` says what was found; docs/fields.md explains it all.

    `include` and `exclude` are patterns for paths in src, such as "*.png", "train/" (the folder with all its content),
    "test/*" or "**/x/*". The report names patterns that match no file.

    `like` is a dataset, such as "train.lmdb": src is packed with its options and its classes. A class that it does not
    have is an error.

    `limit` packs the first images by key, `sample` a random sample of that many images, which `seed` decides.

    `stats` records mean and standard deviation of each channel, the samples of each class and the sizes in the dataset,
    for ``Loader(normalize="dataset")``; each image is decoded for it. ``report.details["datasets"][0]["pixel_stats"]``
    has them.

    Bad images are skipped, counted and listed in the report's table, unless `on_error` is "fail".
    More than `max_skipped` of them are an error: a number, or a share such as "5%"; None is 1 %, and at least 10.
    What cannot be read (rights, disk, network) is always one: no image is left out for it.

    If another program wrote src, `map` gives the keys of its fields, {"image": "jpg"}, and `source_format`
    the name of its format, such as "webdataset"; None goes by the content (docs/sources.md).

    A progress bar is shown, tqdm's if it is installed; progress=False shows none. Ctrl-C stops `pack` safely: the same
    call resumes where it stopped, and discard=True starts over. `pack` may be called from any thread, but
    Ctrl-C reaches only the main thread.

    Raises:
        ValueError: options are wrong.
        dsconv.Error: any other error, with the command's message.
    """
    dataset = not _is_paths(src)
    mapped = map if dataset or callable(map) else None
    if not dataset and (columns or keys or classes or num_workers is not None or multiprocessing_context or mapped):
        raise ValueError(
            "columns, keys, classes, num_workers and a function as map are for datasets of Python, not for paths"
        )
    options = _command.flags(
        format=format, resize=resize, upscale=upscale, filter=filter, encode=encode, no_tile=no_tile, strip=strip,
        decode=decode, decoder=decoder, nvjpeg=nvjpeg, color=color, exif=exif, compress=compress, split=split,
        limit=limit, sample=sample, seed=seed,
        max_pixels=max_pixels, on_error=on_error, max_skipped=max_skipped, check=check, strict=strict, stats=stats,
        shard_size=shard_size, shard_count=shard_count, min_shards=min_shards, order=order, workers=workers,
        io_workers=io_workers, checkpoint=checkpoint, memory=memory, like=like, force=force,
        discard=discard, report=report,
        **source_options(
            labels, label_columns, label_sep, label_type, class_order, field, boxes, captions, include,
            exclude, None if dataset else map, source_format,  # type: ignore[arg-type]
        ),
    )  # fmt: skip
    if dataset:
        return _pack_dataset(
            src, os.fspath(dst), options, columns=columns, mapped=mapped, keys=keys, classes=classes, encode=encode,
            num_workers=num_workers, method=multiprocessing_context, timeout=timeout, drawn=progress,
        )  # fmt: skip
    arguments = ["pack", "--json", "--progress=json", *options, "--", *source_words(src), os.fspath(dst)]
    done = _progress.run_command(arguments, unit="image", drawn=progress)
    return report_of(json.loads(done.stdout))


def _is_paths(src: Any) -> bool:
    """Reports whether src is a path, or paths in a list or a dict."""
    if isinstance(src, (str, bytes, os.PathLike)):
        return True
    if isinstance(src, Mapping):
        return all(_is_paths(s) for s in src.values())
    return isinstance(src, (list, tuple)) and all(isinstance(s, (str, os.PathLike)) for s in src)


def _pack_dataset(src: Any, dst: str, options: list[str], **how: Any) -> PackReport:
    """Packs a dataset of Python's."""
    from ._objects import packing

    for flag in options:
        name = flag[2:].partition("=")[0]
        if name.replace("-", "_") in _OF_FOLDERS:
            raise ValueError(f"{name.replace('-', '_')} is for folders: the items of a dataset have labels and fields")
    return report_of_text(packing.pack_objects(src, dst, options, **how))


_OF_FOLDERS = {
    "labels", "label_columns", "label_sep", "label_type", "class_order", "field", "boxes", "captions",
    "map", "source_format",
}  # fmt: skip


def report_of_text(text: str) -> PackReport:
    """The report in a command's output."""
    return report_of(json.loads(text))


def report_of(details: dict[str, Any]) -> PackReport:
    """The report in what a command prints as JSON."""
    datasets = details["datasets"]
    return PackReport(
        found=details["found"],
        written=details["written"],
        skipped=len(details["skipped"]),
        failed=details["failed"],
        bytes=sum(d["bytes_out"] for d in datasets),
        seconds=sum(d["seconds"] for d in datasets),
        report=details.get("report", ""),  # a commit that was done before names none
        paths=tuple(d["path"] for d in datasets),
        details=details,
    )
