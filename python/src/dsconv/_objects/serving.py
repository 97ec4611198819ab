"""Sends samples to the `dsconv` program: those that it asks for by index, or all of an iterable."""

from __future__ import annotations

import socket
import time
from typing import Any

import msgpack

from .fields import Buffers
from .samples import Samples, failed

END = [msgpack.packb(None)]
_MOST = 512  # buffers of a sendmsg
SECONDS_BETWEEN_STATES = 30


def send(to: socket.socket, buffers: Buffers) -> None:
    """Sends buffers one after another."""
    whole = sum(map(len, buffers))
    sent = to.sendmsg(buffers[:_MOST])
    if sent == whole:
        return
    for b in buffers:
        if sent < len(b):
            to.sendall(memoryview(b)[sent:])
        sent = max(sent - len(b), 0)


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
        return failed(err)


def serve_iterable(to: socket.socket, samples: Samples) -> None:
    """Sends all samples, and the end. An exception of the dataset itself ends it, since nothing comes after it."""
    done, kept = 0, time.monotonic()
    if samples.resumes:
        done, state = answer(to)
        samples.go_on(state)
    for split, item in samples.each(done):
        try:
            buffers = samples.encode(samples.named(item), split=split)
        except Exception as err:
            buffers = failed(err)
        send(to, buffers)
        done += 1
        if samples.resumes and time.monotonic() - kept > SECONDS_BETWEEN_STATES and done >= len(samples.first):
            if state := samples.state(done):
                keep(to, state)
            kept = time.monotonic()
    send(to, END)


def keep(to: socket.socket, state: bytes = b"") -> None:
    """Waits until the program has made durable what it got, with the state."""
    send(to, [msgpack.packb(state)])
    answer(to)


def answer(to: socket.socket) -> tuple[int, bytes]:
    """How many samples are durable; first with the last state. Raises BrokenPipeError if the program has ended."""
    found = msgpack.Unpacker()
    while data := to.recv(1 << 16):
        found.feed(data)
        for n, state in found:
            return n, state
    raise BrokenPipeError


def pair() -> tuple[socket.socket, socket.socket]:
    """The program's end of a socket and this process's."""
    ends: Any = socket.socketpair()
    for end in ends:
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, option, 1 << 20)
    return ends[0], ends[1]
