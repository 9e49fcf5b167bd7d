"""The work behind the laboratory's commands; its errors are those of `geosleuth.cli.handlers`."""
