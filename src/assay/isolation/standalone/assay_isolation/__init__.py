"""The room `isolation`, for children: a package whose modules are that room's."""

__path__[:] = [__path__[0].removesuffix("/standalone/assay_isolation")]
