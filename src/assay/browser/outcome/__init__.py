"""The outcome of a step: its effect, the page's notices, and pages that block the agent."""
