"""Things that must be opened, held and closed: worlds, the pools they live in, the rollout."""
