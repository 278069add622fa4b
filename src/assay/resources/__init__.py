"""What must be closed: environments and their pools, browsers, child processes, the rollout."""
