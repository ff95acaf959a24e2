"""The journal: every step that was begun and that finished, on disk before it happens."""
