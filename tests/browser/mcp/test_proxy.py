"""The proxy forwards every byte, adds two tools, and ends as the server does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from assay.browser.connect.mcp.proxy import LinePart, ToolList, append_tools, load, read_parts

HERE = Path(__file__).parent
PROXY = [sys.executable, "-m", "assay.cli.main", "mcp"]
CRASHING = [sys.executable, str(HERE / "crashing_proxy.py")]
LINES = [
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n',
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
    b'  {"jsonrpc" : "2.0", "id":"a\\u0062", "method":"ping"}  \r\n',
    b'[{"id":2,"method":"tools/call","params":{"name":"assay_steps"}},{"id":3,"method":"ping"}]\n',
    b"this is not JSON\n",
    b"\n",
    b"\xff\xfe\x00 not UTF-8\n",
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}\n',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n',
    b'{"id":4,"method":"tools/call","params":{"name":"%s"}}\n' % (b"x" * 10_000_000),
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":7,"arguments":[]}}\n',
    b'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":"?"}\n',
    b'{"id":1e400,"method":"tools/list"}\n',
    b"[" * 100_000 + b"\n",
    b'{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"x"}}\n',
]
ANSWERS = [
    b'{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}\n',
    b"",
    b'{"jsonrpc":"2.0", "id":"ab", "result":{ }}\r\n{"method":"notifications/message"}\n',
    b'[{"jsonrpc":"2.0","id":3,"result":{}},{"id":2,"error":{"code":-32601,"message":"no"}}]\n',
    b"a server's line that is not JSON\n",
    b"\n\n",
    b"\xff\xfe\n",
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.50}}\n',
    b"",
    b'{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"'
    + b"y" * 10_000_000
    + b'"}]}}\n',
    b'{"jsonrpc":"2.0","id":5,"error":"a text"}\n',
    b'{"jsonrpc":"2.0","id":6,"result":{"content":7}}\n',
    b'{"jsonrpc":"2.0","id":9,"method":"roots/list"}\n',
    b"",
    b"the last line has no end",
]


def line_server(folder: Path, answers: list[bytes]) -> list[str]:
    script = folder / "script"
    script.write_bytes(b"--part--".join(answers))
    return [sys.executable, str(HERE / "line_server.py"), str(script), str(folder / "record")]


def talk(
    command: list[str], lines: list[bytes], folder: Path
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, input=b"".join(lines), capture_output=True, check=False, cwd=folder, timeout=60
    )


@pytest.mark.parametrize("proxy", [[*PROXY, "--"], CRASHING], ids=["scoring", "crashing"])
def test_every_byte_passes_in_both_directions(proxy: list[str], tmp_path: Path) -> None:
    server = line_server(tmp_path, ANSWERS)
    done = talk([*proxy, *server], LINES, tmp_path)
    assert (tmp_path / "record").read_bytes() == b"".join(LINES)
    assert done.stdout == b"".join(ANSWERS)
    assert done.returncode == 7
    assert b"line server: the client has gone\n" in done.stderr


TOOL = b'{ "name": "t", "inputSchema": {"maximum": 1.0e2, "text": "\\u00e9]}"} }'
OURS = [{"name": "ours_1"}, {"name": "ours_2"}]


def extended(*pages: bytes) -> list[bytes]:
    """The pages of a list as the client gets them."""
    tools = ToolList(OURS)
    lines: list[bytes] = []
    for number, page in enumerate(pages, 1):
        params = {"cursor": "next"} if number > 1 else {}
        tools.await_reply({"id": number, "method": "tools/list", "params": params})
        lines.append(tools.extend(page)[0])
    return lines


def names_in(line: bytes) -> list[str]:
    return [tool["name"] for tool in json.loads(line)["result"]["tools"]]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (b'{"id":1,"result":{"tools":[%s]},"jsonrpc":"2.0"}\n' % TOOL, "t ours_1 ours_2"),
        (b'{"id":1,"result":{"tools":[ ],"_meta":{"a":[]}}}\r\n', "ours_1 ours_2"),
        (b'{"id":1,"result":{"tools":[{"name":"ours_2"}]}}\n', "ours_2 ours_1"),
        (b'{"id":1,"result":{"tools":[%s],"nextCursor":"2"}}\n' % TOOL, "t"),
    ],
    ids=["one", "none", "a name of ours", "not the last page"],
)
def test_a_list_of_tools_gets_two_more_at_its_end(line: bytes, names: str) -> None:
    (longer,) = extended(line)
    assert names_in(longer) == names.split()
    # What the server wrote is there, byte for byte, before and after what was added.
    end = max(n for n in range(len(line)) if longer.startswith(line[:n]))
    assert longer.endswith(line[end:])


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":1,"error":{"code":-32601,"message":"Method not found"}}\n',
        b'{"id":1,"result":{"tools":{}}}\n',
        b'{"id":"1","result":{"tools":[]}}\n',
        b'{"id":1,"method":"roots/list"}\n',
        b'{"id":1,"result":[]}\n',
        b"no JSON\n",
    ],
)
def test_what_is_no_list_of_tools_stays_as_it_is(line: bytes) -> None:
    assert extended(line) == [line]


def test_a_list_in_pages_gets_the_tools_on_the_last_one() -> None:
    first = b'{"id":1,"result":{"tools":[{"name":"ours_1"}],"nextCursor":"2"}}\n'
    second = b'{"id":2,"result":{"tools":[{"name":"b"}]}}\n'
    lines = extended(first, second)
    assert lines[0] == first
    assert names_in(lines[1]) == ["b", "ours_2"]


def call(number: int, tool: str, **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(message).encode() + b"\n"


def test_our_tools_are_answered_even_if_the_scorer_crashes(tmp_path: Path) -> None:
    lines = [call(1, "assay_steps"), call(2, "assay_hint"), call(3, "browser_click")]
    done = talk([*CRASHING, *line_server(tmp_path, [b'{"id":3,"result":{}}\n'])], lines, tmp_path)
    replies = {message["id"]: message for message in map(json.loads, done.stdout.splitlines())}
    assert replies[1]["result"]["isError"] is True
    assert "KeyError: 'answer'" in replies[1]["result"]["content"][0]["text"]
    assert replies[3] == {"id": 3, "result": {}}
    assert (tmp_path / "record").read_bytes() == lines[2]
    # Each kind of failure is one line of stderr.
    failures = [line for line in done.stderr.splitlines() if b"not scored" in line]
    assert len(failures) == len(set(failures))
    assert any(b"ValueError: request" in line for line in failures)


def test_a_server_that_ends_by_itself_ends_the_proxy_with_its_code(tmp_path: Path) -> None:
    script = "import sys; sys.stderr.write('bye\\n'); print('{}', flush=True); sys.exit(5)"
    proxy = subprocess.Popen(
        [*PROXY, "--", sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert proxy.stdout is not None
    assert proxy.stderr is not None
    # The client's side stays open.
    assert proxy.wait(30) == 5
    assert proxy.stdout.read() == b"{}\n"
    assert proxy.stderr.read() == b"bye\n"
    for stream in (proxy.stdin, proxy.stdout, proxy.stderr):
        assert stream is not None
        stream.close()


def test_a_signal_reaches_the_server(tmp_path: Path) -> None:
    script = "import sys; print('ready', flush=True); sys.stdin.read(); sys.stdin.read()"
    proxy = subprocess.Popen(
        [*PROXY, "--", sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert proxy.stdout is not None
    assert proxy.stdout.readline() == b"ready\n"
    proxy.send_signal(signal.SIGTERM)
    assert proxy.wait(30) == 128 + signal.SIGTERM
    for stream in (proxy.stdin, proxy.stdout):
        assert stream is not None
        stream.close()


def test_a_command_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    done = talk([*PROXY, "--", "no-such-mcp-server"], [], tmp_path)
    assert done.returncode == 2
    assert b"cannot start the MCP server 'no-such-mcp-server'" in done.stderr
    assert b"Traceback" not in done.stderr


def test_without_a_server_the_command_says_how_to_name_one(tmp_path: Path) -> None:
    done = talk(PROXY, [], tmp_path)
    assert done.returncode == 2
    assert b"assay mcp -- npx @playwright/mcp@latest" in done.stderr


def test_a_very_long_line_comes_in_parts_that_nobody_looks_at() -> None:
    reading, writing = os.pipe()
    lines: list[LinePart] = []

    def read() -> None:
        lines.extend(read_parts(reading, limit=100))

    reader = threading.Thread(target=read)
    reader.start()
    data = b"short\n" + b"x" * 1_000_000 + b"\nlast"
    for start in range(0, len(data), 60_000):
        os.write(writing, data[start : start + 60_000])
    os.close(writing)
    reader.join()
    os.close(reading)
    assert b"".join(part.data for part in lines) == data
    assert [part.data for part in lines if part.whole] == [b"short\n", b"last"]
    assert [part.data[-5:] for part in lines if part.ends] == [b"hort\n", b"xxxx\n", b"last"]


def test_a_list_whose_end_is_not_found_is_written_anew() -> None:
    meta = ",".join("[]" for _ in range(100))
    line = b'{"result":{"tools":[],"_meta":[' + meta.encode() + b"]}}\n"
    longer = append_tools(line, load(line), [{"name": "a"}])
    assert load(longer)["result"]["tools"] == [{"name": "a"}]
    assert longer.endswith(b"\n")


ODD_IDS = [
    b"1", b'"a"', b"null", b"[1]", b'{"a":1}', b"1e400", b"9" * 5000,
    b"[" * 300 + b"]" * 300, b'"\\ud800"', b"true",
]  # fmt: skip
ODD_RESULTS = [
    b'{"tools":[{"name":["a"]}]}', b'{"tools":[{"name":{"a":1}}]}', b'{"tools":[{"name":null}]}',
    b'{"tools":[{}]}', b'{"tools":{}}', b'{"tools":7}', b'{"tools":[[]]}', b'{"tools":["t"]}',
    b'{"tools":[],"nextCursor":[]}', b'{"tools":[],"nextCursor":{"a":[1]}}', b"[]", b"7",
    b'{"tools":[{"name":"t","annotations":%s}]}' % (b"[" * 990 + b"]" * 990),
    b'{"tools":%s}' % (b"[" * 250 + b"]" * 250),
    b'{"tools":[{"name":"t","annotations":{"readOnlyHint":[1]}}]}',
    b'{"tools":[{"name":"\\ud800"}]}', b'{"tools":[{"name":"assay_steps"},{"name":["x"]}]}',
    b'{"tools":[{"name":1e400}]}', b'{"tools":null}', b'{"tools":[null]}',
]  # fmt: skip


def test_whatever_one_side_sends_every_later_message_is_forwarded(tmp_path: Path) -> None:
    lines, answers = [], []
    for odd_id in ODD_IDS:
        for result in ODD_RESULTS:
            lines.append(b'{"jsonrpc":"2.0","id":%s,"method":"tools/list"}\n' % odd_id)
            answers.append(b'{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (odd_id, result))
            call = {"name": "assay_steps", "arguments": {}}
            lines.append(
                b'{"id":%s,"method":"tools/call","params":%s}\n'
                % (odd_id if odd_id[:1] in b"[{" else b"[0]", json.dumps(call).encode())
            )
            answers.append(b'{"id":"not ours","result":{"n":%d}}\n' % len(answers))
            lines.append(b'{"jsonrpc":"2.0","id":"p","method":"ping"}\n')
            answers.append(b'{"jsonrpc":"2.0","id":"p","result":{"n":%d}}\n' % len(answers))
    server = line_server(tmp_path, answers)
    done = talk([*PROXY, "--", *server], lines, tmp_path)
    assert done.returncode == 7, done.stderr[-2000:]
    assert (tmp_path / "record").read_bytes() == b"".join(lines)
    well_formed = [line for line in answers if b'"result":{"n"' in line]
    given = [line + b"\n" for line in done.stdout.split(b"\n") if b'"result":{"n"' in line]
    assert given == well_formed
    assert len(lines) == 3 * len(ODD_IDS) * len(ODD_RESULTS) == 600
