"""The town's pages without a browser: fetched over HTTP, shown as the browser shows them.

Scripts do not run; what a page draws later is taken from its template after one further look.
"""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import quote_plus, urlencode, urljoin, urlsplit

from assay.schema.action import parse_call
from assay.schema.observation import Observation

LANDMARK = {"nav": "navigation", "main": "main", "header": "banner", "form": "form"} | {
    "table": "table",
    "section": "region",
}
BLOCK = {"p", "div", "ul", "ol", "li", "h1", "h2", "caption", "thead", "tbody", "label", "body"}
ACTIVE = ("a", "input", "select", "button")
VOID = {"input", "br", "meta", "link"}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    def text(self) -> str:
        parts = [child if isinstance(child, str) else child.text() for child in self.children]
        return " ".join("".join(parts).split())

    def find(self, tag: str) -> list[Node]:
        nodes = [child for child in self.children if isinstance(child, Node)]
        own = [node for node in nodes if node.tag == tag]
        return own + [found for node in nodes for found in node.find(tag)]


class Tree(HTMLParser):
    def __init__(self, source: str) -> None:
        super().__init__()
        self.root = Node("root")
        self._open = [self.root]
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(node)
        if tag not in VOID:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)


class TownDouble:
    """Steps like the browser environment, on one site after the other."""

    def __init__(self, base_url: str) -> None:
        self._base = base_url
        self._port = urlsplit(base_url).port or 80
        self._history: list[str] = []
        self._url = ""
        self._root = Node("root")
        self._elements: dict[str, tuple[Node, Node | None]] = {}
        self._values: dict[int, str] = {}

    def reset(self, start_url: str) -> Observation:
        self._history = []
        self._go(start_url.replace("{base_url}", self._base))
        return self._look("")

    def step(self, action: str) -> Observation:
        call = parse_call(action)
        if call is None:
            return self._look("error: this is not a call")
        message = getattr(self, f"_do_{call.name}")(*call.arguments)
        return self._look(message or "")

    def _get(self, url: str) -> tuple[int, str, str]:
        for _ in range(5):
            parts = urlsplit(url)
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("GET", path, headers={"Host": parts.netloc})
            response = connection.getresponse()
            body = response.read().decode()
            connection.close()
            if response.status != 302:
                break
            url = urljoin(url, response.headers["Location"])
        return response.status, url, body

    def _go(self, url: str) -> str:
        if urlsplit(url).hostname == "tides.townsquare.localhost":
            return "error: Timeout 15000ms exceeded"
        _, self._url, body = self._get(url)
        self._history.append(self._url)
        self._root = Tree(body).root
        self._values = {}
        return ""

    def _do_goto(self, url: str) -> str:
        return self._go(url)

    def _do_search(self, words: str) -> str:
        return self._go(f"{self._base}/search?q={quote_plus(words)}")

    def _do_back(self) -> str:
        self._history.pop()
        return self._go(self._history.pop()) if self._history else "error: no page"

    def _do_noop(self) -> None:
        self._draw()

    def _do_scroll(self, direction: str) -> None:
        self._draw()

    def _draw(self) -> None:
        for holder in self._root.find("div"):
            if holder.attributes.get("id") == "place":
                holder.children = [*self._root.find("template")[0].children]

    def _do_fetch_json(self, url: str) -> str:
        status, _, body = self._get(url)
        problem = f"error: Navigation failed: {url} answered with status {status}"
        return problem if status >= 400 else f"result of fetch_json {url}:\n{body}"

    def _do_fill(self, number: str, text: str) -> None:
        self._values[id(self._elements[number][0])] = text

    def _do_select(self, number: str, option: str) -> str:
        options = [item.text() for item in self._elements[number][0].find("option")]
        if option not in options:
            return "error: no such option"
        self._values[id(self._elements[number][0])] = option
        return ""

    def _do_click(self, number: str) -> str:
        if number not in self._elements:
            return "error: Element not found"
        node, form = self._elements[number]
        if node.tag == "a":
            return self._go(urljoin(self._url, node.attributes["href"]))
        assert form is not None
        query = {}
        for control in [*form.find("input"), *form.find("select")]:
            query[control.attributes["name"]] = self._sent(control)
        return self._go(urljoin(self._url, form.attributes["action"]) + f"?{urlencode(query)}")

    def _sent(self, control: Node) -> str:
        shown = self._shown(control)
        for option in control.find("option"):
            if option.text() == shown:
                return option.attributes["value"]
        return shown

    def _shown(self, control: Node) -> str:
        if id(control) in self._values:
            return self._values[id(control)]
        options = control.find("option")
        if options:
            chosen = [option for option in options if "selected" in option.attributes]
            return (chosen or options)[0].text()
        return control.attributes.get("value", "")

    def _look(self, message: str) -> Observation:
        self._elements = {}
        lines: list[str] = []
        self._labels = {
            label.attributes.get("for", ""): label.text() for label in self._root.find("label")
        }
        for body in self._root.find("body"):
            self._write(body, 0, lines, None)
        title = self._root.find("title")[0].text()
        head = [f"url: {self._url}", f"title: {title}", *([message] if message else [])]
        return Observation("\n".join([*head, "", *lines]))

    def _write(self, node: Node, depth: int, lines: list[str], form: Node | None) -> None:
        form = node if node.tag == "form" else form
        line = self._line(node, form)
        if line is not None:
            lines += ["  " * depth + line] if line else []
            return
        if node.tag in LANDMARK:
            label = node.attributes.get("aria-label")
            line = LANDMARK[node.tag] + (f" {json.dumps(label)}" if label else "")
            lines.append("  " * depth + line)
            depth += 1
        for child in node.children:
            if isinstance(child, Node):
                self._write(child, depth, lines, form)
            elif child.strip():
                lines.append("  " * depth + child.strip())

    def _line(self, node: Node, form: Node | None) -> str | None:
        """The one line that the element is, empty for none; `None` when its children are more."""
        if node.tag in ("script", "style", "template", "noscript", "head"):
            return ""
        if node.tag in ("h1", "h2"):
            return f"heading {json.dumps(self._inline(node, form))}"
        if node.tag == "tr":
            cells = [child for child in node.children if isinstance(child, Node)]
            return "row " + " | ".join(self._inline(cell, form) for cell in cells)
        if node.tag in ACTIVE:
            return self._mention(node, form)
        if any(node.find(tag) for tag in (*BLOCK, *LANDMARK, "tr")):
            return None
        return self._inline(node, form)

    def _inline(self, node: Node, form: Node | None) -> str:
        parts = []
        for child in node.children:
            if isinstance(child, str):
                parts.append(child)
            elif child.tag in ACTIVE:
                parts.append(f" {self._mention(child, form)} ")
            else:
                parts.append(self._inline(child, form))
        return " ".join("".join(parts).split())

    def _mention(self, node: Node, form: Node | None) -> str:
        number = str(len(self._elements) + 1)
        self._elements[number] = (node, form)
        if node.tag == "a":
            return f"[{number}] link {json.dumps(node.text())} -> {node.attributes['href']}"
        if node.tag == "button":
            return f"[{number}] button {json.dumps(node.text())}"
        label = self._labels.get(node.attributes.get("id", ""), "")
        value = json.dumps(self._shown(node))
        if node.tag == "select":
            options = json.dumps(" | ".join(option.text() for option in node.find("option"))[:400])
            return f"[{number}] combobox {json.dumps(label)} value={value} options={options}"
        shown = f" value={value}" if self._shown(node) else ""
        return f"[{number}] textbox {json.dumps(label)}{shown}"
