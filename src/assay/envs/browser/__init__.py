"""A real browser as a world: numbered elements to act on, digests as testimony."""
