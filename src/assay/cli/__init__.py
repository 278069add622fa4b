"""The terminal door: one file per command, loaded when it is called."""
