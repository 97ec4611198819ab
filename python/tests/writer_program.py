"""Writes pictures: DST PLAN, where PLAN is JSON. Prints how many were there, and how it ended."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import dsconv
from object_datasets import LONG, png

if __name__ == "__main__":
    dst, plan = sys.argv[1], json.loads(sys.argv[2])
    n, kill_at, every = plan["n"], plan.get("kill_at", -1), plan.get("every", 0)

    def sample(i: int) -> dict[str, Any]:
        """Sample i; some have an image that is none."""
        key = {"key": f"{plan['keys']}{i * 7919 % 10_000:05}"} if "keys" in plan else {}
        return {"image": b"no image" if i % 50 == 7 else png(i), "label": i % 3, "text": f"picture {i}", **key}

    first = {k: v for k, v in sample(0).items() if k != "key"}
    w = dsconv.Writer(dst, classes=["a", "b", "c"], example=first, **plan.get("options", {}))
    print(w.resumed, flush=True)
    for i in range(w.resumed, n):
        w.write(**sample(i))
        if every and i % every == every - 1:
            w.checkpoint()
        if i == kill_at:
            os.kill(os.getpid(), 9)
    end = plan.get("end", "close")
    if end == "close":
        print(w.close().written)
    elif end == "exit":
        os._exit(3)
    elif end == "raise":
        with w:
            if os.fork() == 0:  # such as a worker of a DataLoader, which has the socket, too
                time.sleep(LONG)
            raise LookupError("the pen is broken")
    elif end == "fork":
        child = os.fork()
        if child == 0:
            del w
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        w.write(**sample(n))
        print(w.close().written)
    # else nobody closes it
