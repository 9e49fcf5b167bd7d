"""Stages that make better policies, on TRL: fine-tuning, agentic cold start, reinforcement learning with tools."""
