"""One module for each page: its record, frozen, and the function that builds it from the runs."""
