"""What every package uses: errors, files, network names, plug-ins, plain text."""
