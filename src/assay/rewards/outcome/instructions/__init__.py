"""Instruction following: IFEval's and IFBench's instructions, checked by a program."""
