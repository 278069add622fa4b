"""Language models: each takes a conversation and returns a reply."""
