"""Instructions that a program can check: those of IFEval and IFBench, restated."""
