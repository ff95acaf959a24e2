"""The stages of a decision, in the order of docs/internals/architecture.md: each makes a value of its own type of those before."""
