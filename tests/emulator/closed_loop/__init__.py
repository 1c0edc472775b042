"""Remedies that are proved: break an account, judge it, run what is printed, judge it again."""
