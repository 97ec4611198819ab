"""What was found, path by path; the result does not depend on the order of the images."""

from __future__ import annotations

import math
import threading
from typing import Any

from .difference import Difference, psnr


class Path:
    """One way that pixels take, over all images. Its methods are safe to call from several threads."""

    def __init__(self, name: str, what: str, allowed: str = "") -> None:
        self.name, self.what = name, what
        self.allowed = allowed  # why the path may differ, "" if it may not
        self.images = 0  # that were compared
        self.worst: tuple[str, Difference] | None = None  # the key of the image that differs most
        self.squares: list[float] = []  # of the images that differ
        self.not_judged: dict[str, int] = {}  # images that Pillow cannot be asked about, by reason
        self.refused: list[dict[str, Any]] = []  # images that one side or both do not decode
        self.values = self.same = self.total = 0  # see Difference
        self._bits = 0
        self._lock = threading.Lock()

    def add(self, key: str, d: Difference) -> None:
        """Counts an image."""
        with self._lock:
            self.images += 1
            self._bits = max(self._bits, d.bits)
            self.values += d.values
            self.same += d.same
            self.total += d.total
            if d.largest == 0:
                return
            self.squares.append(d.square)
            worst = self.worst
            if worst is None or d.rank > worst[1].rank or (d.rank == worst[1].rank and key < worst[0]):
                self.worst = key, d

    def skip(self, why: str) -> None:
        """Counts an image that Pillow is not asked about."""
        with self._lock:
            self.not_judged[why] = self.not_judged.get(why, 0) + 1

    def refuse(self, key: str, ours: str, theirs: str, unsupported: bool) -> None:
        """Counts an image that one side or both do not decode, with their reasons. It is excused where the sides do
        not disagree: both refuse it, or dsconv does not support its kind."""
        refusal: dict[str, Any] = {"key": key}
        if ours:
            refusal["dsconv"] = ours
        if theirs:
            refusal["pillow"] = theirs
        refusal["excused"] = unsupported or (ours != "" and theirs != "")
        with self._lock:
            self.refused.append(refusal)

    @property
    def differ(self) -> int:
        return len(self.squares)

    @property
    def largest(self) -> int:
        return self.worst[1].largest if self.worst else 0

    @property
    def bits(self) -> int:
        return self.worst[1].bits if self.worst else self._bits

    @property
    def mean(self) -> float:
        """The mean difference of two values, of 255."""
        return self.total / self.values / 257 if self.values else 0.0

    @property
    def equal_share(self) -> float:
        """The share of values that are equal, 1 if all are."""
        return self.same / self.values if self.values else 1.0

    @property
    def psnr(self) -> float | None:
        """Of the mean square of all images, None where nothing differs."""
        return psnr(math.fsum(self.squares) / self.images) if self.squares else None

    @property
    def min_psnr(self) -> float | None:
        """Of the image that is furthest off."""
        return psnr(max(self.squares)) if self.squares else None

    @property
    def equal(self) -> bool:
        """Whether the path is as it must be."""
        return self.allowed != "" or (not self.squares and all(r["excused"] for r in self.refused))

    def verdict(self) -> str:
        """What is wrong with the path, "" if nothing is."""
        if self.equal:
            return ""
        what = []
        if self.worst:
            key, d = self.worst
            by = f": {d.cause}" if d.cause else f" by {d.largest}"
            what.append(f"{self.differ} of {self.images} images differ, most {key}{by}")
        for r in self.refused:
            if not r["excused"]:
                decodes, refuses = ("Pillow", "dsconv") if "dsconv" in r else ("dsconv", "Pillow")
                what.append(f"{r['key']}: only {decodes} decodes it; {refuses}: {r[refuses.lower()]}")
        return f"{self.name}: {'; '.join(what)}"

    def as_json(self) -> dict[str, Any]:
        self.refused.sort(key=lambda r: r["key"])
        path: dict[str, Any] = {"name": self.name, "what": self.what}
        if self.allowed:
            path["allowed"] = self.allowed
        path.update(images=self.images, differ=self.differ, largest=self.largest)
        if self.bits:
            path["bits"] = self.bits
        path.update(mean=self.mean, equal_share=self.equal_share, psnr=self.psnr, min_psnr=self.min_psnr)
        if self.worst:
            path["worst"] = self.worst[0]
            if self.worst[1].cause:
                path["cause"] = self.worst[1].cause
        if self.not_judged:
            path["not_judged"] = dict(sorted(self.not_judged.items()))
        if self.refused:
            path["refused"] = self.refused
        return path


class Certificate:
    """All paths, with the versions that they hold for."""

    def __init__(self, start: dict[str, Any], judge: dict[str, str], paths: list[Path], changed: list[str]) -> None:
        self.judge, self.dsconv = judge, start["dsconv"]
        self.gpu: dict[str, Any] = start.get("gpu") or {}  # that decoded here, of a dataset that was packed with one
        self.recipe = dict(sorted(start["recipe"].items()))
        self.samples, self.chosen, self.seed = start["samples"], start["chosen"], start["seed"]
        self.paths = [p for p in paths if p.images or p.refused or p.not_judged]
        self.missing, self.changed = sorted(start["missing"]), sorted(changed)
        self.equal = all(p.equal for p in self.paths)

    @property
    def notes(self) -> list[str]:
        """What a reader has to know about the two sides."""
        pillow, jpeg = self.judge["pillow"], self.judge["jpeg"]
        decoder, resampler = self.dsconv["decoder"], self.dsconv["resampler"]
        notes = []
        if major(pillow) != pillow_of(resampler):
            notes.append(f"Pillow {pillow} is not the {resampler} whose pixels dsconv gives: resized images can differ")
        if not jpeg.startswith(decoder):
            notes.append(f"Pillow decodes JPEGs by {jpeg} and dsconv by {decoder}: their pixels can differ")
        for name in ("decoder", "resampler"):
            was, now = self.recipe.get(name, ""), self.dsconv[name]
            if name == "decoder" and was == "gpu":
                notes += self._gpu_notes()
            elif was not in ("", now):
                notes.append(f"the dataset was packed with the {name} {was}, this dsconv has {now}")
        return sorted(notes)

    def _gpu_notes(self) -> list[str]:
        was = packed_by(self.recipe)
        if not self.gpu:
            return [f"the dataset was decoded by {was}; without it here its paths were not compared one by one"]
        now = f"nvJPEG {self.gpu['nvjpeg']} on {self.gpu['card']}"
        return [] if was == now else [f"the dataset was decoded by {was}, the paths gpu are those of {now}"]

    def as_json(self) -> dict[str, Any]:
        gpu = {"gpu": self.gpu} if self.gpu else {}
        return {
            "equal": self.equal,
            "judge": self.judge,
            "dsconv": self.dsconv,
            **gpu,
            "recipe": self.recipe,
            "samples": self.samples,
            "chosen": self.chosen,
            "seed": self.seed,
            "paths": [p.as_json() for p in self.paths],
            "missing": self.missing,
            "changed": self.changed,
            "notes": self.notes,
        }


def packed_by(recipe: dict[str, str]) -> str:
    """The library and card of a recipe that decodes on a GPU."""
    return f"nvJPEG {recipe.get('nvjpeg', '')} on {recipe.get('card', '')}"


def pillow_of(resampler: str) -> int:
    """The major version of the Pillow whose pixels the resampler, such as "pillow-13", gives."""
    return major(resampler[len("pillow-") :])


def major(version: str) -> int:
    """The first number of a version, 0 if it is none."""
    first = version.partition(".")[0]
    return int(first) if first.isdecimal() else 0
