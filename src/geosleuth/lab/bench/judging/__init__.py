"""Judges: what the rule can't decide is asked of a model, one short question each; its replies are kept."""
