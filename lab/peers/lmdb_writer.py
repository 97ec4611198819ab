"""Packs a folder of images into LMDB with Python's lmdb at its fastest: lmdb_writer.py SOURCE TARGET."""

import os
import sys

import lmdb

# Images in a write transaction, a usual number.
TRANSACTION = 1000


def main(source: str, target: str) -> None:
    """Writes keys in order, so that pages are appended, and syncs once at the end."""
    paths = [os.path.join(top, name) for top, _, names in os.walk(source) for name in names]
    items = sorted((os.fsencode(os.path.splitext(os.path.relpath(p, source))[0]), p) for p in paths)
    size = sum(os.path.getsize(p) for p in paths)
    env = lmdb.open(target, map_size=2 * size + (1 << 28), sync=False, metasync=False)
    for first in range(0, len(items), TRANSACTION):
        with env.begin(write=True) as txn:
            for key, path in items[first : first + TRANSACTION]:
                with open(path, "rb") as f:
                    txn.put(key, f.read(), append=True)
    env.sync(True)
    env.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
