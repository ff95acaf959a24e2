"""The review of a file: findings at their lines, accepted ones, settings, revisions."""
