"""dsconv.Writer: a dataset of samples that a program writes one by one."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Callable

from .. import _command
from .._errors import ArgumentError, Error
from .._pack import PackReport, report_of_text
from .._source_options import Path
from . import serving
from .packing import Run, encoding_flags, header_of
from .samples import Samples, class_list


class Writer:
    """Writes samples one by one into the dataset dst: those of a loop, a crawler, a renderer.

        with dsconv.Writer("out.lmdb", classes=["cat", "dog"]) as w:
            for i, (image, label) in enumerate(mine()):
                w.write(image=image, label=label, key=f"{i:06d}")

    The first sample decides the fields, whose values may be all that `dsconv.pack` takes: files as paths or bytes stay
    as they are, and pixels need `encode`. Without `key` a sample's key is its number. Samples of an LMDB or HDF5 may
    come in any order of keys; they are in the folder dst.items until the end. Tars and TFRecords have the order of the
    calls.

    Leaving the block publishes the dataset; an exception in it leaves dst.partial or dst.items, as does a crash. What
    `checkpoint` and a minute before a crash had is kept: `Writer(dst, example=...)` goes on, and its `resumed` says how
    many calls of `write` are done. `discard=True` starts over.

    Several processes write one dataset by a Writer each, to files of their own, which ``dsconv merge all.lmdb parts/*``
    joins. A Writer belongs to one thread at a time.

    Args:
        dst: the path, as for `pack`; with %06d for shards of `shard_size`.
        classes: the names of the label's classes.
        example: a sample, as a dict of the arguments of `write`, if `resumed` is needed before the first call.
        **options: of `pack`: encode, resize, split, shard_size, on_error, force, discard and so on.
    """

    _run: Run | None = None

    def __init__(
        self, dst: Path, *, classes: Sequence[str] | None = None, example: Mapping[str, Any] | None = None,
        progress: bool = False, **options: Any,
    ) -> None:  # fmt: skip
        self._dst, self._classes, self._drawn = os.fspath(dst), classes, progress
        self._encode = options.get("encode")
        self._flags = _command.flags(**{"order": "key", **options})
        self._samples: Samples | None = None
        self._asked = False  # the caller knows how many samples there are
        self._resumed = 0
        self._closed = False
        self.report: PackReport | None = None
        if example is not None:
            self._begin(dict(example))

    @property
    def resumed(self) -> int:
        """How many calls of `write` an interrupted Writer has done: the loop goes on after them. It needs `example`."""
        if self._run is None:
            raise ArgumentError("Writer.resumed is known once there is a sample: give Writer(..., example={...}) one")
        self._asked = True
        return self._resumed

    def write(self, *, key: str | None = None, split: str | None = None, **values: Any) -> None:
        """Adds a sample. Raises ValueError for values that do not fit the first sample's fields, and writes none then.

        An image that cannot be decoded is skipped and is in `report`, as `on_error` says.
        """
        if self._closed:
            raise Error(f"the writer of {self._dst} is closed")
        if self._run is None:
            self._begin(dict(values))
        assert self._samples is not None and self._run is not None
        if self._resumed and not self._asked:
            raise Error(
                f"{self._dst} has {self._resumed} samples of an interrupted writer: go on after them, as "
                "Writer(..., example={...}).resumed says, or start over with discard=True"
            )
        if key is not None and (not isinstance(key, str) or not key):
            raise ArgumentError(f"key={key!r}: it must be a text")
        self._ask(serving.send, self._samples.encode(values, key, split))

    def checkpoint(self) -> None:
        """Makes the samples that were written durable: after a crash a Writer goes on from here."""
        if self._run is None:
            return
        self._ask(serving.keep)

    def close(self) -> PackReport:
        """Finishes the dataset and publishes it. A second call returns the same report."""
        if self.report is not None:
            return self.report
        if self._run is None or self._closed:
            raise Error(f"{self._dst}: nothing was written")
        self._ask(serving.send, serving.END)
        self._closed = True
        self.report = report_of_text(self._run.wait())
        return self.report

    def __del__(self) -> None:
        if self._run is not None and not self._closed:
            warnings.warn(f"{self._dst} is not published: its Writer was not closed", stacklevel=2)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if kind is None:
            self.close()
        elif self._run is not None and not self._closed:
            self._closed = True
            self._run.stop()

    def _begin(self, values: dict[str, Any]) -> None:
        samples = Samples([], None, None)
        samples.decide([values], {}, class_list(self._classes) if self._classes else None)
        flags = encoding_flags(
            samples, self._encode, self._flags, "the first sample", "the path or the bytes of a file keep it"
        )
        self._samples = samples
        header = header_of(samples, length=-1, timeout=0, ascending=False, resumes=True)
        self._run = Run(self._dst, flags, header, self._drawn)
        self._resumed, _ = self._ask(serving.answer)

    def _ask(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a function with the program's socket. Raises the program's error if it has ended."""
        assert self._run is not None
        try:
            return call(self._run.socket, *arguments)
        except (BrokenPipeError, ConnectionResetError):
            self._closed = True
            self._run.wait()
            raise Error(f"{self._dst}: the program that writes it has ended") from None
