"""One module for each page, with a function that builds the record of the page."""
