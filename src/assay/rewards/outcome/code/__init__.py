"""The reward of a program: found in a response, run in the sandbox, judged outside of it.

`find` picks the program, `read` turns a task's tests into one of three kinds, `execute` has them
run, and `compare` decides where the expected values are; `reward` puts them together.
"""
