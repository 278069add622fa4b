"""The browser as an environment: the agent acts on numbered elements of a page."""
