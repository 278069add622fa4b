"""What `import assay` and `assay --help` cost over bare Python, and the plugin over bare pytest.

python perf/startup.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 15
MEMORY = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
FIRST = "assay.score('qa_f1_reward', final_response='Paris', answer='Paris')"


def seconds(*arguments: str) -> float:
    """Median wall seconds of a fresh interpreter."""
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def megabytes(code: str) -> float:
    call = [sys.executable, "-c", f"{code}\n{MEMORY}"]
    return float(subprocess.run(call, check=True, capture_output=True, text=True).stdout)


def plugin_ms() -> float:
    """What the pytest plugin adds to collecting a folder with one test."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_one.py").write_text("def test_one(): pass\n")
        collect = ("-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", folder)
        return 1e3 * (seconds(*collect, "-p", "assay") - seconds(*collect, "-p", "no:assay"))


def main() -> int:
    bare_s, bare_mb = seconds("-c", "pass"), megabytes("pass")
    cases = {"import assay": "import assay", "and a first score": f"import assay; {FIRST}"}
    print("| over bare Python | ms | MB |\n|---|---|---|")
    costs = {}
    for name, code in cases.items():
        costs[name] = (1e3 * (seconds("-c", code) - bare_s), megabytes(code) - bare_mb)
        print(f"| {name} | {costs[name][0]:.0f} | {costs[name][1]:.1f} |")
    help_ms = 1e3 * seconds("-m", "assay.cli.main", "--help")
    print(f"\n`assay --help`, whole process: {help_ms:.0f} ms (bare Python {1e3 * bare_s:.0f} ms)")
    pytest_ms = plugin_ms()
    print(f"`pytest -p assay --collect-only`, over `-p no:assay`: {pytest_ms:.0f} ms")
    import_ms, import_mb = costs["import assay"]
    is_quick = import_ms <= 150 and help_ms <= 300 and pytest_ms <= 50
    return 0 if is_quick and import_mb <= 40 else 1


if __name__ == "__main__":
    sys.exit(main())
