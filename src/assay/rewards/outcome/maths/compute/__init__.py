"""Evaluation of expressions: exactly, as polynomials, or numerically at points."""
