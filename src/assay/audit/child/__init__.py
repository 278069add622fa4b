"""The side of the audit that runs the target, in a process of its own.

This folder is put on the path of that process, which may belong to another Python that has no
Assay: what is below imports the standard library only, and itself by relative imports.
"""
