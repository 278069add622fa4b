"""Our text environments behind OpenEnv's server on loopback, played by its client in groups.

    python examples/trainers/openenv_worlds.py [alfworld webshop scienceworld chat]

The client asks the server's state for each record, which crosses the wire as JSON. Then the loop of
`openenv_loop.py` trains a small policy over the same wire.
"""

# ruff: noqa: E402, T201 - placeholders come before the library; a script prints
from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from group_of_eight import GROUP, SEED, World, report, worlds
from group_of_four import named, without

without("fastmcp", "mcp", "gradio", "openai")
import openenv_loop
import uvicorn

from assay import Episode
from assay.adapters.openenv_episodes import TextAction, TextClient, create_app


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of the application on loopback, while it runs."""
    # OpenEnv closes a connection that its client has closed, and uvicorn calls that an error.
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


async def play(url: str, world: World, member: int) -> Episode:
    """The record of one member's episode."""
    async with TextClient(url) as env:
        result = await env.reset(seed=SEED, task=world.task.id, member=member)
        while not result.done:
            seen = result.observation
            reply = world.policy(member, seen.steps, seen.text)
            result = await env.step(TextAction(text=reply))
        return Episode.model_validate((await env.state()).record)


async def play_group(url: str, world: World) -> list[Episode]:
    return await asyncio.gather(*(play(url, world, member) for member in range(GROUP)))


async def meet(url: str, count: int) -> int:
    """How many starts so many sessions have that are all open at once."""
    clients = [TextClient(url) for _ in range(count)]
    results = await asyncio.gather(
        *(env.reset(seed=n // GROUP, member=n % GROUP) for n, env in enumerate(clients))
    )
    await asyncio.gather(*(env.step("look") for env in clients))
    await asyncio.gather(*(env.disconnect() for env in clients))
    return len({(each.observation.group, each.observation.text) for each in results})


def main(names: list[str]) -> int:
    failures = 0
    for name, world in worlds(*names).items():
        app = create_app(
            world.environment, world.reward, tasks=[world.task], step_limit=world.step_limit
        )
        with served(app) as url:
            records = asyncio.run(play_group(url, world))
        failures += report(named("openenv-core"), name, world, records)
    with served(create_app("alfworld", step_limit=8)) as url:
        starts = asyncio.run(meet(url, 64))
        print(f"alfworld: {starts} starts of 64 sessions at once")
        asyncio.run(openenv_loop.train(url))
    return failures + (starts != 64 // GROUP)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
