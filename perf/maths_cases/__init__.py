"""Labelled pairs of references and answers, made so that the label is certain.

    for case in cases(seed=7, count=100_000): ...

Each family draws a value of one kind of answer and writes it down in several ways that mean the
same, and in several that do not. Nothing here reads or compares mathematics, and nothing of Assay
is imported: an answer is equal or different by the way in which it was made.
"""

from perf.maths_cases.case import Case, Family, cases, families

__all__ = ["Case", "Family", "cases", "families"]
