"""Whether a process that a test started has ended."""

import os
import select


def has_ended(pid: int) -> bool:
    """Whether the process is gone, or will be within a minute."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 60)[0])
    finally:
        os.close(handle)
