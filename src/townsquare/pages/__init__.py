"""The web sites of the town, which answer requests from the town's records."""
