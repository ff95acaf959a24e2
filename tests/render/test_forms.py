"""The forms of `check`: each is valid where it is read, whole, and recognises a finding that has moved."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator, FormatChecker

from raidplan.base.findings import Severity
from raidplan.document import Span
from raidplan.render.findings_sarif import MOST
from raidplan.render.forms import FORMS, Look, render
from raidplan.review.located import Accepted
from raidplan.review.pipeline import Loaded, check
from raidplan.review.settings import Settings
from raidplan.rules import CATALOGUE
from tests.examples import EXAMPLES
from tests.render.findings import checked, located
from tests.render.runner import commands

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0.json").read_text())
SARIF = Draft4Validator(SCHEMA, format_checker=FormatChecker())
LOOK = Look()
MISTAKE = "examples/rio-swap-mistake.yaml"


def sarif(*layouts: Loaded) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(render("sarif", layouts, LOOK))
    SARIF.validate(data)
    return data


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_is_valid_sarif(file: Path) -> None:
    loaded = check(str(file))
    results = sarif(loaded)["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == [item.finding.rule for item in loaded.findings]


@pytest.mark.drawn(12)
@pytest.mark.parametrize("case", sorted(Path("tests/errors").glob("*.yaml")), ids=lambda file: file.stem)
def test_every_mistake_is_valid_sarif_of_a_rule_that_is_declared(case: Path) -> None:
    run = sarif(check(str(case)))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_sarif_declares_all_rules_even_if_nothing_was_found() -> None:
    run = sarif(checked())["runs"][0]
    assert run["results"] == []
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(CATALOGUE)
    for rule in rules:
        each = CATALOGUE[rule["id"]]
        assert (
            rule["help"]["markdown"] == each.page and rule["defaultConfiguration"]["level"] == each.severity
        )
        assert len(rule["fullDescription"]["text"]) > 20 and "**" not in rule["fullDescription"]["text"]


def test_sarif_says_where_and_what() -> None:
    item = located("odd", line=3, column=5, end=9, hint="mend it", file="a b/ü.yaml", related=[(7, "d0")])
    (result,) = sarif(checked(item))["runs"][0]["results"]
    assert result["message"] == {"text": "odd; mend it"}
    (place,) = result["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b/%C3%BC.yaml"},
        "region": {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 9},
    }
    assert place["logicalLocations"] == [{"fullyQualifiedName": "arrays.s0"}]
    (related,) = result["relatedLocations"]
    assert related["message"] == {"text": "d0"} and related["physicalLocation"]["region"]["startLine"] == 7


def test_what_was_accepted_is_no_result() -> None:
    accepted = Accepted(located(), "so it is", None, Span("f.yaml", 1, 1, 1, 2))
    layout = checked(accepted=[accepted])
    assert sarif(layout)["runs"][0]["results"] == []
    assert json.loads(render("gitlab", [layout], LOOK)) == []
    (data,) = json.loads(render("json", [layout], LOOK))["accepted"]
    assert (data["rule"], data["reason"], data["until"]) == ("some-rule", "so it is", None)
    assert "| accepted | 1 | **some-rule** m<br><i>accepted: so it is</i> |" in render(
        "markdown", [layout], LOOK
    )
    assert render("text", [layout], LOOK) == "nothing to report (1 accepted)\n"


@pytest.mark.parametrize("where", ["/tmp/x.yaml", "./x.yaml", "x/../x.yaml", "a:b.yaml", "x\udcff.yaml"])
def test_uris_of_odd_paths(where: str) -> None:
    (result,) = sarif(checked(located(file=where)))["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == {
        "/tmp/x.yaml": "file:///tmp/x.yaml", "a:b.yaml": "a%3Ab.yaml", "x\udcff.yaml": "x%FF.yaml",
    }.get(where, "x.yaml")  # fmt: skip


def marks(form: str, text: str, folder: Path) -> dict[str, str]:
    """Fingerprint by rule and what it is about, of a layout."""
    file = folder / "layout.yaml"
    file.write_text(text)
    loaded = check(str(file), today="2026-01-01")
    about = [f"{item.finding.rule} {item.finding.path} {item.finding.message}" for item in loaded.findings]
    if form == "sarif":
        results = sarif(loaded)["runs"][0]["results"]
        prints = [result["partialFingerprints"]["raidplanFinding/v1"] for result in results]
    else:
        prints = [issue["fingerprint"] for issue in json.loads(render(form, [loaded], LOOK))]
    assert len(set(prints)) == len(prints)
    return dict(zip(about, prints, strict=True))


@pytest.mark.parametrize("form", ["sarif", "gitlab"])
def test_a_fingerprint_survives_moved_lines(form: str, tmp_path: Path) -> None:
    text = (
        Path(MISTAKE).read_text() + "# raidplan: alow[x]\nallow:\n- {rule: no-spare, at: swap, reason: x}\n"
    )
    before = marks(form, text, tmp_path)
    assert len(before) >= 4
    moved = "# a new line\n\n" + text.replace("\nswap:", "\n# and another\n\n\nswap:")
    assert marks(form, moved, tmp_path) == before
    later = text.replace("allow:\n", "allow:\n- {rule: swap-on-raid0, at: swap, reason: x}\n")
    assert set(before.values()) < set(marks(form, later, tmp_path).values())


def test_annotations_are_commands_that_say_it_all() -> None:
    first = located("50 % of d0,\nreally: yes", line=3, column=5, end=9, hint="mend it", file="a:b,c.yaml")
    second = located("odd", severity=Severity.NOTE, related=[(7, "d0")])
    third = located("x", severity=Severity.WARNING)
    found = commands(render("github", [checked(second, first, third)], LOOK))
    assert [command.name for command in found] == ["error", "warning", "notice"], "the gravest first"
    assert found[0].properties == {
        "file": "a:b,c.yaml", "line": "3", "endLine": "3", "col": "5", "endColumn": "9", "title": "raidplan: some-rule",
    }  # fmt: skip
    assert found[0].data == "50 % of d0,\\x0areally: yes\nhint: mend it"
    assert found[2].data == "odd\nsee f.yaml:7:1: d0"


def test_an_annotation_over_lines_has_no_columns() -> None:
    item = located()
    wide = type(item)(item.finding, Span("f.yaml", 1, 4, 3, 2))
    (command,) = commands(render("github", [checked(wide)], LOOK))
    assert (
        set(command.properties) == {"file", "line", "endLine", "title"}
        and command.properties["endLine"] == "3"
    )


def test_a_range_is_one_annotation_and_one_row() -> None:
    many = checked(*(located(f"d{n} is slow") for n in range(40)))
    (command,) = commands(render("github", [many], LOOK))
    assert command.data.endswith("also: d[1-39] is slow")
    assert render("markdown", [many], LOOK).count("| error |") == 1


def test_junit_fails_at_the_level_that_fails() -> None:
    items = (
        located(severity=Severity.ERROR),
        located("w", severity=Severity.WARNING),
        located(severity=Severity.NOTE),
    )
    for level, failures in ((Severity.ERROR, 1), (Severity.WARNING, 2), (Severity.NOTE, 3)):
        layout = checked(*items, settings=Settings(fail_on=level))
        root = ElementTree.fromstring(render("junit", [layout, checked(file="g.yaml")], LOOK))
        assert (root.get("tests"), root.get("failures")) == ("4", str(failures))
        suites = root.findall("testsuite")
        assert [suite.get("name") for suite in suites] == ["f.yaml", "g.yaml"]
        assert (
            len(root.findall(".//failure")) == failures and len(root.findall(".//system-out")) == 3 - failures
        )
        assert [case.get("name") for case in suites[1]] == ["nothing to report"]


def test_junit_names_the_place() -> None:
    root = ElementTree.fromstring(render("junit", [checked(located("odd", line=4, hint="mend it"))], LOOK))
    case = root[0][0]
    assert (case.get("name"), case.get("file"), case.get("line")) == ("some-rule arrays.s0", "f.yaml", "4")
    assert case[0].text == "error: odd\nat f.yaml:4:1\nhint: mend it" and case[0].get("message") == "odd"


def test_gitlab_names_the_place() -> None:
    file = str(Path.cwd() / "layouts" / "f.yaml")
    (issue,) = json.loads(
        render("gitlab", [checked(located("odd", line=4, hint="mend it", file=file))], LOOK)
    )
    assert issue["location"] == {"path": "layouts/f.yaml", "lines": {"begin": 4, "end": 4}}
    assert (issue["severity"], issue["check_name"]) == ("critical", "some-rule")
    assert issue["description"] == "odd; hint: mend it"


def test_markdown_has_a_table_for_each_layout() -> None:
    text = render(
        "markdown",
        [checked(located("odd", line=4, severity=Severity.NOTE), located("bad", line=9, hint="mend it")), checked(file="g.yaml")],
        LOOK,
    )  # fmt: skip
    assert text.startswith("### raidplan: 1 error, 0 warnings, 1 note in 2 layouts\n")
    rows = [line for line in text.splitlines() if line.startswith(("| error", "| note"))]
    assert rows == [
        "| error | 9 | **some-rule** bad<br><i>hint: mend it</i> |",
        "| note | 4 | **some-rule** odd |",
    ]
    assert text.endswith("<b>g.yaml</b>\n\nnothing to report\n\n")


@settings(deadline=None, max_examples=settings.default.max_examples // 4)
@given(
    st.integers(1, 60),
    st.integers(0, 60),
    st.integers(1, 400),
    st.sampled_from(["x", "@", "\\"]),
    st.sampled_from([1500, 9000, 65_536]),
)
def test_markdown_always_fits_and_says_what_was_cut(
    layouts: int, findings: int, length: int, letter: str, limit: int
) -> None:
    made = [
        checked(*(located(letter * length, line=n + 1, severity=list(Severity)[n % 3]) for n in range(findings)), file=f"f{i}.yaml")
        for i in range(layouts)
    ]  # fmt: skip
    text = render("markdown", made, Look(limit=limit))
    assert len(text) <= limit
    rows = len(re.findall(r"^\| (?:error|warning|note) \|", text, re.MULTILINE))
    named = len(re.findall(r"^<b>f\d+\.yaml</b>", text, re.MULTILINE))
    cut = sum(int(n) for n in re.findall(r"^(\d+) rows? more", text, re.MULTILINE))
    assert rows + cut == named * findings
    assert named == layouts or f"{layouts - named} layout" in text


def test_when_not_all_fit_the_gravest_of_all_layouts_do() -> None:
    notes = checked(*(located("x" * 290, line=n + 1, severity=Severity.NOTE) for n in range(400)))
    graver = checked(located("bad", file="g.yaml"), file="g.yaml")
    text = render("markdown", [notes, graver], Look(limit=20_000))
    assert "**some-rule** bad" in text and re.search(r"^\d+ rows more did not fit", text, re.MULTILINE)


def test_the_table_names_what_exists() -> None:
    for form in FORMS:
        assert render(form, [checked()], LOOK) is not None


def test_f70_sarif_keeps_the_gravest_and_counts_the_rest() -> None:
    """As many as code scanning shows; an upload of more than it takes would be refused whole."""
    warnings = [located("w", line=n + 1, severity=Severity.WARNING) for n in range(MOST)]
    errors = [located("e", line=n + 1) for n in range(10)]
    found = json.loads(render("sarif", [checked(*warnings), checked(*errors, file="g.yaml")], LOOK))
    run = found["runs"][0]
    assert [result["level"] for result in run["results"]] == ["warning"] * (MOST - 10) + ["error"] * 10
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith(f"10 of {MOST + 10} findings are left out here")
    run["results"] = run["results"][:1]
    SARIF.validate(found)
    assert "invocations" not in sarif(checked(*errors))["runs"][0]
