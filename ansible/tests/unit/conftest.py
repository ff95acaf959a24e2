"""A raidplan that answers as it is told, and modules run in this process."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args


class Fake:
    """The program, its answers by command (LAYOUT stands for its last word), and what it was asked."""

    def __init__(self, folder):
        self.folder, self.asked, self.layout = folder, [], None
        self.answers = {"--version": {"out": "raidplan 0.1.0\n"}}
        self.path = folder / "raidplan"
        self.path.touch(0o755)

    def run(self, name, check=False, diff=False, **options):
        """What the module returns."""
        self.asked = []
        module = importlib.import_module(f"ansible_collections.raidplan.storage.plugins.modules.{name}")
        given = {
            "executable": str(self.path),
            "_ansible_check_mode": check,
            "_ansible_diff": diff,
            "_ansible_remote_tmp": str(self.folder),
            **{name: value for name, value in options.items() if value is not None},
        }
        printed = io.StringIO()
        with patch_module_args(given), contextlib.redirect_stdout(printed), pytest.raises(SystemExit):
            module.main()
        return json.loads(printed.getvalue())

    def answer(self, argv):
        """Stands in for the process."""
        program, *words = argv
        assert program == str(self.path)
        self.asked.append(words)
        answer = self.answers[words[0]]
        for word in words:
            if word.startswith("--events=") and "events" in answer:
                with open(word.partition("=")[2], "w", encoding="utf-8") as events:
                    events.write("".join(json.dumps(event) + "\n" for event in answer["events"]))
            if word.endswith(".yaml") and os.path.exists(word):
                with open(word, encoding="utf-8") as layout:
                    self.layout = layout.read()
        out = answer.get("out", "")
        text = out if isinstance(out, str) else json.dumps(out)
        return answer.get("code", 0), text.replace("LAYOUT", words[-1]), answer.get("err", "")


@pytest.fixture
def raidplan(tmp_path, monkeypatch):
    """The program, with no answers but its version."""
    fake = Fake(tmp_path)
    monkeypatch.setattr(AnsibleModule, "run_command", lambda self, argv, **options: fake.answer(argv))
    return fake


@pytest.fixture
def script(tmp_path):
    """A raidplan that is a program: its plan is in the file plan.json, its apply runs the shell lines of the file apply."""
    fake = Fake(tmp_path)
    fake.path.write_text(
        "#!/bin/sh\n"
        "for word; do case $word in --events=*) events=${word#--events=};; esac; done\n"
        f"case $1 in --version) echo raidplan 0.1.0;; apply) . {tmp_path}/apply;; *) cat {tmp_path}/$1.json;; esac\n"
    )
    return fake
