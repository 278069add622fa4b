"""A scripted model for browser-use, behind an endpoint that speaks OpenAI's chat protocol.

It reads what browser-use shows a model (the task, the number of the step, the elements of the page)
and says what its script says next. `careful` does what the tasks need; `hasty` guesses at two.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Wish = tuple[str, ...]
CURATORS = '["Edith Lockhart", "Ada Copperfield", "Yvette Drinkwater", "Sabine Hathaway"]'
HOURS = (
    '{"day": "Saturday", "opens": "09:45", "closes": "17:30"}\n'
    '{"day": "Sunday", "opens": "11:15", "closes": "16:00"}'
)
SCRIPTS: dict[str, dict[str, list[Wish]]] = {
    "careful": {
        "as a Curator": [("click", "Town museum"), ("click", "Staff"), ("done", CURATORS)],
        "Beacon Hill Library": [
            ("click", "Town libraries"),
            ("click", "Beacon Hill Library"),
            ("done", HOURS),
        ],
        "32 Chapel Street": [
            ("click", "Property sales register"),
            ("select", "id=street", "Chapel Street"),
            ("click", "Show properties"),
            ("click", "32 Chapel Street"),
            ("done", "19500"),
        ],
        "first high water": [
            ("input", "name=q", "tide tables high water harbour office"),
            ("click", "Search"),
            ("click", "Tide tables: high water at the harbour - Brindle Quay Harbour Office"),
            ("input", "name=month", "2024-11"),
            ("click", "Show tides"),
            ("done", "10:19"),
        ],
        "meets at The Granary on Thursdays": [
            ("input", "name=q", "Pottery Club The Granary Thursdays"),
            ("click", "Search"),
            ("index", "99999"),
            ("click", "Pottery Club - Clubs of Brindle Quay"),
            ("done", "29"),
        ],
    },
}
SCRIPTS["hasty"] = {
    **SCRIPTS["careful"],
    "as a Curator": [
        ("click", "Town museum"),
        ("click", "Visit and ticket prices"),
        ("back",),
        ("click", "Visit and ticket prices"),
        ("done", '["Greta Foxglove"]'),
    ],
    "first high water": [
        ("input", "name=q", "tides"),
        ("click", "Search"),
        ("click", "Search"),
        ("click", "Search"),
        ("done", "10:00"),
    ],
}
TASKS = "museum_staff.1,library_hours.1,price_gap.1,high_tide.1,club_fee.1"
"""Which tasks of the town the scripts know."""


def next_action(model: str, prompt: str) -> dict[str, Any]:
    """The action of the script for the task and the step that the prompt names."""
    question = prompt.partition("<user_request>")[2].partition("</user_request>")[0]
    step = re.search(r"<step_info>\s*Step\s*(\d+)", prompt)
    wishes = next(script for words, script in SCRIPTS[model].items() if words in question)
    number = int(step[1]) if step else 1
    return _action(wishes[min(number, len(wishes)) - 1], prompt)


def _action(wish: Wish, prompt: str) -> dict[str, Any]:
    kind, *values = wish
    if kind == "done":
        return {"done": {"text": values[0], "success": True}}
    if kind == "back":
        return {"go_back": {}}
    if kind == "index":
        return {"click": {"index": int(values[0])}}
    index = _index_of(values[0], prompt)
    if kind == "click":
        return {"click": {"index": index}}
    if kind == "select":
        return {"select_dropdown": {"index": index, "text": values[1]}}
    return {"input": {"index": index, "text": values[1]}}


def _index_of(words: str, prompt: str) -> int:
    """The number of the element that has these words in it, or in the line below it."""
    page = prompt.rpartition("Interactive elements:")[2]
    index = 0
    for line in page.splitlines():
        mark = re.search(r"\[(\d+)\]<", line)
        index = int(mark[1]) if mark else index
        text = line.strip()
        # What stands below an element, further to the right, is its text.
        if (line.startswith("\t") and text == words) or (mark and f" {words} " in f"{text} "):
            return index
    raise LookupError(f"the page shows no {words!r}:\n{page[:2_000]}")


def completion(body: dict[str, Any]) -> dict[str, Any]:
    """The reply to a request, in the shape of OpenAI's."""
    texts: list[str] = []
    for message in body["messages"]:
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        texts += [part.get("text", "") for part in parts]
    prompt = "\n".join(texts[1:])
    output = {
        "evaluation_previous_goal": "done",
        "memory": "",
        "next_goal": "the next line of the script",
        "action": [next_action(body["model"], prompt)],
    }
    message = {"role": "assistant", "content": json.dumps(output)}
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


class _Talk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
        try:
            status, reply = 200, completion(body)
        except (LookupError, StopIteration) as error:
            status, reply = 400, {"error": {"message": f"the script is at a loss: {error}"}}
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as inherited
        pass


@contextmanager
def serving() -> Iterator[str]:
    """The address of the endpoint, on this machine, while the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Talk)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
