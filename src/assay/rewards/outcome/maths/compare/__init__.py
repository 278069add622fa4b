"""Compare two mathematical answers, and name the rule that decides."""
