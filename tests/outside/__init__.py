"""raidplan as other people's programs see it: each is installed from its registry at a fixed version, and run."""
