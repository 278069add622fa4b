"""Rewards in a module, as a process of its own imports them."""

import multiprocessing
import os


def ends(final_response: str) -> float:
    """Ends the process in which it runs, unless that is the tests' own."""
    if multiprocessing.parent_process() is not None:
        os._exit(3)
    return float(final_response == "gold")


def counts(final_response: str) -> float:
    return float(final_response == "gold")
