"""Patches classes of the simulator so that steps become fast and repeatable.

Most of a step is the parser, which names all objects anew for every template, and sets of objects,
which hash by identity. Names are cached while an action is read (`java/assay/Referents.java`), the
words of a text for good, and an object's hash is its id, so that the order of sets is the same in
every run. The list of all tasks is made once (`java/assay/TaskMakers.java`). Other releases of the
simulator are not changed.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Final

from assay.worlds.scienceworld import bytecode as jvm
from assay.worlds.scienceworld.bytecode import ClassFile

OBJECT: Final = "scienceworld/struct/EnvObject"
PARSER: Final = "scienceworld/input/InputParser"
INTERFACE: Final = "scienceworld/runtime/pythonapi/PythonInterface"
TASK_MAKER: Final = "scienceworld/tasks/TaskMaker1"
REFERENTS: Final = "assay/Referents"
TASK_MAKERS: Final = "assay/TaskMakers"
OURS: Final = (REFERENTS, TASK_MAKERS)
"""Classes that are added."""


def _match_once(parser: ClassFile) -> None:
    signature = f"(Ljava/lang/String;[L{OBJECT};L{OBJECT};)Lscala/Tuple2;"
    call = parser.call_static(REFERENTS, "match", signature)
    code = jvm.ALOAD_1 + jvm.ALOAD_2 + jvm.ALOAD_3 + call + jvm.RETURN_OBJECT
    parser.replace_body("matchObj", signature, code, size=(3, 4))


def _split_once(parser: ClassFile) -> None:
    signature = "(Ljava/lang/String;)[Ljava/lang/String;"
    code = jvm.ALOAD_1 + parser.call_static(REFERENTS, "tokens", signature) + jvm.RETURN_OBJECT
    parser.replace_body("tokenize", signature, code, size=(1, 2))


def _hash_by_id(thing: ClassFile) -> None:
    code = jvm.ALOAD_0 + thing.call(OBJECT, "uuid", "()J") + jvm.LONG_TO_INT + jvm.RETURN_INT
    thing.add_method("hashCode", "()I", code, size=(2, 1))


def _print_less_and_list_tasks_once(interface: ClassFile) -> None:
    things, texts = f"L{OBJECT};L{OBJECT};", "[Ljava/lang/String;"
    old = interface.call(f"{PARSER}$", "getPossibleReferents", f"({things}){texts}")
    # A static method, which takes the object first.
    new = interface.call_static(REFERENTS, "unprinted", f"(L{PARSER}$;{things}){texts}")
    interface.replace_once("step", "(Ljava/lang/String;)Ljava/lang/String;", old, new)
    make = interface.call_static(TASK_MAKERS, "forTask", f"(Ljava/lang/String;)L{TASK_MAKER};")
    signature = "(Ljava/lang/String;ILjava/lang/String;)V"
    interface.replace_new("doLoad", signature, TASK_MAKER, jvm.ALOAD_1 + make)


def _register_elsewhere(maker: ClassFile) -> None:
    call = maker.call_static(TASK_MAKERS, "register", f"(L{TASK_MAKER};)V")
    maker.replace_body("registerTasks", "()V", jvm.ALOAD_0 + call + jvm.RETURN, size=(1, 1))


CHANGES: Final[dict[str, tuple[Callable[[ClassFile], None], str]]] = {
    OBJECT: (_hash_by_id, "f31d1ab7eed50934bc622bf5287d4a67ae07a27e06a0eefdba9ebf070d59e721"),
    PARSER: (_match_once, "0f4d5a84efa4ee2b7c980b7300b45f9c01c916202dd247a5569879f423b065d3"),
    f"{PARSER}$": (_split_once, "8705dbd8d0f062111f10cbe661b8cf655c38be52d055e6342705a5dbb53e4c1f"),
    INTERFACE: (
        _print_less_and_list_tasks_once,
        "94c0439ee13e977dfb3ef1abd1fcfaac65564ff467547a447a1a69bfecd0337f",
    ),
    TASK_MAKER: (
        _register_elsewhere,
        "9affb585e295a4253ad57b214574008479480c47e983edbe888a5f35b7fe8fd2",
    ),
}
"""What is done to a class, and the SHA-256 that it has in scienceworld 1.2.3."""


@cache
def quicker_classes(jar: str) -> dict[str, bytes]:
    """Return the patched and the added classes by file name; empty for another release."""
    with zipfile.ZipFile(jar) as archive:
        names = set(archive.namelist())
        if not {f"{name}.class" for name in CHANGES} <= names:
            return {}
        originals = {name: archive.read(f"{name}.class") for name in CHANGES}
    folder = resources.files(__package__) / "java"
    classes = {f"{name}.class": folder.joinpath(f"{name}.class").read_bytes() for name in OURS}
    for name, (change, sha256) in CHANGES.items():
        if hashlib.sha256(originals[name]).hexdigest() != sha256:
            return {}
        class_file = ClassFile(originals[name])
        change(class_file)
        classes[f"{name}.class"] = class_file.to_bytes()
    return classes
