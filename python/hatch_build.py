"""Builds the Go code of a wheel: the library, the command, and the licences of their contents.

By default the machine's C compiler builds a wheel for this machine. With DSCONV_ARCH=x86_64 or aarch64 in the
environment, Zig links a wheel for every Linux of that architecture with glibc 2.28, from static archives only. For
another architecture than this machine's, Zig also compiles the code, and DSCONV_SYSROOT is the folder with the unpacked
Debian packages.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GLIBC = "2.28"
GOARCH = {"x86_64": "amd64", "aarch64": "arm64"}

# In the linker's order: a library stands before those that it needs.
ARCHIVES = ("hdf5_hl", "hdf5", "tiff", "jpeg", "webpdemux", "webp", "zstd", "lzma", "deflate", "sz", "aec", "z")
DEBIAN = (
    "libhdf5-dev", "libjpeg62-turbo-dev", "libwebp-dev", "libaec-dev", "zlib1g-dev", "libtiff-dev", "libzstd-dev",
    "liblzma-dev", "libdeflate-dev",
)  # fmt: skip


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build = Build(Path(self.root).parent, os.environ.get("DSCONV_ARCH", ""))
        if version == "editable":
            build.into(Path(self.root, "src", "dsconv"), self.metadata.version)
        else:
            files = build.into(build.folder, self.metadata.version)
            build_data["force_include"].update({str(build.folder / f): f"dsconv/{f}" for f in files})
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{build.platform()}"


class Build:
    """One build of the Go module at root, for arch or, if that is empty, for this machine."""

    def __init__(self, root: Path, arch: str) -> None:
        if arch and arch not in GOARCH:
            raise ValueError(f"DSCONV_ARCH={arch}: choose {' or '.join(GOARCH)}")
        self.root = root
        self.portable = bool(arch)
        self.arch = arch or platform.machine()
        self.sysroot = Path(os.environ.get("DSCONV_SYSROOT") or "/")
        self.folder = root / "build" / "package" / (arch or "native")

    def platform(self) -> str:
        if self.portable:
            return f"manylinux_{GLIBC.replace('.', '_')}_{self.arch}"
        return re.sub("[-.]", "_", sysconfig.get_platform())

    def into(self, folder: Path, version: str) -> list[str]:
        """Builds all files into folder and returns their names."""
        folder.mkdir(parents=True, exist_ok=True)
        exports = self.folder / "exports.map"
        exports.parent.mkdir(parents=True, exist_ok=True)
        exports.write_text("{ global: " + "".join(f"{name}; " for name in self.exported()) + "local: *; };\n")
        # The library's HDF5 and libjpeg must not mix with others in the process.
        linker = f"-s -w -extldflags=-Wl,--version-script={shlex.quote(str(exports))}"
        library = str(folder / "libdsconv.so")
        self.go("build", "-buildmode=c-shared", f"-ldflags={linker}", "-o", library, "./internal/capi")
        (folder / "libdsconv.h").unlink(missing_ok=True)
        commit = subprocess.run([self.root / "scripts" / "commit"], capture_output=True, text=True).stdout
        linker = f"-s -w -X main.release={version} -X 'main.commit={commit}'"
        # As all programs of a distribution: its code has another address in each process.
        self.go("build", "-buildmode=pie", f"-ldflags={linker}", "-o", str(folder / "bin" / "dsconv"), "./cmd/dsconv")
        (folder / "LICENSES").write_text(self.licences())
        return ["libdsconv.so", "bin/dsconv", "LICENSES"]

    def exported(self) -> list[str]:
        """The functions of the C ABI."""
        sources = sorted((self.root / "internal" / "capi").glob("*.go"))
        return [name for s in sources for name in re.findall(r"^//export (\w+)$", s.read_text(), re.MULTILINE)]

    def go(self, *arguments: str) -> str:
        command = ["go", *arguments]
        try:
            done = subprocess.run(command, cwd=self.root, env=self.environment(), stdout=subprocess.PIPE, text=True)
        except FileNotFoundError:
            raise RuntimeError("building dsconv from source needs Go (https://go.dev/dl) and a C compiler") from None
        if done.returncode:
            raise RuntimeError(f"{shlex.join(command)} failed in {self.root}")
        return done.stdout

    def environment(self) -> dict[str, str]:
        env = dict(os.environ, CGO_ENABLED="1", GOOS="linux", GOARCH=GOARCH.get(self.arch, ""))
        # Go's own resolver: new headers of glibc give the resolver's functions other names than old libraries have.
        tags = "netgo,osusergo" + (",libtiff_static" if self.archives() else "")
        env["GOFLAGS"] = f"{env.get('GOFLAGS', '')} -trimpath -tags={tags}"
        env["GOEXPERIMENT"] = "simd" if env["GOARCH"] == "amd64" else ""
        compiler = ["-O2", "-Wno-implicit-fallthrough", env.get("CGO_CFLAGS", "")]
        linker = [env.get("CGO_LDFLAGS", "")]
        if archives := self.archives():
            linker += [f"-L{archives}", *(f"-l{name}" for name in ARCHIVES), "-ldl", "-lm"]
        elif self.portable:
            raise RuntimeError(f"archives of {', '.join(DEBIAN)} are missing in {self.libraries()}")
        target = f"{self.arch}-linux-gnu.{GLIBC}"
        include = self.sysroot / "usr" / "include"
        if self.portable and self.arch == platform.machine():
            env["CC"] = f"'{sys.executable}' '{self.root}/python/portable_cc.py' {target}"
        elif self.portable:
            env["CC"] = f"'{sys.executable}' -m ziglang cc -target {target}"
            # Zig's headers of that glibc must come before the machine's. By default Zig traps undefined behaviour,
            # which reduces the speed to a third.
            compiler += ["-fno-sanitize=undefined", f"-I{include}/hdf5/serial"]
            compiler += [f"-idirafter{include}", f"-idirafter{include}/{self.arch}-linux-gnu"]
        env["CGO_CFLAGS"], env["CGO_LDFLAGS"] = " ".join(compiler), " ".join(linker)
        return env

    def libraries(self) -> Path:
        return self.sysroot / "usr" / "lib" / f"{self.arch}-linux-gnu"

    def archives(self) -> Path | None:
        """A folder with only the archives, so that the linker finds no shared libraries beside them."""
        found = [next(self.libraries().glob(f"{d}lib{n}.a"), None) for n in ARCHIVES for d in ("", "hdf5/serial/")]
        found = [path for path in found if path]
        if len(found) != len(ARCHIVES):
            return None
        folder = self.folder / "archives"
        folder.mkdir(parents=True, exist_ok=True)
        for path in found:
            link = folder / path.name
            link.unlink(missing_ok=True)
            link.symlink_to(path.resolve())
        return folder

    def licences(self) -> str:
        """The licence texts of dsconv, of the Go modules, and of the archives if they are linked in."""
        each = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}|{{.Dir}}{{end}}{{end}}"
        listed = self.go("list", "-deps", f"-f={each}", "./internal/capi", "./cmd/dsconv").split("\n")
        texts = {"dsconv": self.root / "LICENSE", "Go": Path(self.go("env", "GOROOT").strip(), "LICENSE")}
        for line in sorted(filter(None, set(listed))):
            name, _, folder = line.partition("|")
            texts.update((f"{name}: {p.name}", p) for p in sorted(Path(folder).glob("**/*LICENSE*")) if p.is_file())
        if self.archives():
            documents = self.sysroot / "usr" / "share" / "doc"
            texts.update((f"{name} (Debian's package)", documents / name / "copyright") for name in DEBIAN)
        rule = "=" * 100
        return "\n".join(f"{rule}\n{name}\n{rule}\n{p.read_text(errors='replace')}" for name, p in texts.items())
