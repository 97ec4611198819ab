"""Ray on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import dsconv.engines.ray
import ray


@contextmanager
def started(slots: int) -> Iterator[Callable[[str], object]]:
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled")
    ray.init(num_cpus=slots, include_dashboard=False, object_store_memory=100_000_000, _node_ip_address="127.0.0.1")
    yield dsconv.engines.ray.pack
    ray.shutdown()
