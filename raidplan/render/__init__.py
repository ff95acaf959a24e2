"""Values to text: one module for each form of output, pure functions, nothing printed."""
