"""The pages in Chromium on a phone, a laptop and a wide screen, light and dark, as axe-core sees them (WCAG 2.2 and its good practice)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from raidplan.cli import run
from tests.render.browser import Browser, chromium

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.network]
WIDTHS = {"phone": 390, "laptop": 1366, "wide": 2560}
PAGES = {
    "forty-disks": ("check", "examples/tel-aviv-jbod.yaml"),
    "mistakes": ("check", "examples/rio-swap-mistake.yaml", "examples/lvm-test-host-mistake.yaml", "tests/errors/alias.yaml"),
    "plan": ("plan", "--offline", "examples/tel-aviv-jbod.yaml"),
    "estimate": ("estimate", "examples/tel-aviv-jbod.yaml"),
}  # fmt: skip
ASK = """
axe.run(document, {resultTypes: ['violations']}).then(found => found.violations.map(
  rule => [rule.id, rule.impact, rule.nodes.length, rule.nodes[0].html.slice(0, 200), rule.nodes[0].failureSummary]))
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("chromium") / "profile") as found:
        yield found


def violations(browser: Browser, node_modules: Path) -> list[Any]:
    browser.value((node_modules / "axe-core" / "axe.min.js").read_text() + ";0")
    found: list[Any] = browser.value(ASK)
    return found


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(name: str, browser: Browser, node_modules: Path, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    run([*PAGES[name], "--format", "html", "-o", str(file)])
    for screen, width in WIDTHS.items():
        for scheme in ("light", "dark"):
            browser.look(width=width, scheme=scheme)
            browser.open(file.as_uri())
            assert browser.value("document.documentElement.scrollWidth") <= width, (screen, scheme)
            assert violations(browser, node_modules) == [], (screen, scheme)


@pytest.mark.parametrize("name", PAGES)
def test_every_link_is_reached_by_the_tabulator_and_seen(name: str, browser: Browser, tmp_path: Path) -> None:
    """Each of the first links, and whatever else takes the focus, has an outline."""
    file = tmp_path / "page.html"
    run([*PAGES[name], "--format", "html", "-o", str(file)])
    browser.look()
    browser.open(file.as_uri())
    links = browser.value("document.querySelectorAll('a[href], summary').length")
    for _ in range(min(links, 40)):
        browser.press("Tab", 9)
        assert browser.value("document.activeElement !== document.body")
        assert browser.value("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert links > 2


def test_axe_sees_what_is_wrong(browser: Browser, node_modules: Path, tmp_path: Path) -> None:
    """Else silence would mean nothing."""
    file = tmp_path / "bad.html"
    file.write_text(
        "<!doctype html><html><title>x</title><main><h1>x</h1><p style='color:#ccc;background:#fff'>pale</p><img src='data:,'></main>"
    )
    browser.look()
    browser.open(file.as_uri())
    found = {each[0] for each in violations(browser, node_modules)}
    assert {"color-contrast", "image-alt", "html-has-lang"} <= found
