"""Runs on many machines, through Ray: the tries are made on the nodes, the run's folder stays here."""

from .worker import ray_worker

__all__ = ["ray_worker"]
