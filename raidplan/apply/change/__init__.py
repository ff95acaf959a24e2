"""What stands and differs from the layout: changed in place, told of, or refused."""
