"""Inspect's arm of `perf/questions.py`, run by the Python that has Inspect.

    python perf/questions_inspect.py URL QUESTIONS WORKERS solver|model

The same questions go to the same endpoint through `inspect_ai.eval`, with a trivial solver and a
trivial scorer: with `solver` the solver posts with bare `httpx`, with `model` it calls `generate`
of a model that does. Prints one line of JSON: questions a second, and seconds of processor.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import time
from importlib import import_module
from typing import Any

import httpx

inspect_ai: Any = import_module("inspect_ai")
dataset: Any = import_module("inspect_ai.dataset")
models: Any = import_module("inspect_ai.model")
scorers: Any = import_module("inspect_ai.scorer")
solvers: Any = import_module("inspect_ai.solver")

URL, QUESTIONS, WORKERS, ARM = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=None)
_CLIENTS: list[httpx.AsyncClient] = []


async def post(question: str) -> str:
    """The endpoint's answer, asked by a client that all samples share."""
    if not _CLIENTS:
        _CLIENTS.append(httpx.AsyncClient(limits=LIMITS, trust_env=False, timeout=60))
    messages = [{"role": "user", "content": question}]
    response = await _CLIENTS[0].post(URL, json={"model": "m", "messages": messages})
    return str(response.json()["choices"][0]["message"]["content"])


def ask() -> Any:
    async def solve(state: Any, generate: Any) -> Any:  # noqa: ARG001 - Inspect's signature
        state.output = models.ModelOutput.from_content("m", await post(state.input_text))
        return state

    return solve


def local() -> type:
    class Local(models.ModelAPI):  # type: ignore[misc]  # Inspect is not installed here
        async def generate(
            self,
            input: Any,  # noqa: A002 - Inspect's signature
            tools: Any,  # noqa: ARG002
            tool_choice: Any,  # noqa: ARG002
            config: Any,  # noqa: ARG002
        ) -> Any:
            return models.ModelOutput.from_content("m", await post(input[-1].text))

        def max_connections(self) -> int:
            return WORKERS

    return Local


def main() -> None:
    logging.getLogger("httpx").setLevel(logging.WARNING)
    models.modelapi(name="local")(local)
    samples = [dataset.Sample(input=f"question {n}", target="42") for n in range(QUESTIONS)]
    task = inspect_ai.Task(
        dataset=dataset.MemoryDataset(samples),
        solver=solvers.solver(ask)() if ARM == "solver" else solvers.generate(),
        scorer=scorers.match(),
    )
    model = models.get_model("local/m" if ARM == "model" else "mockllm/model")
    with tempfile.TemporaryDirectory() as folder:
        cpu_s, start = time.process_time(), time.perf_counter()
        (log,) = inspect_ai.eval(
            task,
            model=model,
            max_samples=WORKERS,
            max_connections=WORKERS,
            log_dir=folder,
            display="none",
        )
        elapsed_s = time.perf_counter() - start
        cpu_s = time.process_time() - cpu_s
    assert log.status == "success", log.error
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    print(json.dumps({"rate": QUESTIONS / elapsed_s, "cpu_s": cpu_s}))


if __name__ == "__main__":
    main()
