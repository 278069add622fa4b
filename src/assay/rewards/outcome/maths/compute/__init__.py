"""What an expression is worth: exactly, as a polynomial, at points; and the table of notations."""
