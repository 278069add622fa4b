"""What a step did: its effect, what the page said of it, what stands in the way."""
