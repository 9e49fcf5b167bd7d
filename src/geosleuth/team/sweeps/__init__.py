"""Runs of a team with different settings, where each reply is requested once.

Truths are held in ``learning``; nothing else here can import it.
"""
