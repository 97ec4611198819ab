"""Packs the shards of a plan as tasks of Ray."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dsconv.engines import _unit

if TYPE_CHECKING:
    from dsconv._pack import PackReport


def pack(
    plan: _unit.Path,
    *,
    threads: int = 1,
    retries: int = 5,
    in_flight: int = 1000,
    commit: bool = True,
    address: str | None = None,
) -> PackReport | None:
    """Packs the plan's missing shards on Ray's workers, then publishes the dataset.

    Each shard is a task that reserves `threads` CPUs and uses as many threads. A task whose worker or node dies, or
    whose command fails, runs again up to `retries` times. Then `pack` cancels the other tasks and raises; shards that
    are packed stay, and the same call packs the rest. At most `in_flight` tasks are submitted at a time.

    The connection of an earlier ``ray.init()`` is used if there is one. Otherwise ``ray.init(address=address)``
    connects: to the cluster at `address` or RAY_ADDRESS, or to a new one on this machine.

    The result is the report that `dsconv.pack` returns. With commit=False nothing is published and the result is None;
    `dsconv shards commit PLAN` does it later.

    Raises:
        ImportError: Ray is not installed.
        dsconv.Error: a shard or the commit failed, with the command's message.
        ray.exceptions.RayError: a task's workers died too often, or the cluster is lost.
    """
    ray = _unit.engine("ray", "ray")
    path = os.path.abspath(plan)  # workers may have another working directory
    waiting = _unit.missing(path)[::-1]
    if not ray.is_initialized():
        ray.init(address=address)
    # max_retries alone repeats tasks whose worker died, but none that raised.
    task = ray.remote(num_cpus=threads, max_retries=retries, retry_exceptions=True)(_unit.pack)
    running: list[object] = []
    try:
        while waiting or running:
            while waiting and len(running) < in_flight:
                running.append(task.remote(path, waiting.pop(), threads))
            done, running = ray.wait(running)
            ray.get(done)
    except BaseException:
        for reference in running:
            ray.cancel(reference)
        raise
    return _unit.commit(path) if commit else None
