"""dsconv.pack, and running the command."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import dsconv
import pytest
from dsconv import _command


def flags_of(command: str) -> set[str]:
    """The long flags of a command, as names of parameters."""
    text = _command.run([command, "--help"]).stdout
    return {name.replace("-", "_") for name in re.findall(r"^\s+--([a-z-]+)", text, re.M)}


def test_report(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tar"
    report = dsconv.pack(photos, out, progress=False)
    files = [p for p in photos.rglob("*.jpg")]
    assert (report.found, report.written, report.skipped, report.failed) == (len(files), len(files), 0, 0)
    assert report.bytes == sum(p.stat().st_size for p in files)  # every byte as it was
    assert (
        report.paths == (str(out),) and out.is_file() and report.report == "" and not Path(f"{out}.report.csv").exists()
    )
    assert f"written {len(files)} + skipped 0" in str(report)
    assert repr(report).startswith(f"PackReport(found={len(files)}, written={len(files)}, skipped=0, failed=0, bytes=")
    assert repr(report).endswith(f"report={report.report!r}, paths=({str(out)!r},))")


def test_options_are_passed_on(photos: Path, tmp_path: Path) -> None:
    report = dsconv.pack(
        photos, tmp_path / "parts", format="tfrecord", resize="cover:16x16", encode="raw", split="a=0.5,b=0.5",
        include=["*0.jpg", "*1.jpg"], workers=1, report=tmp_path / "table.csv", progress=False,
    )  # fmt: skip
    assert [Path(p).name.split("-")[0] for p in report.paths] == ["a", "b"]
    assert report.bytes == report.written * 16 * 16 * 3
    assert 0 < report.written < len(list(photos.rglob("*.jpg")))
    assert report.report == str(tmp_path / "table.csv")


def test_the_report_names_patterns_that_match_nothing(photos: Path, tmp_path: Path) -> None:
    folder = next(p for p in sorted(photos.iterdir()) if p.is_dir())
    report = dsconv.pack(photos, tmp_path / "a.tar", exclude=[f"{folder.name}/*", "no such/"], progress=False)
    assert report.found == len(list(photos.rglob("*.jpg"))) - len(list(folder.rglob("*.jpg")))
    assert report.details["unmatched"] == {"exclude": ["no such/"]}
    assert "no file matches exclude 'no such/'" in str(report)


def test_fields(photos: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    for i, photo in enumerate(sorted(photos.rglob("*.jpg"))[:4]):
        (source / "images").mkdir(parents=True, exist_ok=True)
        (source / "images" / f"{i}.jpg").write_bytes(photo.read_bytes())
        (source / "images" / f"{i}.txt").write_text(f"photo {i}")
    images = [{"id": i, "file_name": f"{i}.jpg"} for i in range(4)]
    boxes = [{"image_id": 2, "category_id": 7, "bbox": [1, 2, 3, 4]}]
    coco = tmp_path / "coco.json"
    coco.write_text(json.dumps({"images": images, "annotations": boxes, "categories": [{"id": 7, "name": "cat"}]}))
    given = {"image": "images/{key}.jpg", "caption": "images/{key}.txt"}
    report = dsconv.pack(source, tmp_path / "out.h5", field=given, boxes={"images": coco}, progress=False)
    assert "field caption (text): 4 from images/{key}.txt" in str(report)
    assert [f["name"] for f in report.details["fields"]] == ["image", "caption", "boxes"]
    data = dsconv.Dataset(tmp_path / "out.h5", fields=("caption", "boxes", "box_labels"))
    assert data[2][0] == "photo 2" and data[3][0] == "photo 3"
    assert [x.tolist() for x in data[2][1:]] == [[[1, 2, 4, 6]], [0]] and len(data[3][1]) == 0
    again = dsconv.pack(source, tmp_path / "none.tar", field="none", progress=False)
    assert "fields" not in again.details


def test_bad_images_are_counted(photos: Path, tmp_path: Path) -> None:
    images = tmp_path / "images"
    subprocess.run(["cp", "-r", str(photos), str(images)], check=True)
    cut = next(images.rglob("*.jpg"))
    cut.write_bytes(cut.read_bytes()[:300])
    report = dsconv.pack(images, tmp_path / "out.tar", progress=False)
    assert (report.skipped, report.written) == (1, report.found - 1)
    assert cut.name in Path(report.report).read_text() and report.report in str(report)
    with pytest.raises(dsconv.Error, match=cut.name):
        dsconv.pack(images, tmp_path / "fail.tar", on_error="fail", progress=False)


def test_errors_say_what_is_wrong(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(dsconv.Error, match=r"nowhere.*there is nothing at that path"):
        dsconv.pack(tmp_path / "nowhere", tmp_path / "out.tar", progress=False)
    with pytest.raises(ValueError, match="webm"):
        dsconv.pack(photos, tmp_path / "out.tar", encode="webm", progress=False)
    with pytest.raises(TypeError, match="encoding"):
        dsconv.pack(photos, tmp_path / "out.tar", encoding="raw")  # type: ignore[call-arg]
    dsconv.pack(photos, tmp_path / "out.tar", progress=False)
    with pytest.raises(dsconv.Error, match="already exists"):
        dsconv.pack(photos, tmp_path / "out.tar")  # with its progress on standard error
    dsconv.pack(photos, tmp_path / "out.tar", force=True, progress=False)


def test_every_flag_is_a_parameter() -> None:
    of_datasets = {"columns", "keys", "classes", "num_workers", "multiprocessing_context", "timeout"}
    parameters = set(inspect.signature(dsconv.pack).parameters) - {"src", "dst"} - of_datasets
    # update is for make and cron: it may add, whose report is another one
    assert flags_of("pack") - {"dry_run", "json", "quiet", "help", "update"} == parameters


def test_command_that_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DSCONV_COMMAND", str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError, match="DSCONV_COMMAND=.*gone"):
        _command.path()
    monkeypatch.delenv("DSCONV_COMMAND")
    monkeypatch.setattr(_command, "__file__", str(tmp_path / "_command.py"))
    with pytest.raises(FileNotFoundError, match="program is missing: .*bin/dsconv"):
        _command.path()


def test_command_that_is_the_console_script(tmp_path: Path) -> None:
    script = tmp_path / "dsconv"
    script.write_text(f"#!{sys.executable}\nfrom dsconv._command import main\nmain()\n")
    script.chmod(0o755)
    (tmp_path / "link").symlink_to(script)
    for chosen in script, tmp_path / "link":
        for program in [script], [sys.executable, "-m", "dsconv"]:
            done = subprocess.run(
                [*program, "--version"], env={**os.environ, "DSCONV_COMMAND": str(chosen)},
                capture_output=True, text=True, timeout=300,
            )  # fmt: skip
            assert done.returncode == 0 and done.stdout.startswith("dsconv"), done.stderr


def test_console_entry_point() -> None:
    entry = "import sys; from dsconv._command import main; sys.argv[1:] = ['pack', 'a']; main()"
    done = subprocess.run([sys.executable, "-c", entry], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("dsconv: DST is missing")


def test_an_exception_in_the_progress_bar_ends_the_command(photos: Path, tmp_path: Path) -> None:
    def fail(line: str) -> bool:
        raise ZeroDivisionError(line)

    with pytest.raises(ZeroDivisionError):
        _command.run(["pack", "--progress=json", str(photos), str(tmp_path / "out.tar")], fail)
    assert Path(_command.path()).name not in children()


def children() -> list[str]:
    """The names of this process's children, including zombies."""
    names = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = status.read_text().partition("(")[2].rpartition(")")
            if int(rest.split()[1]) == os.getpid():
                names.append(name)
    return names


