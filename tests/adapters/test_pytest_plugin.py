"""The pytest plugin: what it demands of a reward, and what a failure shows."""

import glob
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.adapters import golden
from assay.adapters.pytest_fixture import RewardFixture, RewardProcess
from assay.errors import BadInput, BadParameter

# pytester forgets modules that are first imported within its tests, and pickling needs this one.
from assay.rewards.outcome.maths import reward as _maths  # noqa: F401

pytest_plugins = ("pytester",)

ROOT = Path(__file__).parents[2]
REWARDS = """
import threading, time
import assay

@assay.reward(name="tested_equal", version=1, replace=True)
def equal(final_response: str, answer: str) -> assay.Scored:
    return assay.Scored(float(answer in final_response), f"looked for {answer!r}")

def hangs(final_response: str) -> float:
    while final_response == "hang":
        time.sleep(0.01)
    return float(final_response == "gold")

def thread_shy(final_response: str) -> float:
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("signal only works in main thread")
    return float(final_response == "gold")
"""
FAILURES = [
    ("equal).pays('5', answer='4')", "is paid too little; at least 1", "looked for '4'"),
    ("equal).refuses('not 4', answer='4')", "is paid; at most 0", "looked for '4'"),
    ("equal).abstains('5', answer='4', reason='bad_row')", "should abstain (bad_row)", "score   0"),
    ("equal).agrees('4', 'four', answer='4')", "unlike another form", "another '4' gets 1"),
    ("equal).check('4', answer='4', forms=['four'])", "another form of the gold", "'four'"),
    ("equal).check('4', answer='4', near_misses=['14'])", "is a near miss, and is paid", "'14'"),
    ("equal).check('4', answer='4', no_ops=['4?'])", "is no answer, and is paid", "answer='4'"),
    ("equal).check('5', answer='4')", "is the gold answer, and is paid too little", "score   0"),
    ("hangs).check('gold', no_ops=['hang'], within_s=0.1)", "took more than", "'hang'"),
    ("thread_shy).check('gold')", "scored otherwise in a thread among 4", "signal only works"),
    ("lambda final_response: 1.0).check('x', no_ops=[])", "in another process", "processes=False"),
]


