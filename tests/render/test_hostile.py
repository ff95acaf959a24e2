"""What comes from a fork's pull request is hostile: no label, name or path of it is more than text in any form."""

from __future__ import annotations

import html
import json
import re
import subprocess
from functools import cache
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidplan.base.findings import Severity
from raidplan.cli import run
from raidplan.document import Span
from raidplan.plan.codec import plan_to_json
from raidplan.render.forms import FORMS, Look, render
from raidplan.render.plan_markdown import plan_markdown
from raidplan.render.plan_shell import plan_shell
from raidplan.render.plan_text import render_plan
from raidplan.render.visible import json_safe
from raidplan.review import pipeline
from raidplan.review.located import Accepted
from raidplan.review.pipeline import Loaded
from tests.render.findings import checked, located
from tests.render.hostile import HOSTILE_TEXT, MARKDOWN, WORDS, shape, tags
from tests.render.page import Element, parse
from tests.render.runner import commands


def layout(word: str) -> Loaded:
    """Findings in which the word stands wherever a finding holds text."""
    odd = located(
        word, file=f"{word}.yaml", hint=word, rule="some-rule", path=("arrays", word, 2), related=[(1, word)], severity=Severity.WARNING
    )  # fmt: skip
    again = located(f"{word} again", file=f"{word}.yaml", path=("disks", word), severity=Severity.WARNING)
    accepted = Accepted(odd, word, word, Span(word, 1, 1, 1, 2))
    return checked(
        odd, again, located(word, file=word), file=f"{word}.yaml", source=f"{word}\n", accepted=[accepted]
    )


@pytest.mark.parametrize("word", WORDS, ids=ascii)
@pytest.mark.parametrize("form", FORMS)
def test_a_word_is_a_word_in_every_form(form: str, word: str) -> None:
    harmless(form, word)


@given(st.sampled_from(list(FORMS)), HOSTILE_TEXT)
def test_no_text_is_more_than_text(form: str, text: str) -> None:
    harmless(form, text)


def harmless(form: str, word: str) -> None:
    text = render(form, [layout(word)], Look())
    assert all(line.isprintable() for line in text.split("\n"))
    text.encode("utf-8")
    if form == "github":
        found = commands(text)
        assert [command.name for command in found] == ["error", "warning"]
        assert len(text.splitlines()) == 2
        assert all(
            set(c.properties) == {"file", "line", "endLine", "col", "endColumn", "title"} for c in found
        )
        assert all(
            c.properties["title"] == "raidplan: some-rule" and c.properties["line"] == "1" for c in found
        )
    else:
        assert commands(text) == []
    same_shape(form, text, plain(form))


@cache
def plain(form: str) -> str:
    return render(form, [layout("harmless")], Look())


def same_shape(form: str, hostile: str, plain: str) -> None:
    """The hostile text changes words, not the structure of the form."""
    match form:
        case "json" | "sarif" | "gitlab":
            assert shape(json.loads(hostile)) == shape(json.loads(plain))
        case "junit":
            one, two = ElementTree.fromstring(hostile), ElementTree.fromstring(plain)
            assert [element.tag for element in one.iter()] == [element.tag for element in two.iter()]
        case "markdown":
            assert tags(MARKDOWN.render(hostile)) == tags(MARKDOWN.render(plain))
            shown = html.unescape(MARKDOWN.render(hostile))
            assert not re.search(r"(?:^|[^\w])(?:@\w|#\d|GH-\d)|https?://|(?<![a-zA-Z0-9])www\.", shown)
        case "html":
            assert outside_the_source(parse(hostile)) == outside_the_source(parse(plain))


def outside_the_source(element: Element) -> list[object]:
    """Tags and their attributes but for the highlighted layout, in which tags depend on the words."""
    if "source" in element.classes:
        assert {each.tag for each in element.all()} <= {"ol", "li", "span", "code", "mark", "a"}
        return []
    within = [outside_the_source(each) for each in element.children if isinstance(each, Element)]
    return [element.tag, sorted(element.attributes), within]


