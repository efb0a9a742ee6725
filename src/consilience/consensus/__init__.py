"""From an ensemble to one clustering: the methods, and the table of them."""

from consilience.consensus._table import CONSENSUS, Method
from consilience.consensus.accumulation import EAC, EACResult, eac

__all__ = ["CONSENSUS", "EAC", "EACResult", "Method", "eac"]
