"""Chromium as a process: one that rollouts share, one of its own, its DevTools port."""
