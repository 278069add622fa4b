"""Whether two answers are the same, and by which rule."""
