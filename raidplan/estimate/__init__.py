"""How fast a layout can be and what limits it, what it survives, how long it is at risk, and what it needs."""
