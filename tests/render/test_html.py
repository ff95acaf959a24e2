"""The page of `check --format html`: whole, of one piece, and every finding beside its line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from raidplan.base.findings import Severity
from raidplan.document import Span
from raidplan.plan.loss import said_before
from raidplan.render.forms import Look, render
from raidplan.render.groups import alike, grouped
from raidplan.render.html.page import MOST_ALIKE, MOST_FINDINGS, estimate_page, plan_page
from raidplan.render.html.source import MOST_LINES
from raidplan.render.visible import visible
from raidplan.review import pipeline
from raidplan.review.located import Accepted
from raidplan.review.pipeline import Loaded
from tests.examples import EXAMPLES
from tests.render.findings import checked, located
from tests.render.page import Element, parse

ERRORS = sorted(Path("tests/errors").glob("*.yaml"))
TODAY = "2026-01-01"
TAGS = {
    "html", "head", "meta", "title", "style", "body", "nav", "main", "article", "header", "section", "footer", "div",
    "h1", "h2", "h3", "p", "ul", "ol", "li", "dl", "dt", "dd", "a", "b", "span", "small", "code", "pre", "mark",
    "details", "summary", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
ATTRIBUTES = {
    "id", "class", "href", "lang", "charset", "name", "content", "http-equiv", "value", "tabindex", "role", "aria-label",
    "title", "scope", "colspan", "rowspan", "style",
}  # fmt: skip
DRAWING = {
    "svg",
    "g",
    "defs",
    "style",
    "title",
    "desc",
    "rect",
    "path",
    "text",
    "tspan",
    "line",
    "circle",
    "a",
}


def page(*layouts: Loaded) -> Element:
    """The page, once it is sure that it is of one piece."""
    root = parse(render("html", layouts, Look()))
    elements = root.all()
    drawn = {id(each) for svg in root.all("svg") for each in (svg, *svg.all())}
    names = [each.attributes["id"] for each in elements if "id" in each.attributes]
    ids = set(names)
    assert len(ids) == len(names)
    for each in elements:
        if id(each) in drawn:
            assert each.tag in DRAWING and not any(name.startswith("on") for name in each.attributes)
        else:
            assert each.tag in TAGS and set(each.attributes) <= ATTRIBUTES, each
        for name in ("href", "xlink:href"):
            target = each.attributes.get(name)
            assert target is None or (target[0] == "#" and target[1:] in ids), f"{target} leads nowhere"
    assert not re.search(r"url\((?!#)|@import|//", "".join(style.text for style in root.all("style")))
    (policy,) = (each for each in root.all("meta") if "http-equiv" in each.attributes)
    assert policy.attributes["content"].startswith("default-src 'none'; style-src 'unsafe-inline'")
    return root


def cards(root: Element) -> list[Element]:
    return [card for card in root.all("li", "finding") if "accepted" not in card.classes]


def linked(root: Element) -> None:
    """Every finding leads to its line, which is marked and leads back to a finding of that line."""
    by_id = {each.attributes.get("id"): each for each in root.all()}
    for card in cards(root):
        link = card.only("p", "head").only("a", "place")
        line = by_id[link.attributes["href"][1:]]
        assert line.tag == "li" and line.attributes["value"] == link.text.rsplit(" ", 1)[1]
        back = by_id[line.only("span", "number").only("a").attributes["href"][1:]]
        assert back.only("p", "head").only("a", "place").attributes["href"] == link.attributes["href"]
        assert line.all("mark") or not line.only("code").text, "an empty line has nothing to underline"
        assert line.classes & {severity.value for severity in Severity}


@pytest.mark.parametrize("file", [*EXAMPLES, *ERRORS], ids=lambda file: file.stem)
def test_every_finding_of_every_layout_is_linked_to_its_line(file: Path) -> None:
    loaded = pipeline.check(str(file), today=TODAY)
    root = page(loaded)
    linked(root)
    said = root.only("div", "findings").text
    together = grouped(loaded.findings)
    for item, *others in together:
        assert visible(item.finding.message) in said and visible(item.finding.hint) in said
        # Of those that differ in names alone the page has one sentence.
        assert all(visible(line) in said for line in alike([item, *others], MOST_ALIKE))
    assert len(cards(root)) == len(together)
    for name, text in loaded.sources.items():
        (source,) = (each for each in root.all("div", "source") if each.attributes["aria-label"] == name)
        lines = [line.only("code").text for line in source.all("li")]
        assert lines == [visible(line.replace("\t", "    ")) for line in text.splitlines()]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_has_all_that_can_be_told_of_it(file: Path) -> None:
    loaded = pipeline.check(str(file), today=TODAY)
    root = page(loaded)
    assert loaded.layout is not None
    assert root.only("h1").text == loaded.layout.host
    headings = [each.text for each in root.only("article").all("h2")]
    plan, _ = pipeline.plan(loaded)
    told = ["Wiring", "Survival", "Estimates", *(["Plan for blank disks"] if plan else [])]
    assert headings == ["Findings", *loaded.sources, *told]
    parts = root.only("header").only("nav").all("a")
    assert [part.text for part in parts] == ["Findings", *told[:3], *(["Plan"] if plan else [])]
    if plan is None:
        assert not root.all("table", "chart")
    else:
        counts = [int(cell.text) for cell in root.only("table", "chart").all("td") if cell.text]
        assert sum(counts) == len(plan.steps)
        listed = root.only("ol", "timeline").text
        assert all(visible(step.say) in listed for step in plan.steps)


def test_the_matrix_of_a_mirrored_and_a_plain_thing() -> None:
    root = page(pipeline.check("examples/rio-swap-mistake.yaml", today=TODAY))
    table = root.only("table", "matrix")
    names = [each.text for each in table.all("th", "name")]
    assert names == ["rio_sata", "rs0", "rs1", "rs2", "rs3"]
    rows = {row.only("th").text: [cell.text for cell in row.all("td")] for row in table.all("tr")[2:]}
    sets = "controller rio_sata; 2 disks (2 sets, such as rs0 and rs1)"
    assert rows["rio_data array"] == ["✕", "✓", "✓", "✓", "✓", "1", sets]
    assert rows["swap1 swap"] == ["✕", "·", "✕", "·", "·", "0", "controller rio_sata; disk rs1"]
    every = "controller rio_sata; any of 4 disks (rs[0-3])"
    assert rows["the running system"] == ["✕", "✕", "✕", "✕", "✕", "0", every]


def test_of_many_components_those_alike_share_a_column_and_of_very_many_each_kind_has_one(
    tmp_path: Path,
) -> None:
    root = page(pipeline.check("examples/tel-aviv-jbod.yaml", today=TODAY))
    kinds = [each.text for each in root.only("table", "matrix").all("th") if "colspan" in each.attributes]
    assert kinds == ["buses", "controllers", "multipliers", "disks"]
    names = [each.text for each in root.only("table", "matrix").all("th") if "name" in each.classes]
    assert names[-5:] == [f"d[0-7]{n}" for n in range(5)], "each is a member of one array"
    layout = """\
