"""Tool calls: whether an agent called the right functions with the right arguments."""
