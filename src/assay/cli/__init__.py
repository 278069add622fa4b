"""The commands of the terminal: one file each, loaded when it is called."""
