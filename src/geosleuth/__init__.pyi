# What `__getattr__` loads on demand, for editors and type checkers.
from geosleuth.pipeline.api import alocate as alocate
from geosleuth.pipeline.api import locate as locate

__version__: str
