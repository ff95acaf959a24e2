"""Existing objects that differ from the layout: changed in place, reported, or refused."""
