"""The vocabulary of a layout: one file for each kind of thing that can stand in it."""
