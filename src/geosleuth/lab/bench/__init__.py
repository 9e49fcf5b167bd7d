"""The scorer: recorded answers in, figures, tables and pages out."""
