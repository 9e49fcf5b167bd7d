"""How often stand-ins go wrong, and in which way."""

from dataclasses import asdict, dataclass

from geosleuth.errors import BadInput


@dataclass(frozen=True, slots=True)
class Slips:
    """Rates of mistakes, each a chance from 0 to 1. They were set by hand, and are no measurement of any model.

    Attributes:
        missed: lettering that is large enough to read is not noticed at all.
        misread: a line is read with letters that text reading confuses.
        hasty: the caller answers from what it has, though it could still ask.
        wrong_guess: of several candidates the caller takes another one than the best.
        bad_call: a call is made in a way that can't be carried out.
    """

    missed: float = 0.08
    misread: float = 0.12
    hasty: float = 0.03
    wrong_guess: float = 0.08
    bad_call: float = 0.03

    def __post_init__(self) -> None:
        for name, rate in asdict(self).items():
            if not 0.0 <= rate <= 1.0:
                raise BadInput(f"the rate of {name} is a chance from 0 to 1, not {rate}")


@dataclass(slots=True)
class Slipped:
    """What went wrong in one run, counted by the names of the rates."""

    missed: int = 0
    misread: int = 0
    hasty: int = 0
    wrong_guess: int = 0
    bad_call: int = 0


USUAL_SLIPS = Slips()
NO_SLIPS = Slips(0.0, 0.0, 0.0, 0.0, 0.0)
