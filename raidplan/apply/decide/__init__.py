"""The parts of the stages that compare a plan with this machine: remaining steps, interrupted steps to redo, reasons to refuse."""
