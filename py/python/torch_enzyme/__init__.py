"""The published name of :func:`ffgrad.torch.enzyme`: ``from torch_enzyme import enzyme``."""

from ffgrad.torch import enzyme

__all__ = ["enzyme"]
