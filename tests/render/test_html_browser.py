"""The page in a browser: it is laid out, can be read in every light, and asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from raidplan.render.forms import Look, render
from raidplan.review import pipeline
from raidplan.review.pipeline import Loaded
from tests.render.browser import Browser, chromium
from tests.render.findings import checked, located

pytestmark = [pytest.mark.slow, pytest.mark.in_turn(6)]

WIDE, NARROW = 1300, 360
LONG = "x" * 500
PAGES: dict[str, list[str] | list[Loaded]] = {
    "forty-disks": ["examples/tel-aviv-jbod.yaml"],
    "mistake": ["examples/rio-swap-mistake.yaml"],
    "volumes": ["examples/lvm-test-host-mistake.yaml"],
    "cannot-be-read": ["tests/errors/alias.yaml"],
    "two": ["examples/raid1-pair.yaml", "examples/loops.yaml"],
    "long-words": [checked(located(LONG, hint=LONG, rule=LONG, related=[(1, LONG)]), file=LONG, source=LONG)],
}

CONTRAST = """
(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const channels = (...colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = rgb => rgb.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || element.closest('svg') || !element.getClientRects().length) continue;
    seen++;
    const behind = [];
    for (let at = element; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
    const back = channels('Canvas', ...behind), front = channels(...['Canvas', ...behind], getComputedStyle(element).color);
    const [low, high] = [luminance(back), luminance(front)].sort((a, b) => a - b);
    const ratio = (high + .05) / (low + .05);
    if (ratio < 4.5) found.push([texts.currentNode.data.trim().slice(0, 40), +ratio.toFixed(2)]);
  }
  return {seen, found};
})()
"""
"""Text whose contrast is below 4.5 to 1 (WCAG 2.2, 1.4.3), the drawing apart."""

BOXES = """
Object.fromEntries(['.findings', '.files', '.picture svg', '.matrix', '.speeds', '.chart', '.timeline'].map(name => {
  const box = document.querySelector(name)?.getBoundingClientRect();
  return [name, box && [box.left, box.top, box.right, box.bottom]];
}))
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("chromium") / "profile") as found:
        yield found


@pytest.fixture
def page(browser: Browser, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Browser]:
    """The browser with a page open, by its name in PAGES."""
    layouts = [
        each if isinstance(each, Loaded) else pipeline.check(each, today="2026-01-01")
        for each in PAGES[request.param]
    ]
    file = tmp_path / "page.html"
    file.write_text(render("html", layouts, Look()))
    browser.look()
    browser.open(file.as_uri())
    yield browser
    urls = [each["request"]["url"].partition("#")[0] for each in browser.told("Network.requestWillBeSent")]
    assert set(urls) == {file.as_uri()}, "nothing but the page is asked for"
    for kind in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
        assert browser.told(kind) == []


def test_the_watch_sees_requests_and_messages(browser: Browser, tmp_path: Path) -> None:
    """What the other tests rely on: a page that loads, runs and breaks something is noticed."""
    file = tmp_path / "bad.html"
    file.write_text("<img src='other.png'><script>console.log(1); nothing()</script>")
    browser.open(file.as_uri())
    urls = [each["request"]["url"] for each in browser.told("Network.requestWillBeSent")]
    assert any(url.endswith("other.png") for url in urls)
    assert browser.told("Runtime.consoleAPICalled") and browser.told("Runtime.exceptionThrown")


@pytest.mark.parametrize("page", PAGES, indirect=True)
def test_nothing_is_wider_than_the_window_and_everything_can_be_read(page: Browser) -> None:
    for width in (WIDE, NARROW):
        for scheme in ("light", "dark"):
            page.look(width=width, scheme=scheme)
            assert page.value("document.documentElement.scrollWidth") <= width, (width, scheme)
            contrast = page.value(CONTRAST)
            assert contrast["seen"] > 10 and contrast["found"] == [], (width, scheme)


