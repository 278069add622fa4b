"""A real browser as an environment: numbered elements to act on, digests as evidence."""
