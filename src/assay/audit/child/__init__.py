"""Code of the audit that runs the audited reward in a separate process.

This folder is put on the path of that process, which may belong to another Python that has no
Assay: what is below imports the standard library only, and itself by relative imports.
"""
