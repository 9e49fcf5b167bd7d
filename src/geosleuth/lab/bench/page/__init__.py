"""Reports of scores and runs as one self-contained HTML page each, without a script."""
