"""`assay mcp` with a scorer that fails at everything it is asked."""

import sys
from typing import Any, NoReturn

from assay.browser.connect.mcp.proxy import Proxy, start_server
from assay.browser.connect.mcp.results import tool_records
from assay.browser.connect.mcp.session import BrowserSession


class CrashingSession(BrowserSession):
    def prepare(self, _: Any) -> NoReturn:
        raise LookupError("prepare")

    def request(self, *_: Any) -> NoReturn:
        raise ValueError("request")

    def reply(self, *_: Any) -> NoReturn:
        raise RecursionError("reply")

    def lost(self) -> NoReturn:
        raise ZeroDivisionError("lost")

    def tools(self, _: Any) -> NoReturn:
        raise MemoryError("tools")

    def answer(self, *_: Any) -> NoReturn:
        raise KeyError("answer")

    def finish(self) -> NoReturn:
        raise OSError("finish")


process = start_server(sys.argv[1:])
sys.exit(Proxy(process, CrashingSession(), tool_records()).run())
