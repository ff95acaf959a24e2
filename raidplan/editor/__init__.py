"""A layout in an editor: the parts of a language server, of which only `server` knows the protocol."""
