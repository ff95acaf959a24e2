"""The example layouts; a hardware section in a file of its own is no layout."""

from pathlib import Path

EXAMPLES = [
    file for file in sorted(Path("examples").glob("*.yaml")) if "\nversion:" in "\n" + file.read_text()
]
