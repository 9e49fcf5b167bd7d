"""``python -m geosleuth`` is the command ``geosleuth``, for where the command itself is not on the path."""

from geosleuth.cli import main

if __name__ == "__main__":
    main()
