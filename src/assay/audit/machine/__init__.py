"""The machine family: bounds, code execution, threads and processes, determinism, failure policy.

These checks need processes of their own, which is why they live beside the engine.
"""

from __future__ import annotations

from typing import Final

from assay.audit.findings import KINDS, Check
from assay.audit.machine import bounds, execution, policy, repeats, traces

ALL: Final = frozenset(KINDS)

MACHINE_CHECKS: Final[tuple[Check, ...]] = tuple(
    Check(name, "machine", ALL, summary, run)
    for name, summary, run in (
        (
            "time_bound",
            "Every hostile answer gets a verdict, or is refused, in bounded time.",
            bounds.time_bound,
        ),
        (
            "memory_bound",
            "No hostile answer makes the target take hundreds of megabytes.",
            bounds.memory_bound,
        ),
        ("hostile_answers", "No text makes the target raise or die.", bounds.manners),
        (
            "hostile_paid",
            "An answer that cannot be judged, a time-out included, is not paid.",
            bounds.hostile_paid,
        ),
        (
            "code_execution",
            "No part of an answer is executed: payloads leave no canary file behind.",
            execution.code_execution,
        ),
        (
            "repeats",
            "The same input gets the same verdict when it is asked again.",
            repeats.repeats,
        ),
        ("order", "A verdict does not depend on what was asked before.", repeats.order),
        (
            "concurrency",
            "Eight threads at once get the verdicts that one gets.",
            repeats.concurrency,
        ),
        ("hash_seeds", "The verdict does not depend on PYTHONHASHSEED.", repeats.hash_seeds),
        (
            "worker_thread",
            "A worker thread gets the verdicts of the main thread.",
            repeats.worker_thread,
        ),
        ("event_loop", "A running event loop gets the same verdicts.", repeats.event_loop),
        ("spawned_process", "A spawned process gets the same verdicts.", repeats.spawned_process),
        ("forked_process", "A forked process gets the same verdicts.", repeats.forked_process),
        (
            "loop_lag",
            "An ordinary call does not make an event loop stand still.",
            policy.loop_lag,
        ),
        ("pickling", "The function can be sent to another process.", policy.pickling),
        (
            "failure_policy",
            "An answer is not paid when the reference cannot be read.",
            policy.failure_policy,
        ),
        (
            "reference_raises",
            "A reference that cannot be read does not end the run.",
            policy.reference_raises,
        ),
        ("left_processes", "No process outlives the verdict.", traces.left_processes),
        ("written_files", "No file is written.", traces.written_files),
        ("network", "Whether the verdict depends on another machine.", traces.network),
    )
)
"""In the order in which they run: what looks at traces comes last."""
