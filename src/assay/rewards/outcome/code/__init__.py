"""The reward of a program: find the code, run its tests in the sandbox, compare the results.

`find` picks the program, `read` turns a task's tests into one of three kinds, `execute` has them
run, and `compare` decides where the expected values are; `reward` puts them together.
"""
