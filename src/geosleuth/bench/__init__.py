"""The ruler: recorded answers in, figures, tables and pages out."""
