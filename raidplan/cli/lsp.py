"""`raidplan lsp`: the language server for editors."""

from __future__ import annotations

import argparse

from raidplan.cli import OK
from raidplan.editor.server import serve


def run(arguments: argparse.Namespace) -> int:
    """Serves an editor on standard input and output."""
    serve()
    return OK
