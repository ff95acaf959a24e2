"""A plan compared with this machine: the remaining steps, interrupted steps to redo, and reasons to refuse. Reads only."""
