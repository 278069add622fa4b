"""Programs for `perf/code.py`: HumanEval with mutants."""
