"""The report of a rehearsal, in each form."""
