"""The terminal commands: each is a module, imported when the command is called."""
