"""The web research agent: page state, prompt, model, parsed action."""
