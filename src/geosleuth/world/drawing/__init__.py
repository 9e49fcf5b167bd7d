"""Scenes as pictures."""
