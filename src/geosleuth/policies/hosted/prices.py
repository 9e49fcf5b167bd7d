"""What a reply cost, from the token counts and prices that pydantic-ai and genai-prices know."""

from pydantic_ai.messages import ModelResponse

from geosleuth.policies.model import Usage
from geosleuth.policies.services import Target


def usage_of(response: ModelResponse, target: Target) -> Usage:
    """Tokens and money of one reply; ``cost_usd`` is None where the price is not known."""
    counted = response.usage
    return Usage(
        input_tokens=max(0, counted.input_tokens),
        output_tokens=max(0, counted.output_tokens),
        cached_tokens=max(0, counted.cache_read_tokens),
        cost_usd=_cost_usd(response, target),
    )


def _cost_usd(response: ModelResponse, target: Target) -> float | None:
    if target.service.own:
        return None if target.hosts else 0.0
    reported = response.usage.cost
    if reported is None and response.provider_details:
        # OpenRouter says what it charged.
        reported = response.provider_details.get("cost")
    if reported is not None:
        return float(reported)
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
