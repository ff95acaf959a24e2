"""Notes of `apply` and `plan`: each has a code that is used, and a sentence that is filled with its figures alone."""

from __future__ import annotations

import ast
from pathlib import Path
from string import Formatter

from raidplan.render.note_words import SENTENCES

APPLY = Path(__file__).parents[2] / "raidplan/apply"


def test_codes_and_sentences_belong_together() -> None:
    calls = {}
    for file in APPLY.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Call(ast.Name("note"), [ast.Constant(str(code))], keywords):
                    calls[code] = {str(each.arg) for each in keywords}
                case ast.Call(ast.Name("reader"), [ast.Constant(str(code)), *_]):
                    calls[code] = {"what", "program", "since", "version", "place", "line"}
    assert calls.keys() == SENTENCES.keys()
    for code, figures in calls.items():
        assert {name for _, name, _, _ in Formatter().parse(SENTENCES[code]) if name} <= figures, code
