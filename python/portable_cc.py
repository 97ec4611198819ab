"""The C compiler of portable wheels, `portable_cc.py TARGET ARGUMENTS...`: gcc compiles, Zig links.

Linking decides which glibc a program needs, and Zig has the symbols of old versions. Compiling decides the speed:
resizes compiled by gcc take three quarters of the time of clang's.
"""

from __future__ import annotations

import os
import sys

COMPILES = {"-c", "-E", "-S"}


def main(target: str, arguments: list[str]) -> None:
    if COMPILES.intersection(arguments):
        command = ["gcc", *arguments]
    else:
        command = [sys.executable, "-m", "ziglang", "cc", "-target", target, *arguments]
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
