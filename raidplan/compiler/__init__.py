"""Topology to plan."""

from raidplan.compiler.compile import compile_plan

__all__ = ["compile_plan"]
