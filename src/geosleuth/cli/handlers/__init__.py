"""Implementations of the commands; each is imported on demand.

What can't be used is a `UserError`, raised before anything is written or sent. Where a part went wrong, `typer.Exit`
says so by its status; what was finished is kept.
"""
