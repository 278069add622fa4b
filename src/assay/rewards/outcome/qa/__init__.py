"""Question answering: rewards that compare the tokens of a response with a reference answer."""
