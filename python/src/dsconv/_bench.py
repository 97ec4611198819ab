"""dsconv.bench: calls the command `dsconv bench`, or measures a loader of this process."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

from dsconv import _command, _progress, _scratch
from dsconv._errors import ArgumentError
from dsconv._read_options import FieldMap
from dsconv._report import Report
from dsconv._short_messages import shown
from dsconv._source_options import Path, source_options, source_words


def bench(
    *datasets: Path | Mapping[str, Path] | Iterable[Any],
    rounds: int | None = None,
    epochs: int | None = None,
    limit_batches: int | None = None,
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
    consume: str | float | None = None,
    script: str | os.PathLike[str] | None = None,
    python: str | os.PathLike[str] | None = None,
    step: Callable[[Any], Any] | str | None = None,
    transfer: Callable[[Any], Any] | str | None = None,
    tune: bool = False,
    advise: bool | None = None,
    merge: Sequence[Report | str | os.PathLike[str]] = (),
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
) -> Report:
    """Measures the time of an epoch on several datasets or folders of images, or of a DataLoader.

    All are read with the same loader, augmentations and batch size, in interleaved rounds. Ratios compare with the
    first dataset. The options are the flags of ``dsconv bench``, and its ``--help`` explains them; None is the
    command's default. `consume` is the rate, in images/s, of a simulated GPU.

    The first argument may also be a DataLoader of torch's, or any iterable of batches: a loop of yours. A DataLoader
    is looked into: the report says what its workers spend their time on, part by part, and names the cause that holds
    the epoch back. If its dataset is one of image files, dsconv.Loader loads the same folder with the same transforms
    in a row of its own; the datasets that follow it have rows too. `step` is then the loop's step, a function of a
    batch, and `transfer` one that moves a batch to the device and returns it; `rounds`, `limit_batches`, `consume`
    and `merge` apply too, and no other options but the following. The batches that the loader gives are not changed,
    nor its order afterwards.

    `script` is "train.py:NAME": a DataLoader in a script, which is imported by `python` (by default this one), or a
    function without arguments that returns one. `step` and `transfer` are then names in the script.

    Of a DataLoader, `tune` finds the num_workers, prefetch_factor, pin_memory and persistent_workers with which it is
    fastest here. It has a row with them, and dsconv.Loader is compared with that row. The DataLoader is copied for
    that: dataset, sampler, collate_fn and whatever else it has stay the same.

    With a folder alone, a DataLoader whose transforms dsconv has natively, or with `advise`, ways to pack some of
    the images are tried, and ``report.advice`` recommends one or none; advise=False leaves that out.

    Several folders and archives are one dataset as a dict, {"train": "train.tar", "val": "val/"}. `labels`, `field`,
    `boxes`, `include` and the like say how the first dataset is read, as for `pack`: so it has the samples and fields
    of what was packed from it.

    If another program wrote the first dataset, `map` gives the keys of its fields, {"image": "jpg"}, and
    `source_format` the name of its format; None goes by the content.

    `merge` takes reports of other runs, or their files: of `timed`, of ``python -m dsconv.train``, of an earlier
    `bench`. They are added below the table with their own ratios. Without datasets the report consists of them alone.

    `print` and notebooks show the report as a table; `save` writes its JSON. A progress bar shows the turns, tqdm's if
    it is installed; progress=False shows none.

    Raises:
        ValueError: options are wrong.
        dsconv.Error: any other error.
    """
    datasets = tuple(_joined(d) if isinstance(d, Mapping) else d for d in datasets)
    if not all(_is_path(d) for d in datasets):
        given = {name: value for name, value in locals().items() if name in _OF_DATASETS and value not in (None, False)}
        if given:
            raise ArgumentError(f"bench of a loader takes no {', '.join(sorted(given))}: they are options of datasets")
        _check_subjects(datasets)
        from dsconv._measure.bench import bench as measured

        with contextlib.closing(_progress.JSONProgress("turn", "bench", progress)) as bar:
            loop: dict[str, Any] = {"step": step, "transfer": transfer, "consume": consume}
            turns: dict[str, Any] = {"rounds": rounds, "limit_batches": limit_batches, "on_turn": bar.show}
            report = measured(datasets[0], datasets[1:], tune=tune, **loop, **turns)
        return judged(report, merge, advise, progress)
    if callable(step) or callable(transfer):
        raise ArgumentError("step and transfer are functions only beside a loader; beside a script they are names")
    if script is not None and python is None:
        python = sys.executable
    options = _command.flags(
        rounds=rounds, epochs=epochs, limit_batches=limit_batches, batch=batch, workers=workers, size=size,
        augment=augment, dtype=dtype, decode=decode, layout=layout, split=split, seed=seed,
        order=order, prefetch=prefetch, cache=cache, on_error=on_error, max_pixels=max_pixels, consume=consume,
        script=script, python=python, step=step, transfer=transfer,
        tune=tune,
        **source_options(
            labels, label_columns, label_sep, label_type, class_order, field, boxes, captions, include,
            exclude, map, source_format,
        ),
    )  # fmt: skip
    if advise is not None:
        options.append(f"--advise={str(bool(advise)).lower()}")
    paths = [os.fspath(d) for d in datasets if isinstance(d, (str, os.PathLike))]
    return _run(["--progress=json", *options], merge, paths, unit="turn", title="bench", drawn=progress)


def judged(
    report: Report,
    merge: Sequence[Report | str | os.PathLike[str]] = (),
    advise: bool | None = False,
    drawn: bool = False,
) -> Report:
    """The report with the command's verdicts, and with reports of other runs below it.

    With advise, ways to pack are tried for its DataLoader; None: if a row of dsconv.Loader has native transforms.
    drawn shows the progress of that."""
    if advise is None:
        advise = any("augment" in (row.settings or {}) for row in report.datasets[1:])
    options = ["--merge=-", *(["--advise", "--progress=json"] if advise else [])]
    return _run(options, merge, unit="step", title="pack", drawn=drawn, stdin=report.to_json())


def _run(
    options: Sequence[str],
    merge: Sequence[Report | str | os.PathLike[str]],
    paths: Sequence[str] = (),
    **shown: Any,
) -> Report:
    """The command's report."""
    with _scratch.scratch("bench") as scratch:
        out = os.path.join(scratch, "report.json")
        merged = [f"--merge={_report_file(r, scratch, i)}" for i, r in enumerate(merge)]
        _progress.run_command(["bench", f"--json={out}", *options, *merged, "--", *paths], **shown)
        return Report.load(out)


