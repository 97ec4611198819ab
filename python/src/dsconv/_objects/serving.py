"""Sends samples to the `dsconv` program: those that it asks for by index, or all of an iterable."""

from __future__ import annotations

import socket
import traceback
from typing import Any

import msgpack

from .fields import Buffers
from .samples import Samples, failed

END = [msgpack.packb(None)]
KEEP = [msgpack.packb(True)]
_SMALL = 16 << 10  # bytes; less is copied into one message


def send(to: socket.socket, buffers: Buffers) -> None:
    """Sends buffers one after another."""
    together = bytearray()
    for b in buffers:
        if len(b) <= _SMALL:
            together += b
            continue
        if together:
            to.sendall(together)
            together = bytearray()
        to.sendall(b)
    if together:
        to.sendall(together)


def serve_indexed(to: socket.socket, samples: Samples) -> None:
    """Answers requests for samples until the program closes its end."""
    requests = msgpack.Unpacker()
    while True:
        data = to.recv(4096)
        if not data:
            return
        requests.feed(data)
        for i in requests:
            send(to, _answer(samples, i))


def _answer(samples: Samples, i: int) -> Buffers:
    try:
        return samples.encode(samples[i])
    except Exception as err:
        return failed(describe(err))


def serve_iterable(to: socket.socket, samples: Samples) -> None:
    """Sends all samples, and the end. An exception of the dataset itself ends it, since nothing comes after it."""
    for split, item in samples.each():
        try:
            buffers = samples.encode(samples.named(item), split=split)
        except Exception as err:
            buffers = failed(describe(err))
        send(to, buffers)
    send(to, END)


def describe(err: BaseException) -> str:
    """An exception and where it was raised, in one line."""
    frames = traceback.extract_tb(err.__traceback__)[1:]
    where = " < ".join(f"{f.filename}:{f.lineno} {f.name}" for f in reversed(frames[-4:]))
    text = str(err) if type(err) is ValueError else f"{type(err).__name__}: {err}"
    return f"{text} ({where})" if where and type(err) is not ValueError else text or type(err).__name__


def pair() -> tuple[socket.socket, socket.socket]:
    """The program's end of a socket and this process's."""
    ends: Any = socket.socketpair()
    for end in ends:
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, option, 1 << 20)
    return ends[0], ends[1]
