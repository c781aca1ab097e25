"""Reads the checkpoints of programs that ckpt has made restartable.

>>> import ckpt_read as ckpt                           # doctest: +SKIP
>>> ckpt.open("heat.ckpt.d").latest["plate.now"]       # doctest: +SKIP

What lives where: `index` and `container` know the file, `values` makes Python objects of columns, `store` finds files and names,
`place` what is in an element, `seal` writes.
"""

from .errors import Damaged, Error, NotFound, OtherVersion, Refused, WaitsForThreads
from .store import Checkpoint, FrameView, Run, Store, open  # noqa: A004
from .values import Records, Struct, Variant

__all__ = [
    "Checkpoint", "Damaged", "Error", "FrameView", "NotFound", "OtherVersion", "Records", "Refused", "Run", "Store", "Struct",
    "Variant", "WaitsForThreads", "open",
]  # fmt: skip