version: 1
host: wide
hardware:
  controllers: {c<0-59>: {ports: 1}}
  disks: {d<0-59>: {behind: c<1>, serial: S<1>, size: 3TB}}
arrays: {m<0-29>: {level: raid1, members: [d<1:0-29>, d<1:30-59>]}}
"""
    file = tmp_path / "wide.yaml"
    file.write_text(layout)
    loaded = pipeline.check(str(file), today=TODAY)
    assert loaded.topology is not None, [item.finding.message for item in loaded.findings]
    table = page(loaded).only("table", "matrix")
    assert [each.text for each in table.all("th", "name")] == ["all"]
    first = table.all("tr")[2]
    assert [cell.text for cell in first.all("td")] == [
        "✓",
        "1",
        "both controllers; a controller and a disk (2 sets, such as c0 and d30); both disks",
    ]
    assert first.all("td")[0].attributes["title"] == "survives any of 60"


def test_bars_are_parts_of_the_fastest() -> None:
    root = page(pipeline.check("examples/tel-aviv-jbod.yaml", today=TODAY))
    bars = {
        title.text: (each.only("b").text, each.only("span", "bar").only("span").attributes["style"])
        for card in root.all("div", "speed")
        for title, each in zip(card.all("dt"), card.all("dd"), strict=True)
    }
    assert bars["read, alone"] == ("900", "width:100.0%")
    rate, width = bars["read, under full load"]
    assert float(width[6:-1]) == pytest.approx(100 * float(rate) / 900, abs=0.1)


BROKEN = {
    "no-yaml": "version: 1\nhost: [\n",
    "empty": "",
    "a-list": "- 1\n- 2\n",
    "half-a-string": 'version: 1\nhost: "x\n',
    "a-tab": "version: 1\n\thost: x\n",
    "unknown-key": "version: 1\nhost: x\nhardwear: {}\n",
    "no-hardware": "version: 1\nhost: x\n",
    "hardware-file-missing": "version: 1\nhost: x\nhardware: nowhere.hardware.yaml\n",
    "no-line-end": "version: 1\nhost: x\nnothing: 1",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_layout_that_cannot_be_read_is_shown_with_what_is_wrong(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.yaml"
    file.write_text(BROKEN[name])
    loaded = pipeline.check(str(file))
    root = page(loaded)
    assert len(cards(root)) == len(loaded.findings)
    linked(root)
    assert [line.text for line in root.all("code") if line.text == "version: 1"] or name in (
        "empty",
        "a-list",
    )


def test_a_file_that_is_not_there_is_a_finding_without_a_link() -> None:
    root = page(pipeline.check("nowhere.yaml"))
    (card,) = cards(root)
    assert not card.all("a") and "nowhere.yaml" in card.text


def test_many_layouts_are_one_page_with_a_list_of_them() -> None:
    layouts = [pipeline.check(str(file), today=TODAY) for file in EXAMPLES[:5]]
    root = page(*layouts)
    linked(root)
    assert [each.text for each in root.only("nav", "layouts").all("a")] == [str(f) for f in EXAMPLES[:5]]


def test_what_was_accepted_is_told_apart_with_its_reason() -> None:
    accepted = Accepted(located("odd", line=1), "so it is", "2027-06-30", Span("f.yaml", 1, 1, 1, 2))
    root = page(checked(accepted=[accepted], source="a: 1\n"))
    assert not cards(root) and "1 accepted" in root.only("p", "counts").text
    assert root.only("p", "reason").text == "so it is (until 2027-06-30)"
    assert not root.only("ol").all("mark"), "nothing is to be done about it"


def test_a_long_file_is_shown_around_its_findings() -> None:
    source = "".join(f"k{number}: v\n" for number in range(1, MOST_LINES + 2))
    root = page(checked(located("odd", line=700, end=3), source=source))
    numbers = [each.text for each in root.only("div", "source").all("span", "number")]
    assert numbers == ["", *(str(number) for number in range(696, 705)), ""]
    linked(root)
    whole = page(checked(located("odd", line=700), source=source.partition("\n")[2]))
    assert len(whole.only("div", "source").all("li")) == MOST_LINES


def test_too_many_findings_are_counted() -> None:
    source = "".join(f"k{number}: v\n" for number in range(MOST_FINDINGS + 3))
    found = [located(f"m{line}", line=line, severity=Severity.NOTE) for line in range(1, MOST_FINDINGS + 3)]
    root = page(checked(*found, located("grave", line=MOST_FINDINGS + 3), source=source))
    assert len(cards(root)) == MOST_FINDINGS and cards(root)[0].only("p", "message").text == "grave"
    assert "3 places more are in the JSON form." in root.only("div", "findings").text


def test_the_gravest_finding_of_a_line_colours_it() -> None:
    both = [located("small", severity=Severity.NOTE, end=9), located("grave", column=4, end=6)]
    line = page(checked(*both, source="a: bcdefgh\n")).only("ol").only("li")
    assert "error" in line.classes
    assert [(mark.classes, mark.text) for mark in line.all("mark")] == [
        ({"note"}, "a"), ({"note"}, ": "), ({"error"}, "bc"), ({"note"}, "def"),
    ]  # fmt: skip


def test_words_of_yaml_have_looks() -> None:
    source = "# note\nname: 'x'\nsize: 3TB\nd<0-1>: word\nbad: [\n"
    lines = page(checked(source=source)).only("ol").all("li")
    looks = [
        [(span.attributes["class"], span.text) for span in line.only("code").all("span")] for line in lines
    ]
    assert looks[1] == [("key", "name"), ("quoted", "'x'")]
    assert looks[2] == [("key", "size"), ("amount", "3TB")]
    assert looks[3] == [("key", "d"), ("range", "<0-1>"), ("word", "word")]


def test_the_page_of_a_plan_has_the_plan_that_was_made_and_the_findings() -> None:
    loaded = pipeline.check("examples/raid1-pair.yaml", today=TODAY)
    plan, _ = pipeline.plan(loaded)
    assert plan is not None
    left = replace(plan, steps=plan.steps[:3], whole=plan.steps, machine_digest="sha256:1")
    root = parse(plan_page(loaded, left))
    assert [each.text for each in root.only("article").all("h2")] == ["Plan", "Findings", *loaded.sources]
    assert "3 steps" in root.only("article").text


def test_the_page_of_an_estimate() -> None:
    root = parse(estimate_page(pipeline.check("examples/raid1-pair.yaml", today=TODAY)))
    assert [each.text for each in root.only("article").all("h2")] == ["Wiring", "Survival", "Estimates"]
    assert "nothing to report" not in root.only("article").text.lower(), "the rules were not asked"


def test_the_steps_of_a_page_have_the_symbols_of_every_form_and_their_legend() -> None:
    loaded = pipeline.check("examples/raid1-pair.yaml", today=TODAY)
    plan, _ = pipeline.plan(loaded)
    assert plan is not None
    root = parse(plan_page(loaded, plan))
    signs = [each.text for each in root.all("b") if "sign" in each.attributes.get("class", "").split()]
    assert signs[:4] == ["+", "~", "-", ">"] and set(signs[4:]) == {"+", "~", ">"}
    shown = [item for item in root.all("li") if item.attributes.get("class") in plan.phases]
    assert len(signs) - 4 == len(shown) > 0
    assert not [each for each in root.all() if "loses" in each.attributes.get("class", "").split()]


def test_red_is_for_steps_that_lose_something() -> None:
    loaded = pipeline.check("examples/raid1-pair.yaml", today=TODAY)
    plan, _ = pipeline.plan(loaded)
    assert plan is not None
    lost = replace(plan.steps[-1], phase="teardown", destroys=(said_before("the files of last year"),))
    root = parse(plan_page(loaded, replace(plan, steps=(lost, *plan.steps[:-1]), machine_digest="sha256:1")))
    loud = [each.tag for each in root.all() if "loses" in each.attributes.get("class", "").split()]
    assert sorted(loud) == ["li", "td"]


def test_components_that_nothing_tells_apart_share_a_column(tmp_path: Path) -> None:
    layout = tmp_path / "db.yaml"
    layout.write_text(
        "version: 1\nhost: db\nhardware:\n  buses: {slot<0-23>: {type: pcie, generation: 4, lanes: 4}}\n"
        "  disks: {n<0-23>: {serial: NV-<1>, size: 3840GB, behind: slot<1>}}\n"
        "arrays: {db: {level: raid10, members: [n<0-23>]}}\n"
        "filesystems: {pg: {device: db, type: xfs, mount: /srv/pg}}\n"
    )
    table = page(pipeline.check(str(layout), today=TODAY)).only("table", "matrix")
    names = [each.text for each in table.all("th") if "name" in each.classes]
    assert names == ["slot[0-23]", "n[0-23]"]
