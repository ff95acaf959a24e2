"""The machine as a picture: one SVG, or Mermaid text; what stands on what, what hangs on what, and what to look at."""

from raidplan.render.draw.marks import Marks, marks_of
from raidplan.render.draw.mermaid import MOST_TEXT, mermaid
from raidplan.render.draw.svg import svg

__all__ = ["MOST_TEXT", "Marks", "marks_of", "mermaid", "svg"]
