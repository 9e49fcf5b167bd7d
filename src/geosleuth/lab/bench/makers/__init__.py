"""Tools for making data sets: rate, filter, sample, label and split photos, and assemble pictures."""
