"""Records: whether a response is the JSON that was asked for."""
