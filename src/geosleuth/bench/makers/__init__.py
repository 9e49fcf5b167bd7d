"""Tools for people who make data sets: rate, filter, sample, label and split photos, and put pictures together."""
