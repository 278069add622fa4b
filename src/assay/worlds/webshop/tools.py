"""The tools with which a model plays WebShop."""

from __future__ import annotations

from typing import Annotated

from assay.resources.context import Context
from assay.schema.observation import Observation
from assay.worlds.tool import tool


@tool
async def webshop_search(
    context: Context, keywords: Annotated[str, "Words to look for, for example: red cotton shirt"]
) -> Observation:
    """Search the shop; works on every page and shows the first 10 of at most 50 products."""
    return await _act(context, "search", keywords)


@tool
async def webshop_click(
    context: Context,
    target: Annotated[str, "One of the clickables of the page: a product, an option or a button"],
) -> Observation:
    """Open a product, choose an option, turn a page, or buy ("buy now" ends the task)."""
    return await _act(context, "click", target)


@tool
async def webshop_action(
    context: Context, action: Annotated[str, "search[keywords] or click[target]"]
) -> Observation:
    """Carry out one action in the shop: search[keywords], or click[target] with a clickable."""
    return await (await context.environment("webshop")).step(action)


async def _act(context: Context, verb: str, argument: str) -> Observation:
    # An argument of its own may be written over several lines; an action is one line.
    line = " ".join(argument.splitlines())
    return await (await context.environment("webshop")).step(f"{verb}[{line}]")
