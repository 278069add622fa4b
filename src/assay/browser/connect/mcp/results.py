"""Read pages from the results of browser MCP tools, and write the results of Assay's two tools.

Playwright MCP writes sections under `###` and a YAML snapshot, in the result or in a file;
chrome-devtools-mcp writes `##` and a line for each node.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

from assay.browser.observe.digest import digest, info_digest, page_evidence
from assay.browser.steps import AgentStatus
from assay.schema.evidence import PageEvidence
from assay.schema.step_score import StepScore

TEXT_LIMIT: Final = 400_000
FILE_LIMIT_BYTES: Final = 2_000_000
_ACTIONABLE: Final = frozenset(
    """button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio
    searchbox slider spinbutton switch tab textbox treeitem""".split()
)
_YAML_NODE: Final = re.compile(
    r"\s*- '?(?P<role>[a-z][\w-]{0,40})(?: \"(?P<name>(?:[^\"\\]|\\.){0,500})\")?"
    r"(?P<marks>(?: \[[^\]]{0,200}\]){0,12})"
)
_YAML_REF: Final = re.compile(r" \[ref=(\w{1,20})\]")
_YAML_PASSING: Final = re.compile(r" \[(?:ref=\w{1,20}|cursor=\w{1,20}|active)\]")
_UID_NODE: Final = re.compile(
    r"\s*uid=(?P<ref>\S{1,40})(?: (?P<role>[A-Za-z]{1,40}))?(?: \"(?P<name>[^\n]{0,500}?)\")?"
    r"(?= [\w-]+(?:=\"| |$)|\s*$)"
)
_UID_PASSING: Final = re.compile(r"uid=\S{1,40} ?| focus(?:able|ed)(?= |$)", re.MULTILINE)
_FILE_LINK: Final = re.compile(r"- \[Snapshot\]\((?P<path>[^()\n]{1,500}\.ya?ml)\)")
_PAGE_LINE: Final = re.compile(
    r"(?P<id>\d{1,6}): (?:[^\n]{0,500}?\()?(?P<url>[a-z][a-z0-9+.-]{1,30}:[^\s)]{1,8000})\)?"
    r"(?P<selected> \[selected\])?"
)
_ROOT_URL: Final = re.compile(
    r"^uid=\S{1,40} RootWebArea [^\n]{0,500}?url=\"([^\"\n]{1,8000})\"", re.MULTILINE
)
_NAVIGATED: Final = re.compile(r"^Page navigated to (\S{1,8000})\.$", re.MULTILINE)


class SnapshotNode(NamedTuple):
    """An element of a snapshot: its role and its name, without its number."""

    role: str
    name: str


class ResultPage(NamedTuple):
    """The page as a result describes it; an unknown fact is `None`."""

    url: str | None = None
    title: str | None = None
    status: int | None = None
    """The status of the document, which Playwright MCP names if it is not one of success."""
    text: str | None = None
    """The snapshot without the numbers of its elements."""
    nodes: Mapping[str, SnapshotNode] = {}
    dialog: str | None = None
    """The dialog that is open, in the server's words; empty when it says that there is none."""
    tabs: int | None = None
    downloads: int | None = None
    inline: bool = True
    """Whether the snapshot is in the result, where the agent reads it, and not in a file."""

    def evidence(self) -> PageEvidence | None:
        """The digests of the page; `None` if the result does not describe the page."""
        if self.url is None and self.text is None:
            return None
        dialog = None if self.dialog is None else bool(self.dialog)
        if self.text is None:
            return page_evidence(url=self.url, dialog=dialog)
        nodes = self.nodes.values()
        counts = Counter(node.role for node in nodes)
        refs = [node for node in nodes if node.role in _ACTIONABLE]
        return page_evidence(url=self.url, text=self.text, counts=counts, refs=refs, dialog=dialog)


def result_text(result: Mapping[str, Any]) -> str:
    """The joined texts of a result, up to `TEXT_LIMIT` characters."""
    texts = (block.get("text") for block in _blocks(result))
    return "\n".join(text[:TEXT_LIMIT] for text in texts if isinstance(text, str))[:TEXT_LIMIT]


def result_info(result: Mapping[str, Any], text: str) -> str | None:
    """The digest of a call's result, pictures included; `None` for an empty result."""
    data = [block["data"] for block in _blocks(result) if isinstance(block.get("data"), str)]
    if data:
        hashes = (sha256(each.encode("utf-8", "surrogatepass")).hexdigest() for each in data)
        return digest("info", "\n".join(hashes))
    plain = _UID_PASSING.sub("", _YAML_PASSING.sub("", text))
    return info_digest(plain) if plain.strip() else None


def read_page(text: str, *, page_id: Any = None, folder: Path | None = None) -> ResultPage:
    """Read the page that a result describes; snapshots in files are read below `folder`."""
    sections = _sections(text)
    if "### Page" in sections or "### Snapshot" in sections or "### Modal state" in sections:
        return _playwright_page(sections, folder)
    return _devtools_page(text, sections, page_id)


def section(text: str, title: str) -> str | None:
    """The body of a result's `###` section; `None` if no section has this title."""
    lines = _sections(text).get(f"### {title}")
    return None if lines is None else "\n".join(lines)


