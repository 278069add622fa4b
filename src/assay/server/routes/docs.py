"""`GET /docs`: the OpenAPI document as one plain page, for a person and without scripts."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

router = APIRouter(tags=["service"])

CSP = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"

TEMPLATE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ doc.info.title }}</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { overflow: auto; padding: .75rem; border: 1px solid #8886; border-radius: 4px; }
section { border-top: 1px solid #8886; margin-top: 1.5rem; }
td { padding: 0 1rem 0 0; vertical-align: top; }
.text { white-space: pre-line; }
</style>
<h1>{{ doc.info.title }} {{ doc.info.version }}</h1>
<p class="text">{{ doc.info.description }}</p>
<p>The same for machines: <a href="/openapi.json">openapi.json</a></p>
{% for call in calls %}
<section>
<h2><code>{{ call.method }} {{ call.path }}</code></h2>
<p><strong>{{ call.summary }}.</strong></p>
<p class="text">{{ call.description }}</p>
{% if call.parameters %}
<table>
{% for parameter in call.parameters %}
<tr><td><code>?{{ parameter.name }}=</code></td><td>{{ parameter.description or "" }}</td></tr>
{% endfor %}
</table>
{% endif %}
{% for example in call.examples %}
<pre>{{ example }}</pre>
{% endfor %}
<table>
{% for status, meaning in call.responses.items() %}
<tr><td>{{ status }}</td><td>{{ meaning }}</td></tr>
{% endfor %}
</table>
</section>
{% endfor %}
</html>
"""


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """The OpenAPI document as a page, which loads nothing from anywhere."""
    return HTMLResponse(_page(request.app.openapi()), headers={"content-security-policy": CSP})


def _page(document: dict[str, Any]) -> str:
    """The page; every text in it is escaped."""
    calls = [
        _call(document, path, method, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    template = Environment(autoescape=True).from_string(TEMPLATE)
    return template.render(doc=document, calls=calls)


def _call(
    document: dict[str, Any], path: str, method: str, operation: dict[str, Any]
) -> dict[str, Any]:
    return {
        "method": method.upper(),
        "path": path,
        "summary": operation.get("summary", ""),
        "description": operation.get("description", ""),
        "parameters": operation.get("parameters", []),
        "examples": [json.dumps(example, indent=2) for example in _examples(document, operation)],
        "responses": {
            status: response.get("description", "")
            for status, response in operation["responses"].items()
        },
    }


def _examples(document: dict[str, Any], operation: dict[str, Any]) -> list[Any]:
    content = operation.get("requestBody", {}).get("content", {})
    place = content.get("application/json", {}).get("schema", {}).get("$ref", "")
    schema = document["components"]["schemas"].get(place.rpartition("/")[2], {})
    examples: list[Any] = schema.get("examples", [])
    return examples
