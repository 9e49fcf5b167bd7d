"""Trajectories to learn from: made, filtered, kept and handed on."""
