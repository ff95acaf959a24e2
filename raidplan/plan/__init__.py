"""The plan as data: steps with what they need, destroy and prove. Standard library only."""

from raidplan.plan.codec import digest, digests_of, plan_digest, plan_from_json, plan_to_data, plan_to_json
from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.step import (
    ADDED,
    CLEARS,
    PHASES,
    Action,
    Loss,
    Plan,
    Proof,
    RenewInitramfs,
    Run,
    SetAttribute,
    Step,
    Value,
    WriteBlock,
    WriteFile,
    Zero,
    everything_on,
)

__all__ = [
    "ADDED",
    "CLEARS",
    "PHASES",
    "Action",
    "DiskIdentity",
    "Loss",
    "Plan",
    "Proof",
    "RenewInitramfs",
    "Run",
    "SetAttribute",
    "Step",
    "Value",
    "WriteBlock",
    "WriteFile",
    "Zero",
    "digest",
    "digests_of",
    "everything_on",
    "plan_digest",
    "plan_from_json",
    "plan_to_data",
    "plan_to_json",
]
