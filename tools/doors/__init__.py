"""Scripts that run beside the tools of others, each in its own environment, and keep records."""
