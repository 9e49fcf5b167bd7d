"""An example of a geosleuth plug-in."""