@pytest.mark.parametrize("page", ["forty-disks"], indirect=True)
def test_findings_stand_beside_the_layout_and_above_it_on_a_narrow_screen(page: Browser) -> None:
    boxes = page.value(BOXES)
    assert all(box and box[2] - box[0] > 100 and box[3] - box[1] > 20 for box in boxes.values()), boxes
    order = [
        boxes[name][1] for name in (".findings", ".picture svg", ".matrix", ".speeds", ".chart", ".timeline")
    ]
    assert order == sorted(order)
    assert boxes[".findings"][2] <= boxes[".files"][0] and abs(boxes[".findings"][1] - boxes[".files"][1]) < 5
    page.look(width=NARROW)
    boxes = page.value(BOXES)
    assert boxes[".findings"][3] <= boxes[".files"][1]


@pytest.mark.parametrize("page", ["forty-disks", "mistake"], indirect=True)
def test_it_is_dark_where_the_reader_wants_it_and_white_on_paper(page: Browser, tmp_path: Path) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    light = page.picture(tmp_path / "light.png")
    assert page.value(back) == "rgb(255, 255, 255)"
    page.look(scheme="dark")
    dark = page.picture(tmp_path / "dark.png")
    assert page.value(back) == "rgb(15, 19, 24)"
    assert len(light) == len(dark) > 3 * WIDE * 2000 and light != dark
    assert min(len(set(light)), len(set(dark))) > 100, "a page of one colour shows nothing"
    page.look(scheme="dark", media="print")
    assert page.value(back) == "rgb(255, 255, 255)"
    cut = "[...document.querySelectorAll('.source')].filter(e => e.scrollHeight > e.clientHeight + 1).length"
    assert page.value(cut) == 0, "paper does not scroll"


@pytest.mark.parametrize("page", ["forty-disks"], indirect=True)
def test_it_is_read_with_the_keyboard(page: Browser) -> None:
    line = page.value("document.querySelector('.finding a[href^=\"#l1-s0-\"]').getAttribute('href')")
    seen = []
    for _ in range(60):
        page.press("Tab", 9)
        href = page.value("document.activeElement.getAttribute('href')")
        seen.append(href)
        assert page.value("getComputedStyle(document.activeElement).outlineStyle") != "none"
        if href == line:
            break
    assert seen[:5] == ["#l1-findings", "#l1-wiring-picture", "#l1-survival", "#l1-speeds", "#l1-plan"]
    assert seen[-1] == line
    page.press("Enter", 13)
    assert page.value("location.hash") == line
    top, bottom = page.value(
        "(b => [b.top, b.bottom])(document.querySelector(':target').getBoundingClientRect())"
    )
    assert 0 <= top < bottom <= 900, "the line is in sight"
    page.value("document.querySelector(':target a').focus()")
    page.press("Enter", 13)
    assert page.value("document.querySelector(':target').className").startswith("finding ")


@pytest.mark.parametrize("page", ["volumes"], indirect=True)
def test_details_open_without_a_script(page: Browser) -> None:
    page.value("document.querySelector('.finding summary').focus()")
    before = page.value("document.body.scrollHeight")
    page.press("Enter", 13)
    assert page.value("document.querySelector('.finding details').open") is True
    assert page.value("document.body.scrollHeight") >= before


@pytest.mark.parametrize(
    ("variable", "outcome"), [("CI", "Failed"), ("NOTHING_LEFT_OUT", "Failed"), ("", "Skipped")]
)
def test_make_test_leaves_no_browser_out(
    variable: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CI", "NOTHING_LEFT_OUT"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, "1")
    with (
        pytest.raises((pytest.fail.Exception, pytest.skip.Exception), match="not installed") as raised,
        chromium(tmp_path),
    ):
        pass
    assert raised.typename == outcome
    recipe = Path("Makefile").read_text().partition("\ntest:")[2].partition("\n\n")[0]
    assert " NOTHING_LEFT_OUT=1 " in recipe and " chromium\n" in Path("Makefile").read_text()
