"""Dask on this machine: one process for each worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import dsconv.engines.dask
from distributed import Client


@contextmanager
def started(slots: int) -> Iterator[Callable[[str], object]]:
    with Client(n_workers=slots, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as client:
        yield partial(dsconv.engines.dask.pack, client=client)
