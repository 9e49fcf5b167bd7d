"""The loop and the scorer as a task of Inspect AI: ``inspect eval geosleuth/locate``.

Inspect finds `geosleuth.lab.inspect.tasks` through an entry point; nothing here is imported before that.
"""
