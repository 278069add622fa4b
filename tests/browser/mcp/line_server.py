"""A server that keeps every byte it reads, and answers each line with the lines of a script.

python line_server.py SCRIPT RECORD: line n of stdin is answered by part n of SCRIPT (parts end
with a line `--`), and copied to RECORD.
"""

import sys
from pathlib import Path

parts = Path(sys.argv[1]).read_bytes().split(b"--part--")
with Path(sys.argv[2]).open("wb") as record:
    for number, line in enumerate(sys.stdin.buffer):
        record.write(line)
        record.flush()
        if number < len(parts):
            sys.stdout.buffer.write(parts[number])
            sys.stdout.buffer.flush()
sys.stderr.write("line server: the client has gone\n")
sys.exit(7)