# Many checkpoints, and some time after the first of them.
IMAGES = 400
OPTIONS = {"checkpoint": "20KB", "workers": 1, "encode": "png"}

PACK = f"""
    import json, os, sys
    import dsconv
    from dsconv import _progress

    class Steps(_progress.JSONProgress):
        said = False
        def line(self, line):
            if not self.said and line.startswith("{{") and json.loads(line)["done"] >= 40:
                self.said = True
                print("started", flush=True)
            return line.startswith("{{") or super().line(line)

    _progress.JSONProgress = Steps
    try:
        dsconv.pack(sys.argv[1], sys.argv[2], **{OPTIONS})
    except KeyboardInterrupt as err:
        print("interrupted:", err, flush=True)
        raise
"""


def start_pack(tmp_path: Path) -> subprocess.Popen[str]:
    """A Python process that packs images to out.tar and has written checkpoints."""
    _command.run(["synth", str(tmp_path / "images"), f"--n={IMAGES}", "--size=160x160", "--quiet"])
    script = [sys.executable, "-c", textwrap.dedent(PACK), str(tmp_path / "images"), str(tmp_path / "out.tar")]
    child = subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdout is not None and child.stdout.readline() == "started\n"
    return child


def pack_again(tmp_path: Path) -> dsconv.PackReport:
    return dsconv.pack(tmp_path / "images", tmp_path / "out.tar", **OPTIONS, progress=False)


def test_the_command_ends_when_python_is_killed(tmp_path: Path) -> None:
    child = start_pack(tmp_path)
    child.kill()
    child.communicate()
    for _ in range(1500):  # until the command has ended, too; one that had finished is "already there"
        try:
            assert pack_again(tmp_path).written == IMAGES
            return
        except dsconv.Error as err:
            assert "another process" in str(err)
            time.sleep(0.2)
    pytest.fail("the command still runs without its Python")


def test_interrupted_pack_can_be_resumed(tmp_path: Path) -> None:
    child, out = start_pack(tmp_path), tmp_path / "out.tar"
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=600)
    assert child.returncode in (-signal.SIGINT, 130)
    assert "interrupted: " in said and ".partial is unfinished: repeat the command to resume" in said
    assert (tmp_path / "out.tar.partial").is_dir() and not out.exists()

    again = pack_again(tmp_path)
    assert again.written == IMAGES and 0 < again.details["datasets"][0]["resumed"] < IMAGES
    whole = tmp_path / "whole.tar"
    dsconv.pack(tmp_path / "images", whole, encode="png", progress=False)
    assert whole.read_bytes() == out.read_bytes()


def test_an_error_stops_the_command_where_ctrl_c_is_ignored(tmp_path: Path) -> None:
    """The command then starts with SIGINT ignored, too."""
    images, out = tmp_path / "images", tmp_path / "out.tar"
    _command.run(["synth", str(images), f"--n={IMAGES}", "--size=160x160", "--quiet"])

    def fail(line: str) -> bool:
        raise ZeroDivisionError(line)

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(ZeroDivisionError):
            _command.run(["pack", str(images), str(out), "--encode=png", "--workers=1", "--progress=json"], fail)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (tmp_path / "out.tar.partial").is_dir() and not out.exists()


def test_an_unknown_label_type(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="label_type=3"):
        dsconv.pack(tmp_path, tmp_path / "x.lmdb", label_type=3)
