"""`python -m tests.installers.curtin FOLDER`: the examples' exports, read by the parser of curtin whose sources lie in a folder.

Before it, the rows of `grammar.py` are compared with curtin's schemas, and the arguments of its `mdadm_create` with those that
`omissions.py` goes by.
"""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from tests.examples import EXAMPLES
from tests.installers.grammar import OF_CURTIN

CREATE = {"md_devname", "raidlevel", "devices", "spares", "container", "md_name", "metadata"}
"""All that curtin can say to `mdadm --create`."""


def main(words: Sequence[str]) -> int:
    """Prints a line for each row and each example; the exit code."""
    if not Path(words[0], "curtin", "storage_config.py").is_file():
        print(f"no sources of curtin lie in the folder {words[0]!r}: make curtin CURTIN=FOLDER")
        return 2
    sys.path.insert(0, words[0])
    wrong, read = [*differences()], 0
    for each in wrong:
        print(f"WRONG: {each}")
    print(f"{len(OF_CURTIN)} rows of the grammar compared with curtin's schemas, {len(wrong)} differences")
    config = importlib.import_module("curtin.storage_config")
    for example in EXAMPLES:
        argv = [sys.executable, "-m", "raidplan", "export", "--offline", "--format", "curtin", str(example)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = next(
                line for line in done.stderr.splitlines() if line.startswith(("refused: ", "error["))
            )
            print(f"{example.name}: {reason}")
            continue
        made = yaml.safe_load(done.stdout)
        try:
            config.validate_config(made["storage"])
            objects = config.extract_storage_ordered_dict(made)
            for each in objects:
                config.find_item_dependencies(each, objects)
        except ValueError as error:
            wrong.append(str(error))
            print(f"{example.name}: WRONG: {error}")
        else:
            read += 1
            print(f"{example.name}: {len(objects)} objects, read without an error")
    print(
        f"{read} of {len(EXAMPLES)} examples read without an error, {len(wrong)} problems; the others are refused"
    )
    return 1 if wrong else 0


def differences() -> Iterator[str]:
    """The keys in which a row is unlike curtin's schema, and those in which `mdadm_create` is another."""
    schemas = importlib.import_module("curtin.block.schemas")
    for kind, row in OF_CURTIN.items():
        schema = getattr(schemas, kind.upper())
        ours = {"devices"} if kind == "raid" else set()  # there either these or a container
        if row.allowed != set(schema["properties"]) or row.required != {*schema["required"], *ours}:
            yield f"{kind}: {sorted(row.allowed ^ set(schema['properties']))}, {sorted(row.required ^ {*schema['required'], *ours})}"
    create = importlib.import_module("curtin.block.mdadm").mdadm_create
    if unlike := set(inspect.signature(create).parameters) ^ CREATE:
        yield f"mdadm_create: {sorted(unlike)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
