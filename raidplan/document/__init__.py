"""Text to document: what was written, with the place of every key and value, and nothing interpreted."""

from raidplan.document.node import Document, Node, Span
from raidplan.document.read import Reader, in_place_of, parse_document, read_document, read_text

__all__ = [
    "Document",
    "Node",
    "Reader",
    "Span",
    "in_place_of",
    "parse_document",
    "read_document",
    "read_text",
]
