"""An answer's text as one typed node."""
