"""Chromium processes: how to start them, share them and connect to them."""
