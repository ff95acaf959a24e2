"""Text to document: what was written, with the place of every key and value, and nothing interpreted."""

from raidplan.document.node import Document, Node, Span
from raidplan.document.read import read_document

__all__ = ["Document", "Node", "Span", "read_document"]
