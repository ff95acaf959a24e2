"""Document to layout: the typed model of a server's storage."""
