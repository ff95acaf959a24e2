"""`raidplan schema`: the JSON Schema of a layout file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raidplan.cli.parser import Subparsers


def add(subparsers: Subparsers) -> None:
    """Describes the arguments."""
    from raidplan.cli.parser import add_output

    parser = subparsers.add_parser(
        "schema",
        description="Prints the JSON Schema (draft 7) of a layout file. An editor uses it if the layout begins "
        "with: # yaml-language-server: $schema=layout.schema.json",
    )
    add_output(parser, "json")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints the schema."""
    from raidplan.cli import OK
    from raidplan.cli.output import emit
    from raidplan.layout.schema import layout_schema
    from raidplan.render.findings_json import json_text

    emit(json_text(layout_schema()), arguments.output)
    return OK
