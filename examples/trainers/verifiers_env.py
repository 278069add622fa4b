"""A verifiers environment, end to end, with a scripted model behind a loopback endpoint.

verifiers runs the rollouts, intercepts the model calls and scores the traces; the reward is ours.
One task has no answer: its trace carries an error, and no reward.

    python examples/trainers/verifiers_env.py
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import verifiers.v1 as vf

REPLIES = {"What is 1 - 1/2?": r"so \boxed{\tfrac12}", "What is 2 * 3?": "the answer is 7"}


class ScriptedModel(BaseHTTPRequestHandler):
    """A chat endpoint that knows its lines."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = REPLIES.get(request["messages"][-1]["content"], "three")
        reply = {
            "id": "scripted",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": reply},
                }
            ],
            "usage": {"prompt_tokens": 8, "completion_tokens": 4, "total_tokens": 12},
        }
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


async def play(port: int) -> int:
    client = vf.EvalClientConfig(base_url=f"http://127.0.0.1:{port}/v1", api_key_var="SCRIPTED_KEY")
    env = vf.SingleAgentEnv(
        vf.SingleAgentEnvConfig(
            taskset={"id": "scripted_sums"},
            agent=vf.AgentConfig(runtime=vf.SubprocessConfig()),
        )
    )
    context = vf.ModelContext(model="scripted", client=client)
    scores = []
    async with env.serving():
        for task in env.taskset:
            (trace,) = (await env.run_episode(task, context)).traces
            reward = trace.rewards.get("math_equal_reward")
            scores.append(reward.score if reward else None)
            error = f"{trace.last_error.type}: {trace.last_error.message}" if trace.errors else ""
            print(f"{task.data.prompt} -> {trace.last_reply!r}: reward {scores[-1]}")
            print(f"  metrics {trace.metrics} {error[:160]}")
    return 0 if scores == [1.0, 0.0, None] else 1


def main() -> int:
    os.environ["SCRIPTED_KEY"] = "none"
    server = ThreadingHTTPServer(("127.0.0.1", 0), ScriptedModel)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        return asyncio.run(play(server.server_address[1]))
    finally:
        server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
