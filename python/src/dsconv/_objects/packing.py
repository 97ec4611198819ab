"""Packs the samples of datasets: starts the processes that read them, and the `dsconv` program that writes them."""

from __future__ import annotations

import json
import os
import threading
import warnings
import weakref
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from typing import Any, Callable

from .. import _command, _progress
from .._errors import ArgumentError, Error
from . import files, serving
from .fields import IMAGE, Columns
from .samples import Keys, Samples, describe, gather
from .workers import Workers, unshareable

_MAX_WORKERS = 8
_SECONDS_TO_END = 2
_READS_AHEAD = 16  # samples that a worker is asked for at once, at most
_BYTES_AHEAD = 16 << 20


def pack_objects(
    dataset: Any,
    dst: str,
    flags: list[str],
    *,
    columns: Columns | None,
    mapped: Callable[[Any], Any] | None,
    keys: Keys,
    classes: Sequence[str] | None,
    encode: str | None,
    num_workers: int | None,
    method: str | None,
    timeout: float,
    drawn: bool,
) -> str:
    """Packs a dataset, and returns what the program prints."""
    if num_workers is not None and (type(num_workers) is not int or num_workers < 0):
        raise ArgumentError(f"num_workers={num_workers!r}: it must be a whole number, 0 or more")
    if columns is not None and not isinstance(columns, Mapping):
        raise ArgumentError(f"columns={columns!r}: it must be a dict, such as {{'image': 0, 'label': 1}}")
    if hasattr(dataset, "batch_sampler") and hasattr(dataset, "collate_fn"):
        raise ArgumentError("a DataLoader gives batches, of images that were changed to fit: give its .dataset")
    if isinstance(dataset, Mapping) and any(f.startswith("--split=") for f in flags):
        raise ArgumentError("split= is for one dataset: the dict names the splits")
    if files.is_listable(dataset) and not (columns or mapped or keys or classes):
        return _pack_listed(dataset, dst, flags, drawn)
    samples = gather(dataset, columns, mapped, keys, classes)
    flags = encoding_flags(samples, encode, flags, type(dataset).__name__, files.advice(dataset))
    _warn_of_random(dataset, samples)
    header = _header(samples, timeout)
    if samples.indexed:
        n = _worker_count(samples, num_workers, method)
        if n > 0:
            return _with_workers(samples, dst, flags, header, n, method, drawn)
        return _in_process(serving.serve_indexed, samples, dst, flags, header, drawn)
    if num_workers:
        raise ArgumentError(
            f"num_workers={num_workers}: an iterable dataset is read by this process alone, so that its order stays; "
            "leave it out"
        )
    return _in_process(serving.serve_iterable, samples, dst, flags, header, drawn)


def _pack_listed(folder: Any, dst: str, flags: list[str], drawn: bool) -> str:
    """Packs torchvision's ImageFolder as a list of its files, so that the dataset is that of the folder itself."""
    here, encode = os.getcwd(), json.JSONEncoder().encode
    labels = [encode(name) for name in folder.classes]
    lines = [f'{{"path": {encode(os.path.join(here, path))}, "label": {labels[c]}}}\n' for path, c in folder.samples]
    arguments = ["pack", "--json", "--progress=json", *flags, "--", "-", dst]
    return _progress.run_command(arguments, unit="image", drawn=drawn, stdin="".join(lines)).stdout


def encoding_flags(samples: Samples, encode: str | None, flags: list[str], whose: str, advice: str) -> list[str]:
    """The flags with those that keep pixels as they are. Raises ArgumentError for pixels without an encoding."""
    if encode in (None, "keep", "jpeg-tiled") and any(f.decoded and f.kind == IMAGE for f in samples.fields):
        raise ArgumentError(
            f"the images of {whose} are pixels: choose how to store them, such as encode='png' (the same pixels) or "
            f"'jpeg:90' (smaller). To store the files as they are: {advice}"
        )
    if encode in ("png", "raw") and not any(f.startswith("--color=") for f in flags):
        return [*flags, "--color=keep"]
    return flags


def header_of(samples: Samples, **more: Any) -> dict[str, Any]:
    """The description of the samples that Go's items.Header reads."""
    return {
        "schema": [f.schema() for f in samples.fields],
        "decoded": any(f.decoded for f in samples.fields if f.kind == IMAGE),
        "size": samples.size, **more,
    }  # fmt: skip


def _header(samples: Samples, timeout: float) -> dict[str, Any]:
    lengths = samples.lengths() if samples.indexed else []
    identity = f"{lengths} {samples.digest}"
    if not samples.indexed:
        return header_of(
            samples, length=-1, timeout=timeout, ascending=samples.key_field is None, resumes=samples.resumes,
            identity=identity,
        )  # fmt: skip
    splits = [{"name": name, "count": n} for name, n in lengths if name]
    return header_of(
        samples, length=len(samples), timeout=timeout, splits=splits, keys=samples.keys or [], identity=identity
    )


