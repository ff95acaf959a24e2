"""The JSON Schema is fresh, accepts what the tool accepts, the compact form too, and flags mistakes."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from raidplan.layout.keys import Key, keys
from raidplan.layout.kinds.model import Model
from raidplan.layout.model import Layout
from raidplan.layout.schema import layout_schema
from raidplan.render.findings_json import json_text
from raidplan.render.layout_data import layout_to_data
from raidplan.render.yaml_text import yaml_text
from raidplan.review import pipeline
from tests.examples import EXAMPLES

FILE = Path("schemas/layout.schema.json")


class Loader(yaml.SafeLoader):
    """Reads scalars as an editor does, which knows no dates."""


Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith("timestamp")]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@cache
def validator() -> Draft7Validator:
    return Draft7Validator(layout_schema())


def problems(text: str) -> list[str]:
    data: Any = yaml.load(text, Loader)
    return [f"{'.'.join(map(str, error.path))}: {error.message}" for error in validator().iter_errors(data)]


def test_the_file_is_fresh() -> None:
    assert FILE.read_text() == json_text(layout_schema()), f"raidplan schema -o {FILE} writes it"


def test_it_is_a_schema() -> None:
    schema = json.loads(FILE.read_text())
    Draft7Validator.check_schema(schema)
    assert list(schema)[:3] == ["$schema", "$id", "title"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_are_valid(file: Path) -> None:
    assert problems(file.read_text()) == []


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_their_plain_form_is_valid(file: Path) -> None:
    layout = pipeline.read(str(file)).layout
    assert layout is not None
    assert problems(yaml_text(layout_to_data(layout))) == []


def layout(body: str) -> str:
    return f"version: 1\nhost: h\n{body}"


@pytest.mark.parametrize(
    "body",
    [
        "hardware: {disks: {d<0-7><0-4>: {behind: pm<1>, port: <2>, serial: {each: [A, 1]}, size: 3TB}}}",
        "hardware: {disks: {d<00-11>: {size: {each: [3TB, 4TB]}, rotational: {each: [true, false]}}}}",
        "hardware: {buses: {slot<a/b>: {type: {each: [pci, pcie]}, lanes: <1:4-5>}}}",
        "hardware: jbod.hardware.yaml",
        "arrays: {s<0-4>: {level: raid<1>, members: [d<0-7><1>, x.root], chunk: 512KiB, metadata: 1.2}}",
        "arrays: {s0: {level: 6, members: {from: [d<0-7>], count: 8, spread: multiplier}}}",
        "arrays: {s<0-1>: {level: raid1, members: {each: [[a, b], [c, d]]}}}",
        "filesystems: {data<0-4>: {device: s<1>, type: xfs, mount: /data/<1>, options: [noatime]}}",
        "boot: {esp: [os<0-1>.esp]}",
        "hardware: {disks: {d0: {serial: 12345, size: ~}}}",
        "allow: [{rule: x, at: arrays.s0, reason: y, until: 2027-06-30}]",
    ],
)
def test_the_compact_form_is_not_flagged(body: str) -> None:
    assert problems(layout(body)) == []


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ("arays: {}", "arays"),
        ("arrays: {s0: {level: raid7, members: [a]}}", "level"),
        ("arrays: {s0: {level: raid6, members: [a], chnk: 1KiB}}", "chnk"),
        ("arrays: {s0: {level: raid6}}", "members"),
        ("hardware: {disks: {d<0-3>: {rtae: 150MB/s}}}", "rtae"),
        ("hardware: {disks: {d0: {size: 3T}}}", "size"),
        ("hardware: {disks: {d0: {port: zero}}}", "port"),
        ("hardware: {disks: {d0: {rate: 0.0MB/s}}}", "rate"),
        ("hardware: {buses: {b: {type: pcie, lanes: 0}}}", "lanes"),
        ("monitoring: {scrub: weekly}", "scrub"),
        ("workload: <1>", "workload"),
        ("hardware: [a]", "hardware"),
    ],
)
def test_mistakes_are_flagged(body: str, where: str) -> None:
    found = problems(layout(body))
    assert found and any(where in text for text in found)


def test_descriptions_are_the_docstrings() -> None:
    schema = layout_schema()
    assert schema["properties"]["host"]["description"].startswith("The host's name")
    disk = schema["definitions"]["Disk"]["properties"]
    assert disk["path"]["description"].startswith("udev's ID_PATH")
    assert schema["definitions"]["Pool"]["required"] == ["from", "count"]


def test_every_key_is_described_with_an_example_that_it_takes() -> None:
    others = (each for each in Model.__subclasses__() if each.__module__.startswith("raidplan"))
    models: tuple[type[Model], ...] = (Layout, *others)
    schema = layout_schema()
    for model in models:
        for key in keys(model).values():
            assert key.description, (model, key.name)
            place = schema if model is Layout else schema["definitions"][model.__name__]
            described = place["properties"][key.name]
            assert key.example or (model, key.name) == (Layout, "hardware"), (model, key.name)
            for example in described.get("examples", ()):
                whole = Draft7Validator({**described, "definitions": schema["definitions"]})
                assert whole.is_valid(example), (model, key.name, example)


def patterns(schema: Any) -> Iterator[str]:
    """Every regular expression of a schema, those of keys too."""
    if isinstance(schema, dict):
        if isinstance(pattern := schema.get("pattern"), str):
            yield pattern
        yield from schema.get("patternProperties", ())
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from patterns(part)


TEXTS = ["", "/", "/srv", "d00", "d<0-7>", "sda.esp", "-x", "3TB", "3 TB", "3T", "0TB", "512KiB", "150MB/s", "6Gbps", "33.3MHz",
    "7s", "100ms", "5%", "noatime", "a b", "a,b", 'a"b', "a'b", "a\\b", "a#b", "root@example.org", "2027-06-30"]  # fmt: skip
IN_A_BROWSER = """
const {patterns, texts} = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(patterns.map(p => { const e = new RegExp(p, "u"); return texts.map(t => e.test(t)); })));
"""


def test_regular_expressions_mean_the_same_in_ecmascript() -> None:
    """JSON Schema's are ECMA-262's, with Unicode: there `\\"` in a class is an error, and an editor drops the schema."""
    found = sorted(set(patterns(json.loads(FILE.read_text()))))
    asked = json.dumps({"patterns": found, "texts": TEXTS})
    made = subprocess.run(["node", "-e", IN_A_BROWSER], input=asked, text=True, capture_output=True)
    assert made.returncode == 0, made.stderr
    ours = [[bool(re.search(pattern, text)) for text in TEXTS] for pattern in found]
    assert len(found) > 10 and json.loads(made.stdout) == ours


SECTIONS = [key for key in keys(Layout).values() if key.name not in ("version", "host", "hardware")]


@pytest.mark.parametrize("key", SECTIONS, ids=[key.name for key in SECTIONS])
def test_the_example_of_a_section_can_be_read(key: Key, tmp_path: Path) -> None:
    file = tmp_path / "h.yaml"
    file.write_text(f"version: 1\nhost: h\n{key.name}: {key.example}\n")
    rules = {each.finding.rule for each in pipeline.check(str(file)).findings}
    assert not rules & {"unknown-key", "invalid-value", "missing-key", "invalid-yaml"}
