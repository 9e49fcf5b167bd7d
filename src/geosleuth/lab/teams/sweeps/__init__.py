"""Runs of a team with different settings, where each reply is requested once.

Truths are held in ``track_record``; nothing else here can import it.
"""
