"""What two readers of YAML could understand differently, and what hides from the eye, is refused at its place."""

from __future__ import annotations

import pytest

from raidplan.document.read import parse_document

H = "version: 1\nhost: jbod\n"


def refusal(text: str) -> tuple[str, str, str]:
    """Place, message and hint of the one finding."""
    document, problems = parse_document(text, "x.yaml")
    ((finding, span),) = problems
    assert document is None and finding.rule in ("invalid-yaml", "invalid-layout")
    return f"{span.line}:{span.column}", finding.message, finding.hint


REFUSED = {
    "anchor": ("host: &h jbod", "1:7", "anchors are not allowed: &h"),
    "anchor on a mapping": ("a: &a {b: c}", "1:4", "anchors are not allowed: &a"),
    "alias": ("a: x\nb: *a", "2:4", "aliases are not allowed"),
    "an anchor that holds itself": ("a: &a [*a]", "1:4", "anchors are not allowed: &a"),
    "billion laughs": ("a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]", "1:4", "anchors are not allowed: &a"),
    "merge key": (H + "a: {<<: {b: c}}", "3:5", "merge keys are not allowed"),
    "python tag": ("host: !!python/object/apply:os.system [id]", "1:7", "tags are not allowed"),
    "include": ("hardware: !include other.yaml", "1:11", "tags are not allowed: !include"),
    "string tag": ("host: !!str 5", "1:7", "tags are not allowed: tag:yaml.org,2002:str"),
    "binary": ("host: !!binary aGk=", "1:7", "tags are not allowed"),
    "twice": (H + "host: other", "3:1", "duplicate key 'host', first at line 2"),
    "twice in a flow": ("{a: 1, b: 2, a: 3}", "1:14", "duplicate key 'a', first at line 1"),
    "twice, once quoted": ("a: 1\n'a': 2", "2:1", "duplicate key 'a', first at line 1"),
    "a list as key": ("[a]: b", "1:1", "a key must be text"),
    "a mapping as key": ("{a: b}: c", "1:1", "a key must be text"),
    "a list as key, long form": ("? [a]\n: b", "1:3", "a key must be text"),
    "null as key": ("null: b", "1:1", "a key must be text"),
    "tilde as key": ("~: b", "1:1", "a key must be text"),
    "yes": (H + "yes: b", "3:1", "the key 'yes' means a boolean to some YAML readers"),
    "on": ("a: {on: b}", "1:5", "the key 'on' means a boolean"),
    "OFF": ("OFF: b", "1:1", "the key 'OFF' means a boolean"),
    "n": ("disks: {n: {size: 3TB}}", "1:9", "the key 'n' means a boolean"),
    "quoted y": ("'y': b", "1:1", "the key 'y' means a boolean"),
    "true": ("true: b", "1:1", "the key 'true' means a boolean"),
    "second document": (H + "---\nversion: 1\n", "3:1", "a second document begins here"),
    "after the end": (H + "...\nfoo: bar\n", "4:1", "expected '<document start>'"),
    "version directive": ("%YAML 1.1\n---\n" + H, "1:1", "YAML directives are not allowed"),
    "tag directive": ("%TAG ! tag:x,2000:\n---\n" + H, "1:1", "YAML directives are not allowed"),
    "unknown directive": ("%FOO bar\n---\n" + H, "1:5", "found unknown directive name"),
    "tab": ("hardware:\n\tdisks: {}", "2:1", "that cannot start any token"),
    "tab before a key": ("a: 1\n \tb: 2", "2:2", "that cannot start any token"),
    "open quote": ("a: 1\nhost: 'jbod", "2:7", "unexpected end of stream"),
    "open bracket": ("members: [a, b", "1:10", "expected ',' or ']'"),
    "open brace": ("a: {b: c", "1:4", "expected ',' or '}'"),
    "two colons": ("host: a: b", "1:8", "mapping values are not allowed"),
    "at sign": ("host: @x", "1:7", "cannot start any token"),
    "a lone surrogate": ('host: "\\ud800"', "1:7", "U+D800"),
    "NUL": ("host: a\x00b", "1:8", "U+0000 (a control character)"),
    "NUL by escape": ('host: "a\\0b"', "1:7", "U+0000 (a control character)"),
    "NUL in a key": ('"a\\0b": 1', "1:1", "U+0000 (a control character)"),
    "ESC": ("host: \x1b[31m", "1:7", "U+001B (a control character)"),
    "ESC by escape": ('host: "\\e[31m"', "1:7", "U+001B (a control character)"),
    "bell in a comment": ("# \x07\nhost: x", "1:3", "U+0007 (a control character)"),
    "text from right to left": (H + "# \u202e lived\n", "3:3", "U+202E (right-to-left override)"),
    "arabic letter mark": ("host: a\u061cb", "1:8", "U+061C (arabic letter mark)"),
    "an isolate by escape": ('host: "\\u2066"', "1:7", "U+2066 (left-to-right isolate)"),
    "zero width in a key": ("ho\u200bst: x", "1:3", "U+200B (zero width space)"),
    "zero width joiner": ("host: a\u200db", "1:8", "U+200D (zero width joiner)"),
    "word joiner": ("host: a\u2060b", "1:8", "U+2060 (word joiner)"),
    "soft hyphen": ("host: a\u00adb", "1:8", "U+00AD (soft hyphen)"),
    "hangul filler": ("host: a\u3164b", "1:8", "U+3164 (hangul filler)"),
    "tag character": ("host: a\U000e0041b", "1:8", "U+E0041 (tag latin capital letter a)"),
    "no-break space": ("version:\u00a01", "1:9", "U+00A0 (no-break space)"),
    "byte order mark inside": ("host: a\ufeffb", "1:8", "U+FEFF (zero width no-break space)"),
    "next line": ("host: a\x85b", "1:8", "U+0085 (a control character)"),
    "line separator": ("host: a\u2028b", "1:8", "U+2028 (line separator)"),
    "nothing": ("", "1:1", "the file has no content"),
    "a comment": ("# version: 1\n", "1:1", "the file has no content"),
    "null": ("~", "1:1", "a layout is a mapping of keys to values"),
    "a text": ("version 1", "1:1", "a layout is a mapping of keys to values"),
    "a list": ("- version: 1", "1:1", "a layout is a mapping of keys to values"),
}


@pytest.mark.parametrize(("text", "place", "said"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, place: str, said: str) -> None:
    where, message, hint = refusal(text)
    assert where == place
    assert said in message
    assert hint


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffversion: 1",
        "---\nversion: 1\n...\n",
        "version: 1\r\nhost: jbod\r\n",
        "a: größe\nb: 日本語\nc: שלום\nd: ❤",
        "a: |\n  two\n  lines",
        "1: x\n1.5: y",
        "a: yes\nb: on\nc: null\nd: ~\ne:",
    ],
)
def test_accepted(text: str) -> None:
    document, problems = parse_document(text.removeprefix("\ufeff"), "x.yaml")
    assert document is not None and not problems


def test_every_scalar_stays_text_but_nothing_is_none() -> None:
    document, _ = parse_document(
        "a: yes\nb: 010\nc: 1e3\nd: 12:30\ne: .inf\nf: ~\ng:\nh: 'null'\ni: ''\n", "x"
    )
    assert document is not None
    wanted = {
        "a": "yes",
        "b": "010",
        "c": "1e3",
        "d": "12:30",
        "e": ".inf",
        "f": None,
        "g": None,
        "h": "null",
    }
    assert document.root.plain() == wanted | {"i": ""}
