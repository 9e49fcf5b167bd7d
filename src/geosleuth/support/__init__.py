"""Common utilities: errors, files, network names, plug-ins, plain text."""
