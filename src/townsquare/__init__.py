"""Townsquare: a benchmark of questions about a fictional town and its local web sites.

It joins Assay by entry points alone, as any installed package can: a task source, a service, a
model, an agent and a benchmark.
"""

from pathlib import Path

BENCHMARK = Path(__file__).with_name("benchmark.toml")
