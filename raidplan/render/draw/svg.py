"""A picture as one SVG: no script, nothing loaded, light or dark as the viewer prefers, safe inside an HTML page."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from raidplan.render.draw.marks import Marks
from raidplan.render.draw.measure import BOLD, SIZE
from raidplan.render.draw.page import picture
from raidplan.render.draw.palette import DARK, LIGHT
from raidplan.render.draw.picture import Box, Icon, Line, Part, Rect, Shape, Text
from raidplan.render.visible import visible
from raidplan.topology import Topology

FONT = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"DejaVu Sans",sans-serif'
ICONS: dict[Shape, str] = {
    "cross": "M5 .7A4.3 4.3 0 1 1 5 9.3A4.3 4.3 0 1 1 5 .7ZM3.3 3.3 6.7 6.7M6.7 3.3 3.3 6.7",
    "narrow": "M1 1H9L5 5 9 9H1L5 5Z",
    "kept": "M1.5 4.5H8.5V9.5H1.5ZM3 4.5V3A2 2 0 0 1 7 3V4.5",
}
"""A crossed circle, an hourglass and a padlock."""


def svg(topology: Topology, marks: Marks, prefix: str = "raidplan") -> str:
    """The picture as a document that may also stand inside an HTML page.

    Classes and ids begin with `prefix`, and no style reaches outside; two pictures in one page need two prefixes.
    """
    return "".join(f"{line}\n" for line in _svg(topology, marks, prefix))


def _svg(topology: Topology, marks: Marks, prefix: str) -> Iterator[str]:
    page = picture(topology, marks)
    size = f'width="{page.width}" height="{page.height}" viewBox="0 0 {page.width} {page.height}"'
    names = f'role="img" aria-labelledby="{prefix}-title {prefix}-desc"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="{prefix}" {size} {names}>'
    yield f'<title id="{prefix}-title">{_text(page.title)}</title>'
    yield f'<desc id="{prefix}-desc">{_text(page.description)}</desc>'
    yield f"<style>{_style(prefix)}</style>"
    writer = _Writer(prefix)
    yield writer.rect(Rect(0, 0, page.width, page.height, "page"))
    yield from map(writer.line, page.lines)
    for box in page.boxes:
        yield from writer.box(box)
    yield from map(writer.part, page.parts)
    yield "</svg>"


class _Writer:
    """Values to elements, with classes of one prefix."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def _class(self, *words: str) -> str:
        return " ".join(f"{self.prefix}-{word}" for each in words for word in each.split())

    def box(self, box: Box) -> Iterator[str]:
        yield f"<g><title>{_text(box.title)}</title>"
        yield self.rect(box.frame)
        yield from map(self.part, box.parts)
        yield "</g>"

    def part(self, part: Part) -> str:
        match part:
            case Rect():
                return self.rect(part)
            case Text():
                return self.text(part)
            case Icon():
                return self.icon(part)

    def rect(self, rect: Rect) -> str:
        place = f'x="{rect.x}" y="{rect.y}" width="{rect.width}" height="{rect.height}"'
        rounded = f' rx="{rect.radius}"' if rect.radius else ""
        return f'<rect class="{self._class(rect.tone)}" {place}{rounded}/>'

    def text(self, text: Text) -> str:
        anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
        place = f'x="{text.x}" y="{text.y}"{anchor}'
        return f'<text class="{self._class(text.style, text.tone)}" {place}>{_text(text.text)}</text>'

    def icon(self, icon: Icon) -> str:
        return f'<path class="{self._class(icon.shape)}" transform="translate({icon.x} {icon.y})" d="{ICONS[icon.shape]}"/>'

    def line(self, line: Line) -> str:
        points = "L".join(f"{x} {y}" for x, y in line.points)
        return f'<path class="{self._class(line.tone)}" stroke-width="{line.width:g}" d="M{points}"/>'


def _style(prefix: str) -> str:
    svg = f"svg.{prefix}"
    fonts = [
        f"{svg} .{prefix}-{style}{{font:{'600' if style in BOLD else '400'} {size:g}px {FONT}}}"
        for style, size in SIZE.items()
    ]
    plain = [
        f"{svg} .{prefix}-wire,{svg} .{prefix}-bound,{svg} .{prefix}-cross,{svg} .{prefix}-kept{{fill:none}}",
        f"{svg} .{prefix}-unknown{{stroke-dasharray:3 3}}",
        f"{svg} .{prefix}-spare{{stroke-dasharray:4 3}}",
        f"{svg} .{prefix}-heading{{letter-spacing:.06em}}",
        f"{svg} .{prefix}-cross,{svg} .{prefix}-kept{{stroke-width:1.3}}",
    ]
    light = [f"{svg} .{prefix}-{name}{{{rule}}}" for name, rule in LIGHT.items()]
    dark = [f"{svg} .{prefix}-{name}{{{rule}}}" for name, rule in DARK.items()]
    return "\n".join([*fonts, *plain, *light, "@media screen and (prefers-color-scheme:dark){", *dark, "}"])


def _text(text: str) -> str:
    return escape(visible(text))
