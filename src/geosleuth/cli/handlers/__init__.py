"""What commands do once their arguments are read; each is imported only when one of its commands runs.

What can't be used is a `UserError`, raised before anything is written or sent. Where a part went wrong, `typer.Exit`
says so by its status; what was finished is kept.
"""
