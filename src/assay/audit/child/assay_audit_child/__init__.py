"""Run one reward in a limited process that reads requests from a pipe."""
