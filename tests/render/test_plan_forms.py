"""A plan as text and as Markdown: all of it is there, nothing destroyed is hidden, no text is markup."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from raidplan.plan.disk_identity import DiskIdentity
from raidplan.plan.loss import said_before
from raidplan.plan.step import Plan, Proof, Run, SetAttribute, Step, WriteBlock, WriteFile
from raidplan.render.folded import ROOM, groups, rows
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
        destroys=(said_before(lost),) if lost else (), guard=(f"{{d{number}}}",) if lost else (),
        proof=Proof("table", str(number), {}),
    )  # fmt: skip


def plan(*steps: Step) -> Plan:
    return Plan("jbod", "sha256:0", "", (), steps)


def test_every_step_of_the_machine_is_told() -> None:
    made = of_layout(EXAMPLE)
    text = render_plan(made, every=True)
    for number, each in enumerate(made.steps, start=1):
        assert re.search(rf"^ *{number} [-+~>] {re.escape(each.say)}", text, re.MULTILINE), each.say
    assert "destroys:" not in text and "  destroy  nothing: apply refuses" in text, (
        "its disks are blank, or it is refused"
    )
    assert "format   40 disks: d[0-7][0-4] (taken as blank; apply refuses one that is not)" in text
    assert "create   40 partition tables, 5 arrays, 5 file systems" in text
    create = next(each for each in made.steps if each.id == "array.s0.create")
    assert f"from layout line {create.line} (arrays.s0)" in text
    assert re.search(r"^ +\$ sfdisk .*\{d00\} <<$", text, re.MULTILINE)


def test_forty_disks_are_a_page_to_review() -> None:
    made = of_layout(EXAMPLE)
    text, page = render_plan(made), plan_markdown(made)
    assert len(text.partition("findings")[0].splitlines()) <= 36 and len(page.splitlines()) <= 42
    for shown in (text, html.unescape(page)):
        assert "40 × partition d[0-7][0-4]: d[0-7][0-4].s[0-4] of 2.7 TiB" in shown
        assert "5 × create raid6 s[0-4] of 8 members each (d[0-7][0-4]), 16.4 TiB usable" in shown
    assert "`+` create, `~` change" in page and "<li>" not in MARKDOWN.render(page)
    assert "d[0-7][0-4]  40 disks of 3 TB (2.7 TiB)  serial JBOD-[0-7][0-4]\n" in text
    assert sum(len(group.steps) for group in groups(made)) == len(made.steps)


def test_steps_of_other_figures_programs_or_options_are_lines_of_their_own() -> None:
    steps = [
        step(0, "make a of 8 members", action=Run(("tool", "--chunk=512K", "a", "8"))),
        step(1, "make b of 8 members", action=Run(("tool", "--chunk=512K", "b", "8"))),
        step(2, "make c of 9 members", action=Run(("tool", "--chunk=512K", "c", "9"))),
        step(3, "make d of 8 members", action=Run(("tool", "--chunk=64K", "d", "8"))),
        step(4, "make e of 8 members", "something", Run(("tool", "--chunk=64K", "e", "8"))),
    ]
    steps[4] = replace(steps[4], guard=())
    text = render_plan(plan(*steps))
    said = [line.split("  line")[0].strip() for line in text.splitlines() if " make " in line]
    assert said == [
        "partition        1, 2 + 2 × make a, b of 8 members",
        "3 + make c of 9 members",
        "4 + make d of 8 members",
        "5 - make e of 8 members",
    ]
    assert "destroys: something" in text and "destroy  1 thing\n" in text


def test_serial_numbers_stand_in_the_order_of_their_disks() -> None:
    disks = tuple(
        DiskIdentity(f"d{n}", 10**12, serial=serial)
        for n, serial in enumerate(["S9", "A1", *(f"B{n}" for n in range(7))])
    )
    assert "  d[0-8]  9 disks of 1 TB (931.3 GiB)  serial S9, A1, B[0-6]\n" in render_plan(
        replace(plan(), disks=disks)
    )
    some = (*disks[:-1], replace(disks[-1], serial="", wwn="0x5"))
    assert "serial of d[0-7] S9, A1, B[0-5], wwn of d8 0x5" in render_plan(replace(plan(), disks=some))


def test_a_group_stands_behind_what_it_needs() -> None:
    steps = []
    for number, name in enumerate("ab"):
        steps += [
            replace(step(0, f"create {name} of {number + 4} members"), id=f"{name}.create"),
            replace(
                step(0, f"pause {name}", action=Run(("pause", name))),
                id=f"{name}.pause",
                needs=(f"{name}.create",),
            ),
        ]
    made = plan(*steps)
    assert [(row.place, row.says) for row in rows(made)] == [
        ("1", "create a of 4 members"),
        ("3", "create b of 5 members"),
        ("2, 4", "2 × pause a, b"),
    ]


def test_neighbours_that_run_programs_are_one_line_while_it_is_short() -> None:
    programs = [
        replace(step(n, say, action=Run((say,))), guard=(), destroys=(), phase="configure")
        for n, say in enumerate(["read 1 file", "stop 2 units", "long " * 20 + "way", "read 3 files"])
    ]
    made = plan(*programs)
    assert [(row.place, row.says) for row in rows(made)] == [
        ("1, 2", "read 1 file; stop 2 units"),
        ("3", "long " * 20 + "way"),
        ("4", "read 3 files"),
    ]
    shown = [*rows(of_layout(EXAMPLE))]
    assert sorted(n for row in shown for group in row.groups for n in group.numbers) == [*range(1, 92)]
    assert all(len(row.groups) == 1 or (row.symbol in "~>" and len(row.says) <= ROOM) for row in shown)


@pytest.mark.parametrize("wipe", [True, False])
def test_without_a_machine_it_is_said_why_nothing_is_destroyed_or_what_may_be(wipe: bool) -> None:
    disks = tuple(DiskIdentity(f"d{n}", 10**12, serial=f"A{n}", wipe=wipe and n < 2) for n in range(3))
    steps = [replace(step(n), guard=(f"{{d{n}}}",)) for n in range(3)]
    made = replace(plan(*steps), disks=disks)
    for shown in (render_plan(made), html.unescape(plan_markdown(made)).replace("\u200b", "")):
        if wipe:
            assert "1 disk: d2 (taken as blank; apply refuses one that is not)" in shown
            assert "2 disks: d[0-1] (wipe: true, blank or not)" in shown
            assert "whatever is on d[0-1] (wipe: true)" in shown
            assert "none was looked at: disks without wipe: true are taken as blank" in shown
        else:
            assert "3 disks: d[0-2] (taken as blank; apply refuses one that is not)" in shown
            assert "nothing: apply refuses a disk that is not blank (no disk has wipe: true)" in shown


def test_a_kept_disk_is_in_the_sum_and_in_its_line() -> None:
    disks = (DiskIdentity("ssd", 10**12, serial="A", keep=True),)
    files = replace(step(0), action=WriteFile("/etc/x", "one\n", 0o600))
    many = (*disks, *(DiskIdentity(f"d{n}", 10**12, serial=f"B{n}") for n in range(9)))
    for made, written in (
        (replace(plan(step(0)), disks=disks), ""),
        (replace(plan(files), disks=disks), "; files are written in the running system"),
        (replace(plan(files), disks=disks, target="/mnt"), "; files are written below /mnt"),
        (replace(plan(step(0)), disks=many), ""),
    ):
        text = render_plan(made)
        said = f"1 disk: ssd (partitions and file systems stay as they are{written})"
        assert f"  keep     {said}\n" in text and f"| keep | {said} |" in plan_markdown(made)
        assert re.search(r"^  ssd  .*serial A; kept$", text, re.MULTILINE)


def test_what_is_lost_is_told_one_by_one_and_first() -> None:
    lost = [replace(step(n, f"clear d{n}", f"raid6 old{n}"), phase="teardown") for n in range(40)]
    made = replace(plan(*lost), machine_digest="sha256:1")
    text, page = render_plan(made), plan_markdown(made)
    for shown in (text, page):
        assert all(re.search(rf"\braid6 old{n}\b", shown) for n in range(40))
        assert "40 things on this machine, listed below" in shown
    assert text.index("destroy  40 things") < text.index("clear d")
    assert "40 things on this machine will be destroyed:" in text and "--destroy sha256:" in text


def test_disks_that_a_layout_gives_up_are_not_called_blank() -> None:
    given_up = replace(plan(step(0)), disks=(DiskIdentity("d0", 10**12, serial="A", wipe=True),))
    text = render_plan(given_up)
    assert "destroy  whatever is on d0 (wipe: true); a plan made on the machine lists it" in text


def test_what_stands_is_kept() -> None:
    first, second = (replace(step(n), guard=(f"{{d{n}}}",)) for n in (0, 1))
    made = replace(plan(second), whole=(first, second), machine_digest="sha256:1")
    assert "  keep     1 partition table\n" in render_plan(made)
    assert "| keep | 1 partition table |" in plan_markdown(made)


def test_only_what_the_sentence_says_may_be_left_out() -> None:
    first = step(0, "make a of 8 members", action=Run(("tool", "--chunk=512K", "a", "8")))
    alike = step(1, "make b of 9 members", action=Run(("tool", "--chunk=512K", "b", "9")))
    other = step(2, "make c of 8 members", action=Run(("tool", "--chunk=64K", "c", "8")))
    text = render_plan(plan(first, alike, other), every=True)
    assert "make b of 9 members  (like step 1; line 7)" in text
    assert "$ tool --chunk=64K c 8" in text


def test_disks_are_named_with_their_nodes() -> None:
    made = replace(plan(), disks=(DiskIdentity("d00", 10**12, serial="A b", wwn="0x5"),))
    text = render_plan(made, {"d00": "/dev/sdq"})
    assert "d00  1 TB (931.3 GiB)  serial A b, wwn 0x5  -> /dev/sdq" in text
    assert "nothing to do" in text


def test_files_and_settings_are_shown() -> None:
    steps = [
        replace(step(0), action=WriteFile("/etc/x", "one\n", 0o600)),
        replace(step(1), action=WriteBlock("/etc/y", "two\n", "jbod", at_top=True)),
        replace(step(2), action=SetAttribute("/sys/z", "idle")),
    ]
    text = render_plan(plan(*steps), every=True)
    assert "write /etc/x (mode 0600):\n         | one\n" in text
    assert "put this block before the first line of /etc/y:\n         | two\n" in text
    assert "set /sys/z to idle" in text


@pytest.mark.parametrize("word", MARKUP)
def test_no_word_reaches_the_terminal_raw(word: str) -> None:
    made = plan(step(0, word, word, Run(("tool", word, "{d0}"), word)))
    for text in (render_plan(made), render_plan(made, every=True), plan_markdown(made)):
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


def test_a_place_in_a_file_can_be_copied() -> None:
    assert prose("layouts/nas.yaml:38:5: the disk") == "layouts/nas.yaml:38:5: the disk"
    assert all(
        "\u200b" in html.unescape(prose(emoji)) for emoji in (":tada:", ":+1:", ":100:", ":1234:", ":8ball:")
    )


@pytest.mark.parametrize("word", [word for word in MARKUP if word])
def test_the_shape_of_the_comment_is_ours(word: str) -> None:
    made = plan(step(0, word, word, Run(("tool", word), f"{word}\n```\n</details>\n")))
    page = MARKDOWN.render(plan_markdown(made, every=True))
    plain = MARKDOWN.render(plan_markdown(plan(step(0, "x", "x", Run(("tool", "x"), "x\n"))), every=True))
    assert _tags(page) == _tags(plain)


def _tags(page: str) -> list[str]:
    return re.findall(r"</?\w+", page)


def test_the_machine_fits_a_comment() -> None:
    text = plan_markdown(of_layout(EXAMPLE), every=True)
    assert len(text) < LIMIT
    assert "| destroy | nothing: apply refuses a disk that is not blank (no disk has wipe: true) |" in text
    assert "<details>" in text and "$ mdadm --create" in text and "layout `sha256:" in text


@settings(deadline=None, max_examples=settings.default.max_examples // 4)
@given(st.integers(0, 900), st.integers(1, 300), st.sampled_from(["x", "&", "@", "`", "ぁ"]))
def test_it_always_fits_and_says_what_was_cut(count: int, length: int, letter: str) -> None:
    steps = [
        step(n, letter * length, f"{letter * length} {n}", Run(("tool", letter * length)))
        for n in range(count)
    ]
    text = plan_markdown(plan(*steps), every=True)
    assert len(text) <= LIMIT
    shown = len(re.findall(r"^# \d+ ", text, re.MULTILINE))
    places = ", ".join(re.findall(r"^\| (\d[\d, -]*) \|", text, re.MULTILINE))
    ranges = [each.partition("-") for each in places.split(", ") if each]
    rows = sum(int(last or first) - int(first) + 1 for first, _, last in ranges)
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
    text = plan_markdown(made, limit, every=True)
    assert len(text) <= limit and "sha256:0" in text
    assert "300 steps, which did not fit here" in text or "| steps | 300 |" in text
