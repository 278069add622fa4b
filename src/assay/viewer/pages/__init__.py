"""One module for each page, with the function that builds its record from the runs."""
