"""A small MCP server that writes as Playwright MCP does, about a site of three pages."""

import sys
from dataclasses import dataclass, field

from mcp.server import MCPServer
from mcp.types import CallToolResult, TextContent, ToolAnnotations

server = MCPServer("pages")
READS = ToolAnnotations(read_only_hint=True)
PAGES = {
    "/": ('heading "Shop" [level=1]', 'link "To B"', 'button "Nothing"', 'button "Delete account"'),
    "/b": ('heading "Page B" [level=1]', 'link "Home"'),
    "/gone": ('heading "Not found" [level=1]',),
}
LINKS = {'link "To B"': "/b", 'link "Home"': "/"}


@dataclass
class Tab:
    """The page that is open; a snapshot gives its elements new numbers."""

    path: str = "/"
    generation: int = 0
    refs: dict[str, str] = field(default_factory=dict)


tab = Tab()


def page(*, fresh: bool = True) -> str:
    """The sections of the page, with numbers that hold until the next snapshot."""
    if fresh:
        tab.generation += 1
        tab.refs = {f"e{tab.generation}{n}": element for n, element in enumerate(PAGES[tab.path])}
    lines = [f"- {element} [ref={ref}]" for ref, element in tab.refs.items()]
    status = ["- HTTP status: 404 Not Found"] if tab.path == "/gone" else []
    head = ["### Page", f"- Page URL: http://shop.test{tab.path}", "- Page Title: Shop", *status]
    return "\n".join([*head, "### Snapshot", "```yaml", *lines, "```"])


def failure(message: str) -> CallToolResult:
    text = TextContent(type="text", text=f"### Error\n{message}")
    return CallToolResult(content=[text], is_error=True)


@server.tool()
def browser_navigate(url: str) -> str:
    tab.path = "/" + url.partition("shop.test/")[2]
    return page()


@server.tool(annotations=READS)
def browser_snapshot() -> str:
    return page()


@server.tool()
def browser_click(element: str, ref: str) -> CallToolResult:
    target = tab.refs.get(ref)
    if target is None:
        return failure(
            f"Error: Ref {ref} not found in the current page snapshot. Try capturing new snapshot."
        )
    tab.path = LINKS.get(target, tab.path)
    return CallToolResult(content=[TextContent(type="text", text=page(fresh=target in LINKS))])


@server.tool()
def stop(code: int) -> str:
    sys.stderr.write("the server stops\n")
    sys.stderr.flush()
    import os

    os._exit(code)


if __name__ == "__main__":
    server.run("stdio")
