"""Rewards: pure functions of distances, levels and texts, as the papers define them."""
