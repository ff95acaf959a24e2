"""Real arrays in a virtual server."""
