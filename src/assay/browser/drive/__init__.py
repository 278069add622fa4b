"""A browser as an environment: numbered elements to act on, evidence on every step."""
