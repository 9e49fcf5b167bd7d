"""The work behind the laboratory's commands."""
