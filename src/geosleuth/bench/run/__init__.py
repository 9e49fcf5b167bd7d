"""Runs over data sets: a folder that is continued, never redone, on one machine or many."""
