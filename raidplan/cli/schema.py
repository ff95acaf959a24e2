"""`raidplan schema`: the JSON Schema of a layout file."""

from __future__ import annotations

import argparse

from raidplan.cli import OK
from raidplan.cli.output import emit
from raidplan.layout.schema import layout_schema
from raidplan.render.findings_json import json_text


def run(arguments: argparse.Namespace) -> int:
    """Prints the schema."""
    emit(json_text(layout_schema()), arguments.output)
    return OK
