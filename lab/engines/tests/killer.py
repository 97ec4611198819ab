"""Kills processes at random times while a job runs."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any

from job import Job
from processes import Process, Unit, ancestors, kill, processes, units, wait_until

# What dies for a running unit: takes the unit, its ancestors (the parent first) and all processes.
Victims = Callable[[Unit, "list[Process]", "dict[int, Process]"], "list[Process]"]


class Killer(threading.Thread):
    """Kills what `victims` chooses for a running unit, `count` times or until stop().

    `kills` has what was hit: only kills of a unit that was under way before and not complete afterwards. A kill counts
    when the unit's own process has ended too. `afterwards` is called after each, for example to start a new node.
    """

    def __init__(
        self,
        job: Job,
        kind: str,
        victims: Victims,
        count: int = 4,
        longest: float = 4.0,
        afterwards: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(daemon=True)
        self.job, self.kind, self.victims, self.count, self.longest = job, kind, victims, count, longest
        self.afterwards = afterwards
        self.kills: list[dict[str, Any]] = []
        self.error: BaseException | None = None
        self._ended = threading.Event()
        self.start()

    def __enter__(self) -> Killer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends the thread. Raises what went wrong in it."""
        self._ended.set()
        self.join()
        if self.error is not None:
            raise self.error

    def run(self) -> None:
        try:
            while len(self.kills) < self.count and not self._ended.wait(random.uniform(0, self.longest)):
                self._kill_one()
        except BaseException as error:
            self.error = error

    def _kill_one(self) -> None:
        table = processes()
        # A shard that dies again and again would use up the engine's retries.
        running = [u for u in units(self.job.plan, table) if sum(k["shard"] == u.shard for k in self.kills) < 2]
        # Process 1 is the parent of units that have lost their own and are about to stop.
        running = [u for u in running if u.process.parent != 1 and self.job.attempt(u.shard)]
        if not running:
            return
        unit = random.choice(running)
        victims = self.victims(unit, ancestors(unit.process, table), table)
        if not victims or not unit.process.is_alive() or self.job.is_packed(unit.shard):
            return
        now = time.time()
        kill(victims)
        hit = not self.job.is_packed(unit.shard)
        wait_until(lambda: not unit.process.is_alive(), f"{unit.process.name} ends after its {self.kind} was killed")
        if hit:
            self.kills.append({
                "time": round(now, 2), "kind": self.kind, "pid": victims[0].pid, "name": victims[0].name,
                "shard": unit.shard, "unit_ended_after": round(time.time() - now, 2),
            })  # fmt: skip
        if self.afterwards is not None:
            self.afterwards()
