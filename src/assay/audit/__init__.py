"""How a reward can be fooled, found out before a policy does."""
