"""Programs and rewards that are not trusted: bounded children, frames, the sandbox."""
