"""A layout rehearsed on its virtual twin: made, booted, its parts pulled, and what was observed beside what was predicted."""
