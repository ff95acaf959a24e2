"""`python -m tests.installers.curtin FOLDER`: the examples' exports, read by the parser of curtin whose sources lie in a folder."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Sequence

import yaml

from tests.examples import EXAMPLES


def main(words: Sequence[str]) -> int:
    """Prints a line for each example; the exit code."""
    sys.path.insert(0, words[0])
    config = importlib.import_module("curtin.storage_config")
    wrong = 0
    for example in EXAMPLES:
        argv = [sys.executable, "-m", "raidplan", "export", "--offline", "--format", "curtin", str(example)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = next(line for line in done.stderr.splitlines() if line.startswith("refused: "))
            print(f"{example.name}: {reason}")
            continue
        made = yaml.safe_load(done.stdout)
        try:
            config.validate_config(made["storage"])
            objects = config.extract_storage_ordered_dict(made)
            for each in objects:
                config.find_item_dependencies(each, objects)
        except ValueError as error:
            wrong += 1
            print(f"{example.name}: WRONG: {error}")
        else:
            print(f"{example.name}: {len(objects)} objects, read without an error")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
