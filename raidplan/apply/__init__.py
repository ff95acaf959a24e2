"""The dangerous half: a plan compared with the machine, refused or carried out, and proven. Standard library and sh."""
