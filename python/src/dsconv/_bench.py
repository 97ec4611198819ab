"""dsconv.bench: calls the command `dsconv bench`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dsconv import _command, _progress
from dsconv._report import Report


def bench(
    *datasets: str | os.PathLike[str],
    rounds: int | None = None,
    epochs: int | None = None,
    limit_batches: int | None = None,
    batch: int | None = None,
    workers: int | None = None,
    size: int | None = None,
    augment: str | None = None,
    views: int | None = None,
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
    train: str | None = None,
    backend: str | None = None,
    advise: bool | None = None,
    apply: str | os.PathLike[str] | None = None,
    merge: Sequence[Report | str | os.PathLike[str]] = (),
    progress: bool = True,
) -> Report:
    """Measures the time of an epoch on several datasets or folders of images.

    All are read with the same loader, augmentations and batch size, in interleaved rounds. Ratios compare with the
    first dataset. The options are the flags of ``dsconv bench``, and its ``--help`` explains them; None is the
    command's default. `consume` is the rate, in images/s, of a simulated GPU; `train` is the model ("mlp", "cnn") of
    the command's own trainer.

    With a folder alone, or with `advise`, ways to pack some of its images are tried, and ``report.advice``
    recommends one or none. `apply` names a new folder into which the first dataset is packed so; ``report.applied``
    has the predicted and the measured time of an epoch.

    `merge` takes reports of other runs, or their files: of `timed`, of ``python -m dsconv.train``, of an earlier
    `bench`. They are added below the table with their own ratios. Without datasets the report consists of them alone.

    `print` and notebooks show the report as a table; `save` writes its JSON. A progress bar shows the turns, tqdm's if
    it is installed; progress=False shows none.

    Raises:
        ValueError: options are wrong.
        dsconv.Error: any other error.
    """
    options = _command.flags(
        rounds=rounds, epochs=epochs, limit_batches=limit_batches, batch=batch, workers=workers, size=size,
        augment=augment, views=views, dtype=dtype, decode=decode, layout=layout, split=split, seed=seed,
        order=order, prefetch=prefetch, cache=cache, on_error=on_error, max_pixels=max_pixels, consume=consume,
        train=train, backend=backend, apply=apply,
    )  # fmt: skip
    if advise is not None:
        options.append(f"--advise={str(bool(advise)).lower()}")
    with tempfile.TemporaryDirectory(prefix="dsconv-bench-") as scratch:
        out = os.path.join(scratch, "report.json")
        merged = [f"--merge={_file(r, scratch, i)}" for i, r in enumerate(merge)]
        paths = [os.fspath(d) for d in datasets]
        arguments = ["bench", f"--json={out}", "--progress=json", *options, *merged, "--", *paths]
        _progress.run_command(arguments, unit="turn", title="bench", drawn=progress)
        return Report.load(out)


def _file(report: Report | str | os.PathLike[str], scratch: str, i: int) -> str:
    """The path of a report's file; a Report is written to scratch first."""
    if not isinstance(report, Report):
        return os.fspath(report)
    file = Path(scratch, str(i), "report.json")
    file.parent.mkdir()
    named = Report(**{**vars(report), "source": report.source or f"merged {i + 1}"})
    named.save(file)
    return str(file)
