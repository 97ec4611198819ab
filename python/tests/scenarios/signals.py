"""Ctrl-C and other signals."""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import dsconv
import numpy as np
from shared import FEW, digest, expected, forked, loader, threads


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    yield
    timer.join()


def interrupted(work: Callable[[], Any], after: float = 0.3) -> None:
    """Asserts that Ctrl-C ends work before it ends by itself."""
    try:
        with interrupt_after(after):
            work()
    except KeyboardInterrupt:
        return
    raise AssertionError("Ctrl-C did not interrupt")


def interrupt_slow_batch(path: str) -> None:
    """path has large images: a batch of so many would take an hour, and the timer would end the process first."""
    slow = dsconv.Loader(path, 200000, "resize:4x4", sampler=[0, 1] * 100000, num_workers=1)
    with closing(slow):
        interrupted(lambda: next(iter(slow)))
    assert sum(len(y) for _, y in dsconv.Loader(path, 2, "resize:32x32")) == 2  # a second loop works


def interrupt_slow_transform(path: str) -> None:
    def transform(image: Any) -> Any:
        time.sleep(0.2)
        return np.asarray(image)

    slow = loader(path, transforms=transform)
    interrupted(lambda: list(slow))
    assert len(next(iter(slow))[0]) == 8


def interrupt_body(path: str) -> None:
    train = loader(path)
    want = expected(path)

    def loop() -> None:
        for _ in train:
            time.sleep(10)

    interrupted(loop)
    train.set_epoch(0)
    assert digest(train) == want


def interrupt_anywhere(path: str) -> None:
    """Ctrl-C at any moment of many loops: no memory is overwritten, and nothing leaks."""
    sys.unraisablehook = lambda _: None  # Python swallows what comes in a __del__
    train, count, moments = loader(path), 0, random.Random(1)
    want = [expected(path, epoch) for epoch in range(2)]
    idle, armed = threads(), []

    def press(*_: Any) -> None:
        if armed:
            armed.clear()
            raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, press)
    while count < 200:
        try:
            armed.append(True)
            signal.setitimer(signal.ITIMER_REAL, moments.uniform(0.0005, 0.02))
            while armed:
                for batch in train:
                    digest([batch])
        except KeyboardInterrupt:
            count += 1
    train.set_epoch(0)
    for epoch in range(2):
        assert digest(train) == want[epoch]
    train.close()
    assert threads() <= idle + FEW, (idle, threads())


def interrupt_main(path: str) -> None:
    """Without a handler, the process ends with the status of Ctrl-C."""
    train = loader(path)
    with interrupt_after(0.3):
        while True:
            for _ in train:
                pass


def terminate(path: str) -> None:
    """SIGTERM ends the process at once, as the library has no handler for it."""
    epoch = iter(loader(path))
    next(epoch)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(30)


def other_signals(path: str) -> None:
    """Python's signal handlers work before and after the library is loaded, and in a forked process."""
    seen: list[int] = []
    for number in (signal.SIGCHLD, signal.SIGUSR1, signal.SIGHUP):
        signal.signal(number, lambda n, _: seen.append(n))
    want = expected(path)
    signal.signal(signal.SIGUSR2, lambda n, _: seen.append(n))
    train = loader(path)

    def check() -> bool:
        seen.clear()
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
            os.kill(os.getpid(), number)
        train.set_epoch(0)
        assert digest(train) == want
        assert subprocess.run(["true"], check=False).returncode == 0
        receiver, sender = os.pipe()
        os.close(receiver)
        try:
            os.write(sender, b"x")
        except BrokenPipeError:
            pass
        else:
            raise AssertionError("a broken pipe was not noticed")
        os.close(sender)
        while not {signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGCHLD} <= set(seen):
            time.sleep(0.001)  # a signal that never comes is a hang
        return True

    assert check()
    assert forked(check)


def many_signals(path: str) -> None:
    """Repeated signals do not stop calls of the library and lose no batch."""
    want = expected(path)
    ticks = []
    signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    train = loader(path)
    epochs = 0
    while epochs < 10 or len(ticks) <= 10:
        train.set_epoch(0)
        assert digest(train) == want
        epochs += 1
    signal.setitimer(signal.ITIMER_REAL, 0)


def crash(path: str) -> None:
    """faulthandler, which was enabled first, reports a crash."""
    faulthandler.enable()
    digest(loader(path))
    faulthandler._sigsegv()  # type: ignore[attr-defined]
