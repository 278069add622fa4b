"""What the doors that speak HTTP share: who may ask, how much, and where they listen."""
