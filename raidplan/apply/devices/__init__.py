"""Block devices, right before and while something is written to them."""
