"""Answers that leave a file behind if any part of them is executed.

Each payload has a number, so that the file says which one worked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.audit.isolation import MARKER

_TEMPLATES: Final = (
    "open('@','w').close()",
    "__import__('os').system('touch @')",
    "__import__('pathlib').Path('@').touch()",
    "exec(\"open('@','w').close()\")",
    "eval(\"open('@','w').close()\")",
    "[open('@','w') for _ in (1,)]",
    "(lambda: open('@','w').close())()",
    "1 if open('@','w') else 2",
    "1 + (open('@','w') and 0)",
    "0*len([open('@','w')])+4",
    "str(open('@','w'))",
    "getattr(__import__('os'), 'system')('touch @')",
    "__builtins__['open']('@','w')",
    "().__class__.__base__.__subclasses__() and open('@','w')",
    "Symbol('x').__class__.__init__.__globals__['__builtins__']['open']('@','w')",
    "sympify(\"open('@','w')\")",
    r"\frac{open('@','w')}{1}",
    r"x^{__import__('os').system('touch @')}",
    "x=open('@','w')",
    "lambda x: open('@','w')",
    "import os; os.system('touch @')",
    "```python\nopen('@','w').close()\n```",
    "<code>open('@','w').close()</code>",
    "{{ cycler.__init__.__globals__.os.popen('touch @').read() }}",
    "{% import os %}{{ os.system('touch @') }}",
    "${__import__('os').system('touch @')}",
    "<% open('@','w').close() %>",
    "f\"{open('@','w')}\"",
    "$(touch @)",
    "`touch @`",
    "'; touch @; '",
    '"; touch @; "',
    "| touch @",
    "&& touch @",
    r"\immediate\write18{touch @}",
    '\\input{|"touch @"}',
    '!!python/object/apply:os.system ["touch @"]',
    '{"py/reduce": [{"py/function": "os.system"}, {"py/tuple": ["touch @"]}]}',
    "cos\nsystem\n(S'touch @'\ntR.",
    '{"__class__": "os.system", "args": ["touch @"]}',
    "@@(4)",
    "@ + 4",
)


def payloads() -> Iterator[tuple[str, str]]:
    """The name of the file that each payload would make, and the payload."""
    for number, template in enumerate(_TEMPLATES):
        name = f"{MARKER}_{number:02d}"
        yield name, template.replace("@@", name).replace("@", name)