def _report_file(report: Report | str | os.PathLike[str], scratch: str, i: int) -> str:
    """The path of a report's file; a Report is written to scratch first."""
    if not isinstance(report, Report):
        return os.fspath(report)
    file = os.path.join(scratch, f"merged-{i}.json")
    dataclasses.replace(report, source=report.source or f"merged {i + 1}").save(file)
    return file


# Options that a loader has itself.
_OF_DATASETS = {
    "epochs", "batch", "workers", "size", "augment", "dtype", "decode", "layout", "split", "seed", "order",
    "prefetch", "cache", "on_error", "max_pixels", "script", "python", "map",
    "source_format", "labels", "label_columns", "label_sep", "label_type", "class_order", "field", "boxes",
    "captions", "include", "exclude",
}  # fmt: skip


def _check_subjects(subjects: Sequence[Any]) -> None:
    if _is_path(subjects[0]):
        raise ArgumentError("bench: the loader is the first argument; datasets follow it")
    for subject in subjects:
        if not (_is_path(subject) or hasattr(subject, "__iter__") or hasattr(subject, "__getitem__")):
            raise ArgumentError(f"bench of {shown(subject)}: it must be a path, a DataLoader or another iterable")


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _joined(sources: Mapping[str, Path]) -> str:
    """Several sources as one word of the command."""
    return ",".join(source_words(sources))
