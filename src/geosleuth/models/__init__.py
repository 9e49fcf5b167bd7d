"""Policies: hosted models, local weights, the rule-based detective and recordings, behind a common protocol."""

from .endpoints import EndpointSettings
from .protocol import Conversation, Finish, Message, Observed, Policy, Prompt, Sampling, Step, Usage, Wire
from .registry import PREFIXES, consent_line, make_policy

__all__ = [
    "PREFIXES",
    "Conversation",
    "EndpointSettings",
    "Finish",
    "Message",
    "Observed",
    "Policy",
    "Prompt",
    "Sampling",
    "Step",
    "Usage",
    "Wire",
    "consent_line",
    "make_policy",
]
