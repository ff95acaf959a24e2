"""Document to layout: the typed model of a server's storage."""

from raidplan.layout.load import layout_of, load_layout
from raidplan.layout.model import Hardware, Layout

__all__ = ["Hardware", "Layout", "layout_of", "load_layout"]
