"""A plan held against this machine: what is left to do, what of a cut-off run is done anew, and why not. Reads only."""
