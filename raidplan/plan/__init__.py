"""The plan as data: steps with what they need, destroy and prove. Standard library only."""

from raidplan.plan.codec import digest, plan_digest, plan_from_json, plan_to_data, plan_to_json
from raidplan.plan.step import (
    ADDED,
    CLEARS,
    OWN,
    PHASES,
    Action,
    DiskIdentity,
    Plan,
    Proof,
    Run,
    SetAttribute,
    Step,
    Value,
    WriteBlock,
    WriteFile,
    Zero,
)

__all__ = [
    "ADDED",
    "CLEARS",
    "OWN",
    "PHASES",
    "Action",
    "DiskIdentity",
    "Plan",
    "Proof",
    "Run",
    "SetAttribute",
    "Step",
    "Value",
    "WriteBlock",
    "WriteFile",
    "Zero",
    "digest",
    "plan_digest",
    "plan_from_json",
    "plan_to_data",
    "plan_to_json",
]
