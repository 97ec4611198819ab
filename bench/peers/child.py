"""Programs that stay ready with their images in memory, and make a pass over them at each request."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from contextlib import AbstractContextManager


class Team(AbstractContextManager):
    """Children that work at the same time. A request is a line of input, an answer a line of JSON."""

    def __init__(self, commands: Sequence[Sequence[object]], core: int | None = None) -> None:
        """Starts a child for each command; core is the one that they may use, None for any."""
        self.children = [start([str(word) for word in command], core) for command in commands]
        self.images = sum(answer["images"] for answer in self.answers())

    def run(self) -> list[dict]:
        """One pass of each child, at the same time."""
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


def start(command: list[str], core: int | None) -> subprocess.Popen:
    pinned = None if core is None else lambda: os.sched_setaffinity(0, {core})
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=pinned)