def _blocks(result: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    content = result.get("content")
    for block in content[:50] if isinstance(content, list) else ():
        if isinstance(block, Mapping):
            yield block


def _sections(text: str) -> dict[str, list[str]]:
    """The lines under each heading; a heading inside a fence is text of the page."""
    sections: dict[str, list[str]] = {}
    lines = sections.setdefault("", [])
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and line.startswith(("## ", "### ")):
            lines = sections.setdefault(line.strip(), [])
            continue
        lines.append(line)
    return sections


def _playwright_page(sections: Mapping[str, Sequence[str]], folder: Path | None) -> ResultPage:
    lines = sections.get("### Page")
    labels = dict(line.removeprefix("- ").split(": ", 1) for line in lines or () if ": " in line)
    status = re.match(r"\d{3}\b", labels.get("HTTP status", ""))
    snapshot = _snapshot_lines(sections.get("### Snapshot", ()), folder)
    modal = sections.get("### Modal state")
    covers_dialogs = lines is not None or modal is not None
    events = sections.get("### Events", ())
    tabs = sections.get("### Open tabs")
    return ResultPage(
        url=labels.get("Page URL"),
        title=labels.get("Page Title"),
        status=None if status is None else int(status[0]),
        text=_YAML_PASSING.sub("", "\n".join(snapshot)) if snapshot else None,
        nodes=_yaml_nodes(snapshot),
        dialog="\n".join(modal or ()) if covers_dialogs else None,
        tabs=len(tabs) if tabs is not None else None if lines is None else 1,
        downloads=sum(line.startswith("- Downloaded file ") for line in events),
        inline=not any(_FILE_LINK.match(line) for line in sections.get("### Snapshot", ())),
    )


def _snapshot_lines(lines: Sequence[str], folder: Path | None) -> list[str]:
    link = _FILE_LINK.match(lines[0]) if lines else None
    if link is None:
        return [line for line in lines if not line.startswith("```")]
    if folder is None:
        return []
    path = folder / link["path"]
    try:
        # A pipe or a device in its place would never end.
        if not path.is_file() or path.stat().st_size > FILE_LIMIT_BYTES:
            return []
        return path.read_text(encoding="utf-8", errors="replace")[:TEXT_LIMIT].splitlines()
    except OSError:
        return []


def _yaml_nodes(lines: Iterable[str]) -> dict[str, SnapshotNode]:
    return {
        ref[1]: SnapshotNode(match["role"], match["name"] or "")
        for match in filter(None, map(_YAML_NODE.match, lines))
        if (ref := _YAML_REF.search(match["marks"])) is not None
    }


def _devtools_page(text: str, sections: Mapping[str, Sequence[str]], page_id: Any) -> ResultPage:
    snapshot = [line for line in sections.get("## Latest page snapshot", ()) if line.strip()]
    nodes = {
        match["ref"]: SnapshotNode(match["role"] or "text", match["name"] or "")
        for match in filter(None, map(_UID_NODE.match, snapshot))
    }
    body = "\n".join(snapshot)
    lines = next((lines for title, lines in sections.items() if "dialog" in title.lower()), None)
    dialog = None if lines is None else "\n".join(lines).strip()
    pages = sections.get("## Pages", ())
    url, shown = _devtools_url(text, body, pages, page_id), _UID_PASSING.sub("", body)
    return ResultPage(
        url, text=shown if snapshot else None, nodes=nodes, dialog=dialog, tabs=len(pages) or None
    )


def _devtools_url(text: str, snapshot: str, pages: Sequence[str], page_id: Any) -> str | None:
    if (root := _ROOT_URL.search(snapshot)) is not None:
        return root[1]
    for match in filter(None, map(_PAGE_LINE.match, pages)):
        if match["selected"] if page_id is None else match["id"] == str(page_id):
            return match["url"]
    # Only the server's own lines, which come before the first heading.
    navigated = _NAVIGATED.search(text.partition("\n## ")[0])
    return None if navigated is None else navigated[1]


STEPS_TOOL: Final = "assay_steps"
HINT_TOOL: Final = "assay_hint"
MOST_STEPS: Final = 50
"""Steps that one call of `assay_steps` shows at most; its schema says so too."""


class ScoredStep(NamedTuple):
    """One call and its step score, as `assay_steps` shows them."""

    number: int
    action: str
    score: StepScore

    def line(self) -> str:
        reasons = ", ".join(one.code + f" {one.n}" * bool(one.n) for one in self.score.reasons)
        worth = f"{self.score.score:+.3f} {self.score.classification}"
        return f"{self.number:>3} {worth:<27} {self.action}  [{reasons}]"

    def to_record(self) -> dict[str, Any]:
        return {
            "step": self.number,
            "action": self.action,
            "score": self.score.score,
            "class": self.score.classification,
            "because": self.score.because,
            "reasons": [{"code": one.code, "n": one.n} for one in self.score.reasons],
            "confidence": self.score.confidence,
        }


def steps_report(steps: Sequence[ScoredStep], state: AgentStatus) -> tuple[str, dict[str, Any]]:
    """Report the steps and the status of the session, as text and as data."""
    lines = [step.line() for step in steps] or ["no browser tool was called yet"]
    since = f" since step {state.since}" if state.since else ""
    lines.append(f"status: {state.state}{since}: {state.because}")
    data = {"steps": [step.to_record() for step in steps], "status": state._asdict()}
    return "\n".join(lines), data


def tool_records() -> list[dict[str, Any]]:
    """Assay's two tools, in the form of a `tools/list` reply."""
    records = json.loads(files(__package__).joinpath("own_tools.json").read_text("utf-8"))
    return [dict(record) for record in records]


def text_result(
    text: str, *, data: dict[str, Any] | None = None, error: bool = False
) -> dict[str, Any]:
    """The result of a tool call: a text for the model, and optional data."""
    structured = {} if data is None else {"structuredContent": data}
    content = [{"type": "text", "text": text}]
    return {"content": content, **structured, "isError": error, "resultType": "complete"}
