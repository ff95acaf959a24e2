"""A plan as text and as Markdown: all of it is there, nothing destroyed is hidden, no text is markup."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from raidplan.plan import DiskIdentity, Loss, Plan, Proof, Run, SetAttribute, Step, WriteBlock, WriteFile
from raidplan.render.markdown import LIMIT, prose
from raidplan.render.plan_markdown import plan_markdown
from raidplan.render.plan_text import render_plan
from raidplan.render.visible import visible
from tests.render.planned import EXAMPLE, HOSTILE, of_layout

MARKUP = [
    "a|b", "``` code", "</details>", "<!-- x", "<img src=x onerror=y>", "[a](javascript:x)", "![a](b)", "@everyone",
    "#123", "**bold**", "https://example.org", "www.example.org", "a@b.org", "GH-7", ":tada:", "\\|", "&lt;", "- x",
    "| x |", "# x", "1. x", "~~x~~", "\u202e", "\x1b]8;;x\x07", *HOSTILE,
]  # fmt: skip


def step(number: int, say: str = "make it", lost: str = "", action: Run | None = None) -> Step:
    return Step(
        f"a{number}", "partition", say, action or Run(("tool", f"{{d{number}}}")), "hardware.disks", 7,
        destroys=(Loss(lost),) if lost else (), guard=(f"{{d{number}}}",) if lost else (),
        proof=Proof("table", str(number), {}),
    )  # fmt: skip


def plan(*steps: Step) -> Plan:
    return Plan("jbod", "sha256:0", "", (), steps)


def test_every_step_of_the_machine_is_told() -> None:
    made = of_layout(EXAMPLE)
    text = render_plan(made)
    for number, each in enumerate(made.steps, start=1):
        assert re.search(rf"^ *{number} [!~>] {re.escape(each.say)}", text, re.MULTILINE), each.say
        assert all(f"destroys: {loss.what}" in text for loss in each.destroys)
    assert text.count("destroys:") == sum(len(each.destroys) for each in made.steps)
    assert f"{len(made.steps)} steps; writes over 40 disks: d00, d01, " in text
    assert "makes 40 partition tables, 5 arrays, 5 file systems" in text
    create = next(each for each in made.steps if each.id == "array.s0.create")
    assert f"because layout line {create.line} (arrays.s0)" in text
    assert re.search(r"^ +\$ sfdisk .*\{d00\} <<$", text, re.MULTILINE)


def test_only_what_the_sentence_says_may_be_left_out() -> None:
    first = step(0, "make a of 8 members", action=Run(("tool", "--chunk=512K", "a", "8")))
    alike = step(1, "make b of 9 members", action=Run(("tool", "--chunk=512K", "b", "9")))
    other = step(2, "make c of 8 members", action=Run(("tool", "--chunk=64K", "c", "8")))
    text = render_plan(plan(first, alike, other))
    assert "make b of 9 members  (like step 1; line 7)" in text
    assert "$ tool --chunk=64K c 8" in text


def test_disks_are_named_with_their_nodes() -> None:
    made = replace(plan(), disks=(DiskIdentity("d00", 10**12, serial="A b", wwn="0x5"),))
    text = render_plan(made, {"d00": "/dev/sdq"})
    assert "d00   931.3 GiB  serial A b, wwn 0x5  -> /dev/sdq" in text
    assert "nothing to do" in text


def test_files_and_settings_are_shown() -> None:
    steps = [
        replace(step(0), action=WriteFile("/etc/x", "one\n", 0o600)),
        replace(step(1), action=WriteBlock("/etc/y", "two\n", "jbod", at_top=True)),
        replace(step(2), action=SetAttribute("/sys/z", "idle")),
    ]
    text = render_plan(plan(*steps))
    assert "write /etc/x (mode 0600):\n         | one\n" in text
    assert "put this block before the first line of /etc/y:\n         | two\n" in text
    assert "set /sys/z to idle" in text


@pytest.mark.parametrize("word", MARKUP)
def test_no_word_reaches_the_terminal_raw(word: str) -> None:
    made = plan(step(0, word, word, Run(("tool", word, "{d0}"), word)))
    for text in (render_plan(made), plan_markdown(made)):
        assert all(line.isprintable() for line in text.split("\n"))


MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@pytest.mark.parametrize("word", MARKUP)
def test_words_are_no_markup(word: str) -> None:
    page = MARKDOWN.render(f"| a | b |\n| --- | --- |\n| {prose(word)} | second |\n")
    cells = re.findall(r"<td>(.*?)</td>", page)
    assert len(cells) == 2 and cells[1] == "second"
    assert html.unescape(cells[0]).replace("\u200b", "") == visible(word).strip()
    assert "<" not in cells[0]


@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_no_text_is_markup(text: str) -> None:
    cells = re.findall(r"<td>(.*?)</td>", MARKDOWN.render(f"| a |\n| --- |\n| {prose(text)} |\n"))
    assert [html.unescape(cell).replace("\u200b", "") for cell in cells] == [visible(text).strip(" ")]


@pytest.mark.parametrize("word", ["@everyone", "x @a/b", "#12", "a/b#12", "GH-12", "https://a.b", "www.a.b"])
def test_nothing_is_mentioned_or_linked(word: str) -> None:
    shown = html.unescape(prose(word))
    assert not re.search(r"@\w|#\d|GH-\d|://|www\.", shown)


@pytest.mark.parametrize("word", [word for word in MARKUP if word])
def test_the_shape_of_the_comment_is_ours(word: str) -> None:
    made = plan(step(0, word, word, Run(("tool", word), f"{word}\n```\n</details>\n")))
    page = MARKDOWN.render(plan_markdown(made))
    plain = MARKDOWN.render(plan_markdown(plan(step(0, "x", "x", Run(("tool", "x"), "x\n")))))
    assert _tags(page) == _tags(plain)


def _tags(page: str) -> list[str]:
    return re.findall(r"</?\w+", page)


def test_the_machine_fits_a_comment() -> None:
    text = plan_markdown(of_layout(EXAMPLE))
    assert len(text) < LIMIT
    assert "| **Destroyed** | everything on 40 disks: d00, d01" in text
    assert "<details>" in text and "$ mdadm --create" in text and "layout `sha256:" in text


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 900), st.integers(1, 300), st.sampled_from(["x", "&", "@", "`", "ぁ"]))
def test_it_always_fits_and_says_what_was_cut(count: int, length: int, letter: str) -> None:
    steps = [
        step(n, letter * length, f"{letter * length}{n}", Run(("tool", letter * length)))
        for n in range(count)
    ]
    text = plan_markdown(plan(*steps))
    assert len(text) <= LIMIT
    shown = len(re.findall(r"^# \d+ ", text, re.MULTILINE))
    rows = len(re.findall(r"^\| \d+ ", text, re.MULTILINE))
    assert rows == count or re.search(rf"\b{count - rows} steps? more did not fit", text)
    assert shown == count or re.search(
        rf"(\b{count - shown} steps? more|commands of {count - shown} steps?)", text
    )


@pytest.mark.parametrize("limit", [1000, 2000, 4000, 9000, 30_000])
@pytest.mark.parametrize("length", [1, 50, 300])
def test_it_fits_what_little_room_there_is(limit: int, length: int) -> None:
    made = plan(
        *(step(n, "@" * length, f"{'@' * length}{n}", Run(("tool", "x" * length))) for n in range(300))
    )
    text = plan_markdown(made, limit)
    assert len(text) <= limit and "sha256:0" in text
    assert "300 steps, which did not fit here" in text or "| Steps | 300 |" in text
