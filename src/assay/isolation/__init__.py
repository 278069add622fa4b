"""Run untrusted programs and rewards in limited child processes and a sandbox."""
