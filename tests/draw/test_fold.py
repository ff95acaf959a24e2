"""Many branches that are alike are one in the picture; one that is not, or a few, stand by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from raidplan.render.draw import marks_of, mermaid
from raidplan.render.draw.measure import listed
from raidplan.render.draw.page import picture
from raidplan.render.draw.picture import Icon, Picture, Rect, Text
from tests.draw.layouts import topology


def nvme(count: int, **changed: Any) -> Picture:
    """A RAID10 of disks that each have a bus of their own; `changed` is of the first bus."""
    buses: dict[str, Any] = {f"n{n}": {"type": "pcie", "generation": 4, "lanes": 4} for n in range(count)}
    buses["n0"] |= changed
    disks = {
        f"d{n}": {"behind": f"n{n}", "serial": f"S{n}", "size": "3.84TB", "rotational": "false"}
        for n in range(count)
    }
    made = topology(
        {
            "hardware": {"buses": buses, "disks": disks},
            "arrays": {"pg": {"level": "raid10", "members": [*disks]}},
        }
    )
    return picture(made, marks_of(made))


def said(drawn: Picture) -> list[str]:
    parts = [*drawn.parts, *(part for box in drawn.boxes for part in box.parts)]
    return [part.text for part in parts if isinstance(part, Text)]


def test_24_equal_slots_are_one() -> None:
    texts = said(nvme(24))
    assert {"n[0-23]", "24 × PCIe 4 ×4", "d[0-23]", "6.46 GB/s each"} <= set(texts)
    assert "The arrays are held back by n[0-23]" in texts, (
        "near copies read one of each pair; no slot is worse"
    )
    assert "24 disks of 3.84 TB (3.5 TiB) · 1 array" in texts
    assert not {"n0", "d0", "n7"} & set(texts) and nvme(24).height < nvme(8).height


def test_one_that_differs_stands_by_itself() -> None:
    texts = said(nvme(24, lanes=2))
    assert {"n0", "PCIe 4 ×2", "d0", "n[1-23]", "23 × PCIe 4 ×4", "d[1-23]"} <= set(texts)


def test_a_few_are_drawn_each() -> None:
    texts = said(nvme(8))
    assert {f"n{n}" for n in range(8)} | {f"d{n}" for n in range(8)} <= set(texts)


def test_branches_fold_with_all_that_hangs_on_them() -> None:
    """Shelves whose disks at the same place serve the same arrays."""
    disks = {
        f"s{shelf}d{n}": {"behind": f"p{shelf}", "port": n, "serial": f"S{shelf}x{n}", "size": "3TB"}
        for shelf in range(10)
        for n in range(2)
    }
    hardware = {
        "controllers": {f"c{n}": {"ports": 1} for n in range(10)},
        "multipliers": {f"p{n}": {"behind": f"c{n}", "ports": 5} for n in range(10)},
        "disks": disks,
    }
    arrays = {f"a{n}": {"level": "raid6", "members": [f"s{s}d{n}" for s in range(10)]} for n in range(2)}
    made = topology({"hardware": hardware, "arrays": arrays})
    texts = said(picture(made, marks_of(made)))
    assert {"c[0-9]", "10 × 1 port", "p[0-9]", "s[0-9]d0", "s[0-9]d1"} <= set(texts)


@pytest.mark.parametrize("names", [("esp", "root", "swap", "data"), ("boot", "r", "s", "warehouse")])
def test_parts_of_a_disk_have_their_names(names: tuple[str, ...]) -> None:
    sizes = ["512MiB", "40GiB", "8GiB", "rest"]
    partitions = {name: {"size": size} for name, size in zip(names, sizes, strict=True)}
    disks = {f"d{n}": {"serial": f"S{n}", "size": "4TB", "partitions": partitions} for n in range(2)}
    arrays = {name: {"level": "raid1", "members": [f"d0.{name}", f"d1.{name}"]} for name in names}
    made = topology({"hardware": {"disks": disks}, "arrays": arrays})
    drawn = picture(made, marks_of(made))
    (box,) = [each for each in drawn.boxes if each.path == ("hardware", "disks", "d0")]
    texts = [part.text for part in box.parts if isinstance(part, Text)]
    assert [text.split()[0] for text in texts] == ["d0", *names]


def test_what_a_loss_means_is_said() -> None:
    disks = {"d0": {"serial": "S0", "size": "4TB"}}
    made = topology(
        {"hardware": {"disks": disks}, "filesystems": {"f": {"device": "d0", "type": "xfs", "mount": "/f"}}}
    )
    texts = said(picture(made, marks_of(made)))
    assert "a loss that an array, a file system or the machine does not survive" in texts
    assert "fails without d0" in texts


def test_the_parts_that_are_drawn_of_many_are_the_largest_with_their_sizes() -> None:
    names = ("bios", "esp", "boot", "swap", "root", "data")
    sizes = ["1MiB", "512MiB", "1GiB", "8GiB", "40GiB", "rest"]
    partitions: dict[str, Any] = {name: {"size": size} for name, size in zip(names, sizes, strict=True)}
    partitions["bios"]["type"], partitions["esp"]["type"] = "bios-boot", "esp"
    disks = {f"d{n}": {"serial": f"S{n}", "size": "4TB", "partitions": partitions} for n in range(2)}
    arrays = {name: {"level": "raid1", "members": [f"d0.{name}", f"d1.{name}"]} for name in names[2:]}
    made = topology({"hardware": {"disks": disks}, "arrays": arrays})
    drawn = picture(made, marks_of(made))
    (box,) = [each for each in drawn.boxes if each.path == ("hardware", "disks", "d0")]
    texts = [part.text for part in box.parts if isinstance(part, Text)]
    assert [text.split()[0] for text in texts] == ["d0", "swap", "root", "data", "+3"]
    assert texts[3] == "data 3.6 TiB", "d0.data is the widest"
    widths = [part.width for part in box.parts if isinstance(part, Rect)]
    assert max(widths) == widths[2] and widths[3] == min(widths)
    assert "d0.data of 3.6 TiB for array data" in box.title
    assert "for booting (EFI system or BIOS boot partition)" in said(drawn)


def test_a_kept_disk_has_a_sign_and_a_legend() -> None:
    disks = {f"d{n}": {"serial": f"S{n}", "size": "4TB"} for n in range(2)}
    disks["d0"]["keep"] = "true"
    made = topology(
        {"hardware": {"disks": disks}, "filesystems": {"f": {"device": "d1", "type": "xfs", "mount": "/f"}}}
    )
    drawn = picture(made, marks_of(made))
    signs = {
        box.path[-1]: [part.shape for part in box.parts if isinstance(part, Icon)] for box in drawn.boxes
    }
    assert "kept" in signs["d0"] and "kept" not in signs["d1"]
    assert "a kept disk: its partitions and file systems stay as they are" in said(drawn)
    assert "d0 · free, kept" in mermaid(made, marks_of(made))


def test_mermaid_folds_too() -> None:
    buses: dict[str, Any] = {f"n{n}": {"type": "pcie", "generation": 4, "lanes": 4} for n in range(24)}
    disks = {
        f"d{n}": {"behind": f"n{n}", "serial": f"S{n}", "size": "3.84TB", "rotational": "false"}
        for n in range(24)
    }
    array = {"level": "raid10", "members": [*disks]}
    made = topology({"hardware": {"buses": buses, "disks": disks}, "arrays": {"pg": array}})
    text = mermaid(made, marks_of(made)).replace("#91;", "[").replace("#93;", "]")
    assert (
        '"n[0-23]<br/>24 × PCIe 4 ×4"' in text
        and '"d[0-23] · pg"' in text
        and '"bottleneck 6.46 GB/s each"' in text
    )
    assert len(text.splitlines()) < 30


def test_more_arrays_than_colours_are_said() -> None:
    def drawn(count: int) -> list[str]:
        disks = {f"d{n}": {"serial": f"S{n}", "size": "4TB"} for n in range(2 * count)}
        arrays = {
            f"a{n}": {"level": "raid1", "members": [f"d{2 * n}", f"d{2 * n + 1}"]} for n in range(count)
        }
        made = topology({"hardware": {"disks": disks}, "arrays": arrays})
        return said(picture(made, marks_of(made)))

    assert "one colour for each array" in drawn(12)
    assert "12 colours, by turns for the arrays" in drawn(13) and "one colour for each array" not in drawn(13)


def test_many_names_are_ranges_also_where_they_would_fit() -> None:
    assert listed([f"x{n}" for n in range(5)], 1000, before="held back by ") == "held back by x[0-4]"
    assert listed(["x0", "x1", "y"], 1000) == "x0, x1, y"
