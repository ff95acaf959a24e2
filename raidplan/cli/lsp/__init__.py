"""`raidplan lsp`: a layout in an editor. The parts of a language server, of which only `server` knows the protocol."""

from __future__ import annotations

import argparse

from raidplan.cli import OK


def run(arguments: argparse.Namespace) -> int:
    """Serves an editor on standard input and output."""
    from raidplan.cli.lsp.server import serve

    serve()
    return OK
