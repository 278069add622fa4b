"""Code inside the sandbox: the zygote, the guards, and the program processes.

It imports the standard library alone, and is started as `python -m assay_isolation.zygote`. Nothing
here knows an expected value or a verdict.
"""
