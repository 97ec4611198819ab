"""Packs the shards of a plan as tasks of Dask."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

from dsconv.engines import _unit

if TYPE_CHECKING:
    from distributed import Client

    from dsconv._pack import PackReport


def pack(
    plan: _unit.Path, client: Client, *, threads: int = 1, retries: int = 5, commit: bool = True
) -> PackReport | None:
    """Packs the plan's missing shards on Dask's workers, then publishes the dataset.

    Each shard is a task that uses `threads` threads; a worker runs as many tasks at once as it has threads itself. So
    use workers of one thread (``dask worker --nthreads 1``) with threads=N, or of N threads with threads=1.

    A task whose command fails runs again up to `retries` times. A task whose worker dies runs again too, but Dask gives
    up when this has happened to it more often than the scheduler's setting ``distributed.scheduler.allowed-failures``
    (3) says, and raises KilledWorker. Set it higher before the scheduler starts if workers come and go.

    After a failure the other tasks are cancelled, shards that are packed stay, and the same call packs the rest.

    The result is the report that `dsconv.pack` returns. With commit=False nothing is published and the result is None;
    `dsconv shards commit PLAN` does it later.

    Raises:
        ImportError: Dask is not installed.
        dsconv.Error: a shard or the commit failed, with the command's message.
        distributed.KilledWorker: a task's workers died too often.
    """
    as_completed = _unit.engine("distributed", "distributed").as_completed
    path = os.path.abspath(plan)  # workers may have another working directory
    call = uuid.uuid4().hex[:8]  # the scheduler would answer a key of an earlier call with its old result
    futures = [
        client.submit(_unit.pack, path, shard, threads, key=f"dsconv-shard-{shard}-{call}", retries=retries)
        for shard in _unit.missing(path)
    ]
    try:
        for future in as_completed(futures):
            future.result()
            future.release()  # a result that nobody wants is not computed again if its worker dies
    except BaseException:
        client.cancel(futures)
        raise
    return _unit.commit(path) if commit else None
