"""Run folders with their episodes, steps and artifacts; an index; import and export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lazy import lazy_names

if TYPE_CHECKING:
    from assay.ledger.index import LedgerIndex as LedgerIndex
    from assay.ledger.labels import add_label as add_label
    from assay.ledger.labels import read_labels as read_labels
    from assay.ledger.run import Run as Run
    from assay.ledger.run import open_run as open_run
    from assay.ledger.steps import StepsWriter as StepsWriter
    from assay.ledger.steps import read_steps as read_steps
    from assay.ledger.summary import summarise as summarise
    from assay.ledger.transfer import export_run as export_run
    from assay.ledger.transfer import import_run as import_run
    from assay.ledger.transfer import import_runs as import_runs
    from assay.ledger.writer import RunWriter as RunWriter

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "assay.ledger.index": "LedgerIndex",
        "assay.ledger.labels": "add_label read_labels",
        "assay.ledger.run": "Run open_run",
        "assay.ledger.steps": "StepsWriter read_steps",
        "assay.ledger.summary": "summarise",
        "assay.ledger.transfer": "export_run import_run import_runs",
        "assay.ledger.writer": "RunWriter",
    },
)
