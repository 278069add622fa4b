"""The value of an expression: exact, as a polynomial, or at points; and the table of notations."""
