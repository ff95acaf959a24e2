"""Words that mean something to a form of output, and the shape that no such word may change."""

from __future__ import annotations

import re

from hypothesis import strategies as st
from markdown_it import MarkdownIt

WORDS = [
    # commands to a runner, in both forms
    "::error::x", "  ::set-output name=a::b", "::stop-commands::x", "##[error]x", "a ##[add-mask]b", "##vso[task.complete result=Failed;]",
    "\n::error::x", "%0A::error::x", "\r::error::x", "x,title=y::z", "::group::", "\u2028::error::x", "\x85##[x]",
    # Markdown and HTML
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</details>", "-->", "<!--", "]]>", "</td></tr></table>", '"><svg onload=x>',
    "[a](javascript:alert(1))", "![a](http://evil.example/x.png)", "[a][b]", "http://evil.example", "www.evil.example", "@everyone",
    "#1", "GH-1", "a|b", "| a | b |", "`x`", "```", "**b**", "# x", "- [ ] x", "&lt;b&gt;", "&#60;b&#62;", "\\", "$$x$$", ":tada:",
    "{{ 7 * 7 }}", "{% x %}", "{0}", "[a](1)",
    # terminals
    "\x1b[31mred", "\x1b]8;;http://evil.example\x07x\x1b]8;;\x07", "\x9b2J", "\u202egnp.exe", "\u2066x\u2069", "\x00", "\x7f", "\t", "\udcff",
    "\ufeff", "zero\u200bwidth",
    # shells
    "$(touch BAD)", "`touch BAD`", "'; touch BAD; '", "\"; touch BAD; \"", "\nEND\ntouch BAD\n", "-rf", "$HOME", "!!", "~root", "*",
]  # fmt: skip
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
TOKENS = st.lists(
    st.sampled_from([*WORDS, "a", " ", "::", "##[", "[", "](", ")", "<", ">", "|", "\n"]), max_size=6
)
HOSTILE_TEXT = TOKENS.map("".join).map(lambda text: text or "x")


def shape(data: object) -> object:
    """Keys, lengths and types; of texts only that they are texts."""
    if isinstance(data, dict):
        return {key: shape(value) for key, value in data.items()}
    return [shape(each) for each in data] if isinstance(data, list) else type(data)


def tags(page: str) -> list[str]:
    return re.findall(r"</?\w+", page)
