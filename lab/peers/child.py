"""Child processes that keep their images in memory and process all of them at each request."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager

# Seconds in which a loader's workers finish their current work before they are stopped.
SETTLE = 0.3


class Team(AbstractContextManager):
    """Child processes that work at the same time. A request is a line of input, an answer a line of JSON."""

    def __init__(self, commands: Sequence[Sequence[object]], core: int | None = None) -> None:
        """Starts a child for each command. They may use only the given core, or any for None."""
        self.children = [start([str(word) for word in command], core) for command in commands]
        self.images = sum(answer.get("images", 0) for answer in self.answers())

    def run(self) -> list[dict]:
        """Runs one pass of each child, at the same time."""
        for child in self.children:
            child.stdin.write("\n")
            child.stdin.flush()
        return self.answers()

    def answers(self) -> list[dict]:
        lines = [child.stdout.readline() for child in self.children]
        if not all(lines):
            raise RuntimeError(f"{self.children[0].args} ended")
        return [json.loads(line) for line in lines]

    def __exit__(self, *_: object) -> None:
        for child in self.children:
            child.stdin.close()
            child.wait()
            child.stdout.close()


class Paused(Team):
    """A child and all its processes. They are stopped between turns, so that idle workers of one tool take no time from
    another."""

    def __init__(self, command: Sequence[object]) -> None:
        super().__init__([command])
        self.pause()

    def run(self) -> list[dict]:
        self.signal(signal.SIGCONT)
        answers = super().run()
        self.pause()
        return answers

    def pause(self) -> None:
        time.sleep(SETTLE)
        self.signal(signal.SIGSTOP)

    def signal(self, which: signal.Signals) -> None:
        for child in self.children:
            os.killpg(child.pid, which)

    def __exit__(self, *error: object) -> None:
        self.signal(signal.SIGCONT)
        super().__exit__(*error)


def start(command: list[str], core: int | None) -> subprocess.Popen:
    """Starts command in its own process group."""
    pinned = None if core is None else lambda: os.sched_setaffinity(0, {core})
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, **pipes, text=True, preexec_fn=pinned, start_new_session=True)
