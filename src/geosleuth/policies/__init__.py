"""Who thinks: any hosted model, any local weights, a recording; all behind one protocol."""

from .choose import PREFIXES, consent_line, make_policy
from .endpoints import EndpointSettings
from .model import Conversation, Finish, Message, Observed, Policy, Prompt, Sampling, Step, Usage, Wire

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
