#!/usr/bin/env python3
"""Packs, adds, merges, shards and converts with two builds of dsconv, and compares the files they write.

    python lab/identity/run.py BASE HEAD IMAGES WORK [--only TEXT]

BASE and HEAD are the programs, IMAGES is a folder with a folder for each class, and WORK is deleted first. Both
programs work in the same folder, one after the other, because datasets record where their images came from. Data files
must have the same bytes. Files that describe a dataset, such as reports with times, may differ: they are named.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

# A line is a case, made of commands; $C is the folder of classes, $Z, $T, $S, $L and $D are made of it by sources().
CASES = """
pack $C keep.lmdb
pack $C keep.h5
pack $C keep.tar
pack $C keep.tfrecord
pack $C key.tar --order key
pack $C 'keep-%06d.tar' --shard-size 4MB
pack $C 'keep-%06d.tfrecord' --shard-size 4MB
pack $C keep.tar.zst
pack $C small.lmdb --resize shorter:64 --encode jpeg:90
pack $C small.h5 --resize shorter:64 --encode jpeg:90
pack $C small.tar --resize shorter:64 --encode jpeg:85:444
pack $C small.tfrecord --resize longer:80 --encode jpeg:75:optimize
pack $C progressive.lmdb --resize cover:96x64 --encode jpeg:90:progressive
pack $C png.tar --resize shorter:48 --encode png
pack $C raw.lmdb --resize cover:48x48 --encode raw
pack $C raw.h5 --resize cover:48x48 --encode raw
pack $C raw.tfrecord --resize cover:48x48 --encode raw
pack $C raw.tar --resize cover:48x48 --encode raw
pack $C tiled.lmdb --encode jpeg-tiled
pack $C tiled.tar --encode jpeg-tiled:4
pack $C tiled.h5 --encode jpeg-tiled
pack $C filter.lmdb --resize shorter:64 --filter bicubic --encode jpeg:90
pack $C some.lmdb --include '*1*.jpg'
pack $S splits.lmdb
pack $S out --format tar
pack $Z zip.lmdb
pack $Z zip.tar --encode jpeg-tiled
pack $T tar.h5
pack a=$C b=$Z two.lmdb
pack $L list.lmdb
pack $L list.tfrecord --resize shorter:64 --encode jpeg:90
pack $D fields.lmdb --field 'text={key}.txt'
pack $D fields.tar --field 'text={key}.txt' --resize shorter:64 --encode png
pack $C a.lmdb; pack a.lmdb b.h5
pack $C a.lmdb; pack a.lmdb 'b-%03d.tar' --shard-size 4MB --resize shorter:64 --encode jpeg:90
pack $C a.tar; pack a.tar b.lmdb
pack $C a.h5; pack a.h5 b.tfrecord
pack $C a.lmdb --include '*1*.jpg'; add a.lmdb $C --include '*.jpg'
pack $C 'a-%03d.tar' --shard-size 4MB --include '*1*.jpg'; add 'a-%03d.tar' $C --include '*.jpg'
pack $C a.lmdb; rm a.lmdb --glob '**/*1*'
pack $C 'a-%03d.tfrecord' --shard-size 4MB; rm 'a-%03d.tfrecord' --glob '**/*1*'
pack $C a.h5; relabel a.h5 --glob '**/*1*' --set label=dress
pack $C a.lmdb --include '*1*.jpg'; pack $C b.tar --exclude '*1*.jpg'; merge all.lmdb a.lmdb b.tar
pack $C a.lmdb --include '*1*.jpg'; pack $C b.tar --exclude '*1*.jpg'; merge 'all-%03d.tar' a.lmdb b.tar
shards plan $C 'x-%03d.tar' --shards 2 -o p.json; shards pack p.json 0; shards pack p.json 1; shards commit p.json
shards plan $C s.tfrecord --resize shorter:64 --encode png -o p.json; shards pack p.json 0; shards commit p.json
pack $C a.tar; unpack a.tar images
"""
DESCRIPTIONS = ("dataset.json", "manifest.parquet", "p.json", ".report.csv")


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("base", type=Path)
    p.add_argument("head", type=Path)
    p.add_argument("images", type=Path)
    p.add_argument("work", type=Path)
    p.add_argument("--only", default="")
    args = p.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    variables = sources(args.images.resolve(), args.work.resolve() / "sources")
    failed = cases = 0
    for case in CASES.strip().splitlines():
        if args.only not in case:
            continue
        cases += 1
        base, head = (
            run(program.resolve(), case, variables, args.work.resolve() / "out") for program in (args.base, args.head)
        )
        data = {name for name in base | head if base.get(name) != head.get(name)}
        described = {name for name in data if is_description(name)}
        data -= described
        failed += bool(data)
        note = f" ({', '.join(sorted(described))} differ)" if described else ""
        print("DIFFERENT" if data else "equal", f"{len(base):3} files", case + note, *sorted(data), flush=True)
    sys.exit(f"{failed} of {cases} cases differ" if failed else print(f"all {cases} cases are equal"))


def is_description(name: str) -> bool:
    return name.endswith(DESCRIPTIONS) or ".dsconv" in name


def sources(images: Path, folder: Path) -> dict[str, str]:
    """Makes the sources of the cases from a folder of classes: archives, splits, a list, images with fields."""
    folder.mkdir()
    found = sorted(file for file in images.rglob("*") if file.suffix.lower() in (".jpg", ".jpeg"))
    found = found[:: max(1, len(found) // 120)]
    rows = ["path,label"]
    for i, file in enumerate(found):
        name = f"{file.parent.name}/{file.name}"
        for copy in (f"classes/{name}", f"splits/{'val' if i % 5 == 0 else 'train'}/{name}", f"fields/{name}"):
            (folder / copy).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, folder / copy)
        (folder / "fields" / name).with_suffix(".txt").write_text(f"a caption of {name}\n")
        rows.append(f"classes/{name},{file.parent.name}")
    (folder / "list.csv").write_text("\n".join(rows) + "\n")
    with zipfile.ZipFile(folder / "images.zip", "w") as z, tarfile.open(folder / "images.tar", "w") as t:
        for file in sorted((folder / "classes").rglob("*.*")):
            z.write(file, file.relative_to(folder / "classes"))
            t.add(file, str(file.relative_to(folder / "classes")))
    names = {"C": "classes", "S": "splits", "D": "fields", "L": "list.csv", "Z": "images.zip", "T": "images.tar"}
    return {variable: str(folder / name) for variable, name in names.items()}


def run(program: Path, case: str, variables: dict[str, str], folder: Path) -> dict[str, str]:
    """Runs the commands of a case in a new folder, and returns the hash of each file that they leave."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    for command in case.split("; "):
        words = [str(program), *(word if word[0] != "$" else variables[word[1:]] for word in shlex.split(command))]
        words = [f"{w.split('=')[0]}={variables[w.split('=$')[1]]}" if "=$" in w else w for w in words]
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{shlex.join(words)}: exit {done.returncode}\n{done.stderr}{done.stdout}")
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != "lock.mdb")
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


if __name__ == "__main__":
    main()