def test_sarif_has_no_links_and_no_placeholders() -> None:
    for word in WORDS:
        for result in json.loads(render("sarif", [layout(word)], Look()))["runs"][0]["results"]:
            assert "](" not in result["message"]["text"]
            assert not re.search(r"\{\d+\}", result["message"]["text"])


LAYOUT = """\
version: 1
host: jbod
hardware:
  controllers: {c: {ports: 8, path: WORD}}
  disks:
    d0: {serial: WORD, wwn: WORD, path: WORD, model: WORD, size: 3TB}
    d1: {serial: other, model: WORD, size: 3TB}
arrays: {a: {level: raid1, members: [d0, d1]}}
filesystems: {f: {device: a, type: ext4, mount: /srv, label: WORD, options: [WORD]}}
swap: {w: {file: WORD, size: 4GiB, label: WORD}}
monitoring: {mail: WORD}
allow:
  - {rule: no-spare, at: WORD, reason: WORD}
"""
FIELDS = LAYOUT.count("WORD")


def written(word: str, number: int, folder: Path) -> Path:
    """The layout with the word at one of its places; the others are as they should be."""
    proper = iter(["pci-0000:03:00.0", "S0", "0x5000c500a0000000", "pci-0000:03:00.0-ata-1", "ST3000DM001", "ST3000DM001",
                   "data", "noatime", "/srv/swap", "sw", "root@example.org", "arrays.a", "a cold one lies ready"])  # fmt: skip
    quoted = json.dumps(word)
    places = iter(range(FIELDS))

    def put(_: re.Match[str]) -> str:
        right = next(proper)
        return quoted if next(places) == number else json.dumps(right)

    folder.mkdir()
    file = folder / "layout.yaml"
    file.write_text(re.sub("WORD", put, LAYOUT).replace("\\udcff", "x"))
    return file


@pytest.mark.drawn(16)
@pytest.mark.parametrize("word", WORDS, ids=ascii)
def test_a_word_of_a_layout_is_a_word_in_findings_and_plans(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dice: Random | None
) -> None:
    """The whole way: the word as every text of a layout, or without `--long` as four of them and the reason of an acceptance,
    through all forms of check and of plan."""
    monkeypatch.chdir(tmp_path)
    *others, reason = range(FIELDS)
    places = [*(dice.sample(others, 4) if dice else others), reason]
    layouts = [pipeline.check(str(written(word, n, tmp_path / str(n)))) for n in places]
    for form in FORMS:
        text = render(form, layouts, Look())
        assert all(line.isprintable() for line in text.split("\n")), form
        assert len(commands(text)) == (len(text.splitlines()) if form == "github" else 0), form
    plans = [pipeline.plan(each)[0] for each in layouts if each.valid]
    assert any(plans) or not word.isprintable(), "the reason of an acceptance takes any text that can be seen"
    for plan in plans:
        assert plan is not None
        script = plan_shell(plan)
        parsed = subprocess.run(["sh", "-n"], input=script, capture_output=True, text=True, check=False)
        assert (parsed.returncode, parsed.stderr) == (0, "")
        for text in (
            render_plan(plan),
            plan_markdown(plan, every=True),
            json_safe(plan_to_json(plan)),
            script,
        ):
            assert commands(text) == []
            assert text == script or all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("word", ["##[error]x", "::error::x", "\x1b[31m", "$(touch BAD)"])
@pytest.mark.parametrize("form", ["text", "json", "shell", "markdown"])
def test_a_layout_without_a_plan_says_so_harmlessly(
    form: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(word, 10, tmp_path / "x")
    assert run(["plan", "--offline", "--format", form, str(file)]) == 2
    text, said = capsys.readouterr()
    assert commands(text + said) == [] and all(line.isprintable() for line in (text + said).split("\n"))
    if form == "shell":
        done = subprocess.run(["sh"], input=text, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 2 and not (tmp_path / "BAD").exists()
