"""An audit as one page of HTML that needs nothing else: no script, no network."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from jinja2 import Environment

from assay.audit.findings import FAMILIES
from assay.audit.result import Audit


def to_html(audit: Audit) -> str:
    """The page; every text of the target or the model is escaped."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    source = files("assay.audit").joinpath("templates/report.html").read_text(encoding="utf-8")
    record = audit.to_record(timings=True)
    by_family = {
        family: [check for check in record["checks"] if check["family"] == family]
        for family in FAMILIES
    }
    rates = [rate for check in record["checks"] for rate in check["rates"]]
    page = environment.from_string(source).render(
        audit=record,
        families={family: checks for family, checks in by_family.items() if checks},
        rates=rates,
        shown=_shown,
    )
    # A lone surrogate has no form in UTF-8, and the page is a file.
    return page.encode("utf-8", "replace").decode("utf-8")


def _shown(value: Any) -> str:
    """A text without characters that could turn the page around or end it."""
    text = str(value)
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\u{ord(c):04x}" for c in text)
