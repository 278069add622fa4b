"""The target's process: what it may do, and what is left of it afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from assay.audit.findings import GraderCall
from assay.audit.isolation import ProcessLimits, TargetProcess
from assay.audit.replies import BatchProgress
from assay.audit.target import parse_target
from assay.errors import UnknownName
from assay.isolation.frames import BadFrame, decode_object
from assay.isolation.supervised import has_namespaces
from tests.audit.rewards import hostile

BODY = """
import os, subprocess, sys, time

def hangs_on_h(final_response, answer):
    while final_response == "h":
        pass
    return 1.0

def exits_on_x(final_response, answer):
    if final_response == "x":
        os._exit(7)
    return 1.0

def sees_secret(final_response, answer):
    return float("SECRET_TOKEN" in os.environ)

def reads_stdin(final_response, answer):
    return float(sys.stdin.read() == "")

def allocates(final_response, answer):
    return float(len(bytearray(2_000_000_000)) > 0)

def daemon(final_response, answer):
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
        os._exit(0)
    return 1.0

def disguised(final_response, answer):
    code = "import mmap, time; m = mmap.mmap(-1, 900 << 20)\\n"
    code += "for i in range(0, 900 << 20, 4096): m[i] = 1\\ntime.sleep(600)"
    command = [sys.executable, "-c", code, "multiprocessing.resource_tracker"]
    subprocess.Popen(command, start_new_session=True).wait()
    return 1.0

def stays_as_tracker(final_response, answer):
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    subprocess.Popen([*command, "multiprocessing.resource_tracker"], start_new_session=True)
    return 1.0

def has_a_tracker(final_response, answer):
    from multiprocessing.shared_memory import SharedMemory
    SharedMemory(create=True, size=100)
    subprocess.Popen(["sleep", "600"], start_new_session=True, close_fds=False)
    return 1.0

def returns_twice(final_response, answer):
    os.fork()
    return 1.0

def writes(final_response, answer):
    open("left.txt", "w").close()
    return 1.0

def prints(final_response, answer):
    print("x" * 100_000)
    return 1.0

def forges(final_response, answer):
    os.write(int(sys.argv[-1]), bytes.fromhex(final_response))
    return 1.0

def leaves_quietly(final_response, answer):
    sys.exit(3)
