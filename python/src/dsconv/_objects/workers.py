"""Processes that read items."""

from __future__ import annotations

import io
import multiprocessing
import os
import pickle
import signal
import socket
import threading
import types
from multiprocessing import connection
from typing import Any

from .._errors import ArgumentError
from .._short_messages import shown
from .samples import Samples
from .serving import serve_indexed

_SECONDS_TO_END = 0.3
_OPEN = ("File", "Dataset", "Group", "Connection", "Environment")
_CODE = (types.FunctionType, types.ModuleType, type)


class Workers:
    """Processes that answer the program's requests for samples, each at one socket.

    Each of `ends` is the program's end of a socket, and the process's, which is closed here.
    """

    def __init__(self, samples: Samples, ends: list[tuple[socket.socket, socket.socket]], method: str | None) -> None:
        context: Any = multiprocessing.get_context(method)
        self._program = [a for a, _ in ends]
        own = [b for _, b in ends]
        self.processes: list[Any] = []
        forked = context.get_start_method() == "fork"
        for k, end in enumerate(own):
            others = [s.fileno() for s in (*self._program, *own[k + 1 :])] if forked else []
            # Daemonic processes could not start any of their own, as a dataset might.
            p = context.Process(target=_work, args=(end, samples, others), name=f"dsconv-worker-{k}")
            try:
                p.start()
            except (pickle.PicklingError, AttributeError, TypeError) as err:
                self.end()
                raise ArgumentError(
                    f"the dataset cannot be sent to a process that is started by {context.get_start_method()}: {err}. "
                    "num_workers=0 reads it in this process; what cannot be pickled, such as a lambda or an open file, "
                    "must be made in __getitem__ or be left out"
                ) from err
            self.processes.append(p)
            end.close()

    def ended(self, message: str) -> str:
        """Says which worker has ended by itself, if that is what the program's message is about; else ""."""
        if "has ended" not in message:
            return ""
        for p in self.processes:
            if p.exitcode is None:
                p.join(0.05)
            if p.exitcode:
                if p.exitcode < 0:
                    name = signal.Signals(-p.exitcode).name
                    why = "; the kernel does that if memory is short" if name == "SIGKILL" else ""
                    return f"the worker process {p.pid} was killed by {name}{why}"
                return f"the worker process {p.pid} ended with exit code {p.exitcode}: its message is above"
        return (
            "a worker process ended by itself; processes that are started by spawn import the main module again, "
            "which needs if __name__ == '__main__':"
        )

    def end(self) -> None:
        """Ends the processes, at once those that hang in an item."""
        for p in self.processes:
            p.join(_SECONDS_TO_END)
        for p in self.processes:
            if p.is_alive():
                p.kill()
            p.join()


def _work(to: socket.socket, samples: Samples, others: list[int]) -> None:
    """The main function of a process. others are descriptors of other processes' sockets, which fork has copied."""
    for fd in others:
        os.close(fd)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the first one decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        serve_indexed(to, samples)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the program has ended, and says why


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def unshareable(samples: Samples) -> str:
    """What in the datasets forked processes would share, such as the position in an open file; "" for nothing."""
    look = _Look(_Null(), pickle.HIGHEST_PROTOCOL)
    try:
        look.dump([d for _, d in samples.datasets])
    except _Found as found:
        return str(found)
    except Exception:
        return ""  # what cannot be pickled is copied by a fork
    return ""


class _Found(Exception):
    pass


class _Null(io.RawIOBase):
    def write(self, data: Any) -> int:
        return len(data)


class _Look(pickle.Pickler):
    """Walks through an object as a pickler does, and finds what processes must not share."""

    def reducer_override(self, value: Any) -> Any:
        module = type(value).__module__.partition(".")[0]
        if isinstance(value, io.IOBase) and not isinstance(value, (io.BytesIO, io.StringIO)):
            raise _Found(f"the open file {shown(getattr(value, 'name', value))}")
        if module in ("h5py", "sqlite3", "lmdb") and type(value).__name__ in _OPEN:
            raise _Found(f"an open {module}.{type(value).__name__}")
        if getattr(value, "is_cuda", False) is True:
            raise _Found("a tensor on a GPU")
        if hasattr(value, "__array__") or hasattr(value, "getbands") or (isinstance(value, _CODE) and value is not str):
            return str, ()  # nothing in it is shared
        return NotImplemented
