"""`assay serve`: what it says when it cannot start."""

import socket
import sys

import pytest

from assay.cli.main import main


@pytest.fixture(autouse=True)
def _own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("ASSAY_TOKEN", raising=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "a token is needed"),
        (["--host", "0.0.0.0", "--token", "short"], "only 5 characters"),
        (["--rewards", "math_equl_reward"], "did you mean 'math_equal_reward'"),
        (["--rewards", "webshop_reward"], "needs the Context of a live rollout"),
        (["--import", "no_such_module"], "no_such_module"),
        (["--rewards", "qa_f1_reward", "--default-reward", "math_equal_reward"], "not among"),
        (["--queue-rows", "10"], "must be at least max_rows"),
        (["--deadline-s", "0"], "deadline_s=0"),
        (["--port", "99999"], "between 0 and 65535"),
    ],
)
def test_a_server_that_cannot_start_says_why_in_a_sentence(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *options]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""


def test_a_taken_port_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert main(["serve", "--port", str(port)]) == 2
    assert f"port {port} of 127.0.0.1 is taken" in capsys.readouterr().err


def test_the_help_teaches_with_a_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--help"]) == 0
    assert "curl" in capsys.readouterr().out
