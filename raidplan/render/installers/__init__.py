"""A layout in the words of the programs that install servers: what of it they can make, and what not."""