@pytest.fixture
def rewards(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with a module of rewards that tests there import."""
    pytester.makepyfile(plugged_rewards=REWARDS)
    pytester.syspathinsert()
    return pytester


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", *options)


def test_a_failure_shows_the_response_the_columns_and_the_reason(rewards: pytest.Pytester) -> None:
    tests = "\n".join(
        f"def test_{number}(reward): reward({call}" for number, (call, _, _) in enumerate(FAILURES)
    )
    rewards.makepyfile(f"from plugged_rewards import equal, hangs, thread_shy\n{tests}")
    result = run(rewards)
    result.assert_outcomes(failed=len(FAILURES))
    shown = result.stdout.str()
    sections = shown.split("\n____")[1:]
    for (_, what, detail), section in zip(FAILURES, sections, strict=True):
        assert what in section
        assert detail in section
        assert "pytest_fixture.py" not in section


def test_five_lines_are_a_test(rewards: pytest.Pytester) -> None:
    rewards.makepyfile(
        """
        import pytest

        @pytest.mark.reward("math_equal_reward", tolerance="exact")
        def test_halves(reward):
            reward.check("1/2", answer="0.5", forms=["0.50"], near_misses=["0.51"], processes=False)

        @pytest.mark.reward("plugged_rewards:equal")
        def test_address(reward):
            reward.pays("4", answer="4")

        def test_unnamed(reward):
            reward.pays("4", answer="4")
        """
    )
    result = run(rewards, "--strict-markers")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*no reward is named; mark the test with @pytest.mark.reward*"])


def test_a_golden_file_is_held_and_written_anew_when_asked(rewards: pytest.Pytester) -> None:
    rewards.makepyfile(
        """
        from plugged_rewards import equal

        def test_golden(reward):
            reward(equal).golden("equal.jsonl", rows=[{"final_response": "4", "answer": "4"}])
        """
    )
    missing = run(rewards)
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*pytest --assay-update*"])
    run(rewards, "--assay-update").stdout.fnmatch_lines(["assay: 1 row(s) of *equal.jsonl*"])
    file = rewards.path / "equal.jsonl"
    assert golden.read_golden(file)[0].score == {
        "scorer": "tested_equal@1", "value": 1.0, "because": "looked for '4'", "parts": {},
    }  # fmt: skip
    run(rewards).assert_outcomes(passed=1)
    file.write_bytes(file.read_bytes().replace(b'"value":1.0', b'"value":0.0'))
    changed = run(rewards)
    changed.assert_outcomes(failed=1)
    changed.stdout.fnmatch_lines(["*was 0 by tested_equal@1*", "*now 1 by *", "*raise*version*"])


def test_a_test_that_ends_its_process_fails_and_the_next_gets_another(tmp_path: Path) -> None:
    process = RewardProcess()
    tester = RewardFixture(process=process, folder=tmp_path, update=False, updated=[])
    try:
        with pytest.raises(AssertionError, match="ended the process in which it was scored"):
            tester("tests.adapters.rewards_to_test:ends").check("gold", no_ops=[])
        tester("tests.adapters.rewards_to_test:counts").check("gold", no_ops=[""])
    finally:
        process.close()


def commit(folder: Path, file: str) -> None:
    who = ("-c", "user.name=me", "-c", "user.email=me@example.com")
    for words in (("init", "-q"), ("add", file), (*who, "commit", "-qm", "golden")):
        subprocess.run(["git", *words], cwd=folder, check=True)


def test_the_hook_refuses_another_number_under_the_same_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"final_response": "4", "answer": "4"}
    file = tmp_path / "maths.jsonl"
    scorer = RewardFixture(process=RewardProcess(), folder=tmp_path, update=False, updated=[])
    golden.write_golden(file, [(row, scorer("math_equal_reward").score("4", answer="4"))])
    commit(tmp_path, file.name)
    assert golden.main([str(file)]) == 0

    file.write_bytes(file.read_bytes().replace(b'"value":1.0', b'"value":0.5'))
    assert golden.main(["--no-rescore", str(file)]) == 1
    assert "another score under the same version" in capsys.readouterr().err
    assert golden.main([str(file)]) == 1
    assert "was 0.5 by math_equal_reward" in capsys.readouterr().err

    file.write_bytes(b'{"final_response": "4", "answer": "4"}\n')
    assert golden.main([str(file)]) == 1
    assert "a row without a score" in capsys.readouterr().err
    file.write_bytes(b"[1]\n")
    assert golden.main([str(file)]) == 2
    assert "line 1: not a JSON object but a list" in capsys.readouterr().err


def test_a_golden_file_that_is_missing_or_of_another_reward_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        golden.read_golden(tmp_path / "none.jsonl")
    file = tmp_path / "other.jsonl"
    file.write_bytes(b'{"final_response": "4", "score": {"scorer": "nobody@1", "value": 1.0}}\n')
    assert golden.main([str(file)]) == 2


def test_a_fixture_without_a_reward_asks_for_one(tmp_path: Path) -> None:
    tester = RewardFixture(process=RewardProcess(), folder=tmp_path, update=False, updated=[])
    with pytest.raises(BadParameter, match="no reward is named"):
        tester.score("4")


def test_the_plugin_loads_nothing_before_a_test_asks_for_it() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import assay.adapters.pytest; "
        "print(sorted(set(sys.modules) - before))"
    )
    call = [sys.executable, "-c", code]
    loaded = subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
    assert loaded == str(["assay", "assay.adapters", "assay.adapters.pytest", "assay.lazy"])


def test_the_rewards_of_the_cookbook_pass_their_tests(pytester: pytest.Pytester) -> None:
    page = (ROOT / "docs" / "testing-rewards.md").read_text()
    files = re.findall(r"^```python no-run\n# (\w+)\.py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    pytester.makepyfile(**dict(files))
    pytester.syspathinsert()
    result = run(pytester, "--runxfail", "--strict-markers", "--assay-update")
    result.assert_outcomes(passed=5, failed=1)
    (promised,) = re.findall(r"^```text\n(AssertionError: .*?)^```", page, re.MULTILINE | re.DOTALL)
    result.stdout.fnmatch_lines(
        [f"E *{glob.escape(line.strip())}" for line in promised.splitlines()], consecutive=True
    )


def test_the_hook_runs_the_module_that_checks_golden_files() -> None:
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text()
    assert f"entry: python -m {golden.__name__}\n" in hook
    (pattern,) = re.findall(r"^  files: (.*)$", hook, re.MULTILINE)
    ours = list((ROOT / "tests" / "rewards" / "golden").iterdir())
    assert ours
    for file in ours:
        assert re.search(pattern, file.relative_to(ROOT).as_posix())
    assert golden.main([str(file) for file in ours]) == 0


def test_a_golden_file_without_rows_holds_nothing(rewards: pytest.Pytester) -> None:
    rewards.makefile(".jsonl", empty="")
    rewards.makepyfile(
        """
        def test_golden(reward):
            reward("math_equal_reward").golden("empty.jsonl")
        """
    )
    result = rewards.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*has no rows; add rows to it*"])
