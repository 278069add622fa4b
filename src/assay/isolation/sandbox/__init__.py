"""Untrusted programs, run in children that cannot reach what judges them.

    sandbox = shared_sandbox()
    with sandbox.start({"mode": "calls", …}, limits=SandboxLimits(time_s=5)) as run:
        run.receive(deadline)

One zygote for each process of ours and each kind of isolation: a Python with the usual modules
loaded, inside namespaces of its own, that forks a guard for every run. The guard is the first
process of the run's own process namespace, starts the program, holds it to its limits, and takes
everything with it when it ends. A program has no network, no files but read-only interpreters and
libraries and a /tmp of its own, an empty environment, no descriptor but its own pipes, and sees no
process but its own. It is no virtual machine: a hole in the kernel is a hole in it.
"""

from __future__ import annotations

from assay.isolation.sandbox.runs import RunEnd, SandboxLimits, SandboxRun
from assay.isolation.sandbox.zygote import (
    Isolation,
    NoSandbox,
    Sandbox,
    SandboxBusy,
    SandboxLayer,
    shared_sandbox,
)

__all__ = [
    "Isolation",
    "NoSandbox",
    "RunEnd",
    "Sandbox",
    "SandboxBusy",
    "SandboxLayer",
    "SandboxLimits",
    "SandboxRun",
    "shared_sandbox",
]
