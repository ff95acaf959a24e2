"""Everything that can be known to fail, asked before the first write."""
