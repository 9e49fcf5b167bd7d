"""The loop and the scorer as a task of Inspect AI: ``inspect eval geosleuth/locate``.

Inspect finds `geosleuth.pipeline.inspect.tasks` through an entry point; nothing here is imported before that.
"""
