"""`vagrant destroy`, which may be answered with no, with a stand-in for VBoxManage."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VAGRANT = Path(__file__).resolve().parents[2] / "vagrant"
ID = "11111111-2222-3333-4444-555555555555"
VBOXMANAGE = f"""#!/bin/sh
case "$1" in
  --version) echo 7.0.20r163906 ;;
  list) [ -e "$GONE" ] || echo '"pair" {{{ID}}}' ;;
  showvminfo) [ ! -e "$GONE" ] || exit 1; printf 'name="pair"\\nVMState="poweroff"\\nUUID="{ID}"\\n' ;;
  unregistervm) touch "$GONE" ;;
esac
"""


@pytest.mark.parametrize("answer", ["n", pytest.param("y", marks=pytest.mark.long)])
def test_a_machine_that_is_not_destroyed_stays_known(tmp_path: Path, answer: str) -> None:
    """The answer comes from a terminal, as Vagrant asks nobody else."""
    if shutil.which("vagrant") is None:
        pytest.skip("Vagrant is not installed; on Debian: apt-get install vagrant vagrant-libvirt")
    state = tmp_path / "state"
    known = state / "machines" / "pair" / "virtualbox" / "id"
    known.parent.mkdir(parents=True)
    known.write_text(ID)
    (tmp_path / "VBoxManage").write_text(VBOXMANAGE)
    (tmp_path / "VBoxManage").chmod(0o755)
    settings = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "GONE": str(tmp_path / "gone"),
        "RAIDPLAN_LAYOUT": str(VAGRANT.parent / "examples" / "raid1-pair.yaml"),
        "RAIDPLAN_PYTHON": sys.executable,
        "RAIDPLAN_VIRT": "qemu",
        "VAGRANT_DOTFILE_PATH": str(state),
        "VAGRANT_DEFAULT_PROVIDER": "virtualbox",
        "VAGRANT_CHECKPOINT_DISABLE": "1",
    }
    terminal, inner = pty.openpty()
    os.write(terminal, f"{answer}\n".encode())
    done = subprocess.run(
        ["vagrant", "destroy", "--no-color"],
        stdin=inner, capture_output=True, text=True, cwd=VAGRANT, env={**os.environ, **settings}, timeout=300,
    )  # fmt: skip
    os.close(inner)
    os.close(terminal)
    assert ("will not be destroyed" in done.stdout) == (answer == "n"), done.stdout + done.stderr
    assert (tmp_path / "gone").exists() == (answer == "y")
    assert known.exists() == (answer == "n")
