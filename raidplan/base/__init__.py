"""The vocabulary of every stage: findings, sizes, RAID levels, identifiers."""
