"""Make sure that there is a Chromium: use the one there is, or install one, saying how.

python tools/chromium.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from assay.browser.chromium.shared import INSTALL, find_chromium
from assay.errors import MissingExtra


def found() -> str | None:
    with sync_playwright() as playwright:
        bundled = playwright.chromium.executable_path
    if Path(bundled).is_file():
        return bundled
    try:
        return find_chromium()
    except MissingExtra:
        return None


def attempts() -> list[list[str]]:
    """Ways to get one, the least intrusive first."""
    ways = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if shutil.which("apt-get") and os.geteuid() == 0:
        ways.append(
            [
                "sh",
                "-c",
                "apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium",
            ]
        )
    return ways


def main() -> int:
    path = found()
    for way in attempts():
        if path is not None:
            break
        print(f"No Chromium yet; trying: {' '.join(way[-1:] if way[0] == 'sh' else way[1:])}")
        subprocess.run(way, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path = found()
    print(f"Chromium: {path}" if path else INSTALL)
    return 0 if path else 1


if __name__ == "__main__":
    sys.exit(main())
