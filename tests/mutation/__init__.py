"""Mutation testing: `python -m tests.mutation` changes one operator, constant or result at a time and asks the tests.

`mutants` finds and makes the changes, `seen` learns which test runs which line, `trial` asks the tests about one.
"""
