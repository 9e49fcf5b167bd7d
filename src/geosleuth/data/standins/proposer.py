"""x"""


class StandInProposer: ...
