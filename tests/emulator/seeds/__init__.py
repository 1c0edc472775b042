"""Accounts as real installers leave them, made through the public API."""
