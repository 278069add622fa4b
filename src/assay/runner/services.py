"""Starts the local server of a benchmark, and fills its address into the tasks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from assay.errors import BadParameter
from assay.registry import SERVICES
from assay.resources.spec import check_options
from assay.runner.benchmark import Benchmark
from assay.schema.task import Task

BASE_URL = "{base_url}"
T = TypeVar("T")


def service_options(benchmark: Benchmark) -> dict[str, Any]:
    """Return the options of the benchmark's service, with those that it shares with the tasks."""
    service = benchmark.service
    if service is None:
        return {}
    options = dict(service.options)
    for key in service.shares:
        if key not in benchmark.tasks.options:
            raise BadParameter(f"[service] shares the option {key!r}, but [tasks] does not set it")
        options.setdefault(key, benchmark.tasks.options[key])
    check_options(f"[service] {service.name!r}", SERVICES.get(service.name), options)
    return options


@asynccontextmanager
async def running_service(benchmark: Benchmark) -> AsyncIterator[str]:
    """Run the benchmark's service within the block, and yield the service's address."""
    if benchmark.service is None:
        yield ""
        return
    factory = SERVICES.get(benchmark.service.name)
    async with factory(**service_options(benchmark)) as service:
        yield str(service.base_url)


def fill_base_url(value: T, base_url: str) -> T:
    """Return the value with `{base_url}` in its texts replaced by the service's address."""
    result: Any = value
    if isinstance(value, str):
        result = value.replace(BASE_URL, base_url)
    elif isinstance(value, Task):
        result = value.model_copy(
            update={
                "goal": fill_base_url(value.goal, base_url),
                "metadata": fill_base_url(value.metadata, base_url),
            }
        )
    elif isinstance(value, dict):
        result = {key: fill_base_url(item, base_url) for key, item in value.items()}
    elif isinstance(value, (list, tuple)):
        result = type(value)(fill_base_url(item, base_url) for item in value)
    return result  # type: ignore[no-any-return]  # every branch keeps the type of its value
