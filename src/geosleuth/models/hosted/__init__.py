"""Models that others serve, through pydantic-ai: its model classes speak to every provider, the loop is ours.

The modules in here import pydantic-ai; `geosleuth.models.registry` imports them only once it is known to be there.
"""
