"""Export one run as a single HTML file, without scripts or network access."""

from __future__ import annotations

import re
from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from assay.errors import AssayError
from assay.ledger.run import Run
from assay.resources.files import atomic_write
from assay.schema.message import Message
from assay.viewer.app import STATIC
from assay.viewer.links import OneFileLinks
from assay.viewer.pages.conversation import message_views
from assay.viewer.pages.episode import window_page
from assay.viewer.pages.run import RunQuery, run_page
from assay.viewer.rendering import Templates
from assay.viewer.runs_reader import RunsReader

PICTURE_BYTES = 20_000_000
"""Pictures in a file, all together; those beyond are left out, and the file says so."""
MOST_MESSAGES = 200
MESSAGE_CHARS = 4_000
FOLDERS = re.compile(r"(?<![\w:/.\-])/(?:[^\s/'\",\]]+/)+")
"""The folders of an absolute path; not of a URL, nor of a path that starts here."""


@dataclass(slots=True)
class _Pictures:
    """The pictures of an exported file, up to a total size."""

    reader: RunsReader
    run_id: str
    most_bytes: int = PICTURE_BYTES
    spent: int = 0
    left_out: int = 0

    def uri(self, sha256: str, kind: str) -> str | None:
        """The picture as a data URI; `None` if it is unreadable or above the total size."""
        try:
            data = self.reader.artifact(self.run_id, sha256)
        except AssayError:
            return None
        if self.spent + len(data) > self.most_bytes:
            self.left_out += 1
            return None
        self.spent += len(data)
        return f"data:image/{kind};base64,{b64encode(data).decode('ascii')}"


def export_html(run: Path, target: Path) -> int:
    """Write the run as one HTML file; return the number of finished attempts in it.

    It holds the summary, the diagnosis, and every attempt with its answer, scores, messages and
    steps, long texts cut visibly. The file is there complete or not at all.
    """
    folder = run.resolve()
    run_id = folder.name
    reader, templates = RunsReader(folder.parent, only=run_id), Templates()
    pictures = _Pictures(reader, run_id)
    links = OneFileLinks(pictures.uri)
    first = run_page(reader, run_id, RunQuery(show="all"), wait=True)
    queries = (RunQuery(show="all", page=number) for number in range(2, first["pages"] + 1))
    others = [run_page(reader, run_id, query, wait=True) for query in queries]
    # The names of files alone: where they are on this machine is private.
    first["run"]["agent"] = FOLDERS.sub("", first["run"]["agent"])
    first["config"] = [(key, FOLDERS.sub("", value)) for key, value in first["config"]]
    episodes = [item for page in (first, *others) for item in page["episodes"]]
    recorded = Run(folder, strict=False)
    with atomic_write(target) as draft, draft.open("w", encoding="utf-8") as stream:
        style = Markup((STATIC / "viewer.css").read_text(encoding="utf-8"))  # noqa: S704 - ours
        more = {"style": style, "episodes": episodes, "model": recorded.manifest.model_name}
        stream.write(templates.render("share.html", first, links, **more))
        for attempt in (*(item["attempt"] for item in episodes), *reader.unfinished(run_id)):
            messages = _messages(recorded, attempt)
            views = message_views(messages, most=MESSAGE_CHARS, at_most=MOST_MESSAGES)
            window, n = window_page(reader, run_id, attempt), len(messages)
            talk: dict[str, Any] = {"conversation": views, "n_messages": n}
            stream.write(templates.render("share_episode.html", window, links, **talk))
        stream.write(templates.render("share_end.html", pictures, links))
    return len(episodes)


def _messages(run: Run, attempt: str) -> tuple[Message, ...]:
    """The messages of a finished attempt; empty if they cannot be read."""
    with suppress(AssayError):
        return run.messages(attempt)
    return ()
