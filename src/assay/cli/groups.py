"""Command groups that accept other names of a command, and suggest names for a typo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import click

from assay.errors import did_you_mean


class SuggestingGroup(click.Group):
    """A command group that suggests a similar name for an unknown command."""

    other_words: ClassVar[Mapping[str, str]] = {}
    """Words that a user may say instead of a command's name; `--help` does not list them."""
    gone: ClassVar[Mapping[str, str]] = {}
    """Earlier names of commands, and what does their work now."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = self.other_words.get(args[0], args[0])
        if name in self.gone:
            raise click.UsageError(f"the command {name!r} was removed: {self.gone[name]}", ctx)
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            hint = did_you_mean(name, self.list_commands(ctx), f"`{ctx.command_path} -h` shows all")
            raise click.UsageError(f"no command {name[:100]!r}; {hint}", ctx)
        return super().resolve_command(ctx, [name, *args[1:]])
