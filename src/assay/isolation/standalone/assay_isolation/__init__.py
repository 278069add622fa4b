"""The package `assay.isolation` under another name, for child processes without Assay."""

__path__[:] = [__path__[0].removesuffix("/standalone/assay_isolation")]
