"""Common parts of the viewer and the reward server: request guards and addresses."""
