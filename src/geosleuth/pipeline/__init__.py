"""From a `LocateRequest` to a `LocateResult`: the way that every command, server and script takes.

`request` is what the caller asks for, `plan` all that a run needs, `run` the run itself, `result` what came of it.
"""
