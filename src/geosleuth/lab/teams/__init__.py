"""Teams that learn whom to trust, and their rivals."""
