"""From a file to what a person reads about it: findings at their lines, accepted ones, settings, revisions."""