"""

Ask = Callable[..., tuple[list[str], TargetProcess]]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    (tmp_path / "guest.py").write_text(BODY)

    def run(name: str, *texts: str) -> tuple[list[str], TargetProcess]:
        spec = parse_target(f"guest.py:{name}", folder=tmp_path)
        limits = ProcessLimits(call_s=0.5, memory_mb=1024)
        with TargetProcess(spec, limits) as isolated:
            calls = [GraderCall(text, {"answer": "1"}) for text in texts]
            answers = isolated.ask(calls, shape="assay")
            isolated.traces.seen.update({("left", name): None for name in isolated.files()})
        return [answer.result.status for answer in answers], isolated

    return run


def test_a_call_that_hangs_costs_only_itself(ask: Ask) -> None:
    statuses, isolated = ask("hangs_on_h", "a", "h", "b", "h", "c")
    assert statuses == ["scored", "timeout", "scored", "timeout", "scored"]
    assert isolated.traces.deaths == 2


def test_a_call_that_ends_the_process_costs_only_itself(ask: Ask) -> None:
    assert ask("exits_on_x", "a", "x", "b")[0] == ["scored", "crashed", "scored"]


def test_sys_exit_is_an_exception_like_others(ask: Ask) -> None:
    assert ask("leaves_quietly", "a", "b")[0] == ["raised", "raised"]


def test_memory_is_limited(ask: Ask) -> None:
    assert ask("allocates", "a")[0] == ["raised"]


def test_memory_of_a_process_under_another_name_is_counted(tmp_path: Path) -> None:
    (tmp_path / "guest.py").write_text(BODY)
    spec = parse_target("guest.py:disguised", folder=tmp_path)
    with TargetProcess(spec, ProcessLimits(call_s=30, memory_mb=512)) as isolated:
        (answer,) = isolated.ask([GraderCall("a", {"answer": "1"})], shape="assay")
    assert answer.result.status == "crashed"


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        ("0000000135", "a number"),
        ("000000047b22317d", "not JSON"),
        ("ffffffff", "longer than allowed"),
        ("0000000f7b22656e64223a312c22736565223a317d", "an end without what belongs to it"),
        ("0000000c7b227374617274223a5b5d7d", "a start with a list for its number"),
    ],
)
def test_a_frame_that_the_target_wrote_itself_is_a_crash_of_that_call(
    ask: Ask, frame: str, why: str
) -> None:
    assert ask("forges", frame)[0] == ["crashed"], why


def test_a_daemon_is_found_and_ended(ask: Ask) -> None:
    statuses, isolated = ask("daemon", "a")
    assert statuses == ["scored"]
    assert isolated.traces.survivors == ["a forked copy of the grader"]
    assert isolated._child.family() == ()


def test_a_process_under_the_name_of_a_tracker_is_reported(ask: Ask) -> None:
    statuses, isolated = ask("stays_as_tracker", "a")
    assert statuses == ["scored"]
    (survivor,) = isolated.traces.survivors
    assert survivor.endswith("time.sleep(600) multiprocessing.resource_tracker")
    assert isolated._child.family() == ()


def test_a_tracker_that_ends_with_what_it_tracks_is_not_reported(ask: Ask) -> None:
    statuses, isolated = ask("has_a_tracker", "a")
    assert statuses == ["scored"]
    assert isolated.traces.survivors == ["sleep 600"]


def test_a_fork_that_returns_does_not_answer_a_second_time(ask: Ask) -> None:
    assert ask("returns_twice", "a", "b", "c")[0] == ["scored"] * 3


def test_files_go_to_a_folder_that_is_removed(ask: Ask) -> None:
    _, isolated = ask("writes", "a")
    assert ("left", "work/left.txt") in isolated.traces.seen
    assert not isolated.work.exists()


def test_output_of_the_target_is_no_output_of_the_audit(
    ask: Ask, capfd: pytest.CaptureFixture[str]
) -> None:
    assert ask("prints", "a")[0] == ["scored"]
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(("name", "value"), [("sees_secret", 0.0), ("reads_stdin", 1.0)])
def test_secrets_and_stdin_stay_outside(
    name: str, value: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    (tmp_path / "guest.py").write_text(BODY)
    with TargetProcess(
        parse_target(f"guest.py:{name}", folder=tmp_path), ProcessLimits()
    ) as isolated:
        (answer,) = isolated.ask([GraderCall("a", {"answer": "1"})], shape="assay")
    assert answer.result.value == value


def test_no_file_descriptor_is_kept(tmp_path: Path) -> None:
    (tmp_path / "guest.py").write_text(BODY)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(2):
        with TargetProcess(
            parse_target("guest.py:writes", folder=tmp_path), ProcessLimits()
        ) as isolated:
            isolated.ask([GraderCall("a", {"answer": "1"})], shape="assay")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("guest.py:nothing", "has no 'nothing'; its functions are"),
        ("broken.py:f", "SyntaxError"),
        ("raising.py:f", "ZeroDivisionError"),
        ("no_such_module_at_all:f", "ModuleNotFoundError"),
    ],
)
def test_a_target_that_cannot_be_loaded_is_one_sentence(
    text: str, because: str, tmp_path: Path
) -> None:
    (tmp_path / "guest.py").write_text(BODY)
    (tmp_path / "broken.py").write_text("def f(:")
    (tmp_path / "raising.py").write_text("1 / 0")
    with (
        TargetProcess(parse_target(text, folder=tmp_path), ProcessLimits()) as isolated,
        pytest.raises(UnknownName, match=because),
    ):
        isolated.start()


HOSTILE = Path(__file__).parent / "rewards" / "hostile.py"
SLEEP = ("sleep", f"613.{os.getpid()}")
"""The command of what is left behind by attacks of this process, and of no other one's."""


