"""What was begun and what ended, on disk before it happens."""