def _warn_of_random(dataset: Any, samples: Samples) -> None:
    names = sorted({n for _, d in samples.datasets for n in files.random_transforms(d)})
    if names or samples.random:
        what = "something random: an item differs when it is read again"
        if names:
            what = f"transforms that draw ({', '.join(names)})"
        warnings.warn(
            f"{type(dataset).__name__} has {what}. One draw for each image would be packed, the same in every epoch. "
            "Pack the dataset without it, and give it to the Loader",
            stacklevel=4,
        )


def _worker_count(samples: Samples, asked: int | None, method: str | None) -> int:
    shared = ""
    if asked != 0 and get_context(method).get_start_method() == "fork":
        shared = unshareable(samples)
    if asked is None:
        return 0 if shared else min(len(os.sched_getaffinity(0)), _MAX_WORKERS, len(samples))
    if asked and shared:
        raise ArgumentError(
            f"num_workers={asked}: the dataset has {shared}, which processes that are forked would share, and read "
            "wrong data. Open it in __getitem__ when it is first used, or set num_workers=0"
        )
    return min(asked, len(samples))


def _arguments(dst: str, flags: list[str], program: Sequence[Any]) -> list[str]:
    sockets = [f"--items={end.fileno()}" for end in program]
    return ["pack", "--json", "--progress=json", *sockets, *flags, "--", dst]


def _with_workers(
    samples: Samples, dst: str, flags: list[str], header: dict[str, Any], n: int, method: str | None, drawn: bool
) -> str:
    pairs = [serving.pair() for _ in range(n)]
    program = [a for a, _ in pairs]
    try:
        workers = Workers(samples, pairs, method)
    except BaseException:
        _close(end for pair in pairs for end in pair)
        raise
    try:
        done = _progress.run_command(
            _arguments(dst, [*flags, *_readers(samples, flags, n)], program), unit="item", drawn=drawn,
            stdin=json.dumps(header), sockets=program,
        )  # fmt: skip
    except Error as err:
        why = workers.ended(str(err))
        raise (Error(f"{why}. {err}") if why else err) from err
    finally:
        _close(program)
        workers.end()
    return done.stdout


def _readers(samples: Samples, flags: list[str], n: int) -> list[str]:
    ahead = min(max(_BYTES_AHEAD // samples.size, 2), _READS_AHEAD)
    return [] if any(f.startswith("--io-workers") for f in flags) else [f"--io-workers={ahead * n}"]


def _close(sockets: Any) -> None:
    for s in sockets:
        s.close()


def _in_process(
    serve: Callable[[Any, Samples], None], samples: Samples, dst: str, flags: list[str], header: dict[str, Any],
    drawn: bool,
) -> str:  # fmt: skip
    run = Run(dst, [*flags, *([] if not samples.indexed else _readers(samples, flags, 1))], header, drawn)
    try:
        serve(run.socket, samples)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the program has ended, and says why
    except BaseException as err:
        run.stop()
        if isinstance(err, Exception):
            raise Error(f"the dataset failed: {describe(err)}; {dst} is not finished") from err
        raise
    return run.wait()


def _stop(to: Any, served: threading.Event, ended: threading.Event, running: list[Any], process: int) -> None:
    served.set()
    if os.getpid() == process:  # one that was forked has no such thread
        to.shutdown(2)  # the program keeps all that it got; other processes may have the socket, too
        if not ended.wait(_SECONDS_TO_END):  # it reads no more, such as when it has all samples
            for program in running:
                program.terminate()
            ended.wait()
    to.close()


class Run:
    """The program, which runs in a thread while this one sends samples to `socket`."""

    def __init__(self, dst: str, flags: list[str], header: dict[str, Any], drawn: bool) -> None:
        program, self.socket = serving.pair()
        result: dict[str, Any] = {}
        running: list[Any] = []
        # After a KeyboardInterrupt in its join a thread seems to have ended: hence the event.
        self._result, self._ended, bar = result, threading.Event(), _progress.JSONProgress("item", drawn=drawn)
        self._served = threading.Event()  # nothing more is sent
        ended, served = self._ended, self._served

        def run() -> None:  # it does not know self, which could not be forgotten then
            try:
                arguments = _arguments(dst, flags, [program])
                result["text"] = _command.run(arguments, bar.line, json.dumps(header), [program], running.append).stdout
            except BaseException as err:
                result["error"] = err
            finally:
                program.close()
                bar.close()
                ended.set()
            if "error" in result and not served.wait(_SECONDS_TO_END):  # an item does not return
                warnings.warn(f"{result['error']}; it takes no more items", stacklevel=2)

        threading.Thread(target=run, name="dsconv-pack", daemon=True).start()
        # A Writer that nobody closes, or an exit in the middle, must not leave the program waiting.
        self.stop = weakref.finalize(self, _stop, self.socket, served, ended, running, os.getpid())

    def wait(self) -> str:
        """Waits for the program, and returns what it prints."""
        self._served.set()
        try:
            self._ended.wait()
        finally:
            self.stop()
        if "error" in self._result:
            raise self._result["error"]
        found: str = self._result["text"]
        return found
