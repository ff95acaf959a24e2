"""The actual state of a machine, as values. Uses the standard library and `sh` only."""

from raidplan.facts.machine import DiskFact, Machine, PartitionFact
from raidplan.facts.read import read_machine

__all__ = ["DiskFact", "Machine", "PartitionFact", "read_machine"]
