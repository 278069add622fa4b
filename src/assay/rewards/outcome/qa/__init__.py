"""Question answering: how much of a reference answer a response gives, token by token."""