@pytest.fixture
def attack(tmp_path: Path) -> Ask:
    module = tmp_path / "hostile.py"
    module.write_text(HOSTILE.read_text().replace(f'"{hostile.SLEEP[1]}"', f'"{SLEEP[1]}"'))
    assert SLEEP[1] in module.read_text()

    def run(name: str, *texts: str) -> tuple[list[str], TargetProcess]:
        # What takes memory is to be ended by its size, on a busy machine too.
        limits = ProcessLimits(call_s=10.0 if "memory" in name else 1.5, memory_mb=256)
        with TargetProcess(parse_target(f"{module}:{name}"), limits) as isolated:
            calls = [GraderCall(text, {"answer": "1"}) for text in texts]
            answers = isolated.ask(calls, shape="assay")
        return [answer.result.status for answer in answers], isolated

    return run


def left_behind() -> list[Path]:
    """Processes that run the command of the hostile rewards."""
    wanted = "\0".join((*SLEEP, "")).encode()
    paths = Path("/proc").glob("[0-9]*/cmdline")
    return [path for path in paths if wanted in _read(path)]


def _read(path: Path) -> bytes:
    with suppress(OSError):
        return path.read_bytes()
    return b""


@pytest.mark.parametrize("name", hostile.ATTACKS)
def test_an_attack_on_the_audit_costs_the_call_and_leaves_nothing(name: str, attack: Ask) -> None:
    statuses, isolated = attack(name, "a")
    assert statuses[0] in hostile.ATTACKS[name]
    assert left_behind() == []
    if name in hostile.REPORTED:
        assert isolated.traces.survivors == [" ".join(SLEEP)]


def test_no_frame_of_the_targets_making_does_more_than_lose_the_call(attack: Ask) -> None:
    frames = ["5", '{"end": true, "seen": []}', hostile.FRAMES[-4]]
    assert attack("forged_frame", *frames)[0] == ["crashed"] * len(frames)


@pytest.mark.parametrize("text", hostile.FRAMES)
def test_a_frame_that_cannot_come_next_is_refused(text: str) -> None:
    progress = BatchProgress(1)
    progress.take({"start": 0}, 0.0)
    with pytest.raises(BadFrame):
        progress.take(decode_object(text.encode("latin-1")), 0.0)


@pytest.mark.parametrize("name", ["environment_of_parent", "environment_above"])
def test_a_target_finds_no_key_of_the_audit(
    name: str, attack: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "environment_above" and not has_namespaces():
        pytest.skip("without namespaces the target sees every process of its user")
    # In the environment that this process was started with, as the kernel shows it.
    text = next(one for one in Path("/proc/self/environ").read_text().split("\0") if one)
    spec = parse_target(f"{HOSTILE}:{name}")
    monkeypatch.setattr("assay.audit.isolation.INHERITED", ("LANG",))
    with TargetProcess(spec, ProcessLimits()) as isolated:
        (answer,) = isolated.ask([GraderCall(text, {"answer": "1"})], shape="assay")
    assert answer.result.value == 0.0


def test_without_namespaces_orphans_are_found_all_the_same(
    attack: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.isolation.supervised.has_namespaces", lambda: False)
    _, isolated = attack("escaped_and_dead", "a")
    assert isolated.traces.survivors == [" ".join(SLEEP)]
    assert attack("shared_memory", "a")[0] == ["crashed"]
    assert left_behind() == []


def test_a_target_that_is_not_callable_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "guest.py").write_text(
        "class Rubric:\n    def score(self): pass\nrubric = Rubric()\nnumber = 4\n"
    )
    for name, because in (
        ("rubric", "not callable: an object of type Rubric \\(it has score\\); name a function"),
        ("number", "not callable: an object of type int"),
        ("Rubric", "Rubric is a class"),
    ):
        with (
            TargetProcess(
                parse_target(f"guest.py:{name}", folder=tmp_path), ProcessLimits()
            ) as isolated,
            pytest.raises(UnknownName, match=because),
        ):
            isolated.start()
