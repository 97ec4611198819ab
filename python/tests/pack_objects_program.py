"""Packs pictures slowly: DST ITEMS SECONDS LOG OPTIONS; OPTIONS are JSON, and "iterable" gives one after another."""

from __future__ import annotations

import json
import sys

import dsconv
from object_datasets import LONG, Pictures

if __name__ == "__main__":
    dst, n, seconds, log, options = sys.argv[1:]
    pictures = Pictures(int(n), seconds=float(seconds), log=log)
    how = json.loads(options)
    dataset = (pictures[i] for i in range(len(pictures))) if how.pop("iterable", False) else pictures
    report = dsconv.pack(dataset, dst, progress=False, timeout=LONG, **how)
    print(report.details["datasets"][0].get("resumed", 0))
