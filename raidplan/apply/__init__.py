"""The dangerous half: a plan held against the machine, refused or done, and proven. Standard library and sh."""
