"""Document to layout: what pydantic has to say, in our words and at the user's place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from raidplan.document import Document, Node
from raidplan.findings import Finding, Path, did_you_mean, error, shortened
from raidplan.layout.model import Layout

WRONG_SHAPE = {
    "tuple_type": ("a list", "write [a, b]"),
    "model_type": ("a mapping of keys to values", "write {key: value}"),
    "dict_type": ("a mapping of names to entries", "write name: {...}, or remove the key"),
}
"""What pydantic calls a list or a mapping that is none, and what we say."""


def load_layout(document: Document) -> tuple[Layout | None, list[Finding]]:
    """The layout a document means, or None and every mistake in it."""
    other = _other_version(document)
    if other is not None:
        return None, [other]
    try:
        return Layout.model_validate(document.root.plain()), []
    except ValidationError as problems:
        return None, list(_findings(problems.errors(include_url=False), document))


def _other_version(document: Document) -> Finding | None:
    """Of a layout in another format every second key would be unknown; one finding says it all."""
    entries = document.root.content
    assert isinstance(entries, dict)
    version = entries["version"].content if "version" in entries else "1"
    if version == "1":
        return None
    word = f"version {shortened(version)}" if isinstance(version, str) else "this version"
    return error("invalid-layout", ("version",), f"{word} is not known to this raidplan", "write version: 1")


def _findings(problems: list[ErrorDetails], document: Document) -> Iterator[Finding]:
    """One finding for each mistake.

    Where a field takes two shapes, pydantic complains about both: the complaint about the shape counts only
    if nothing else is said there. A key that is missing and the misspelt one beside it are one mistake too.
    """
    located = [(_path(details, document), details) for details in problems]
    deeper = {
        path[:end] for path, d in located if d["type"] not in WRONG_SHAPE for end in range(len(path) + 1)
    }
    misspelt = {
        (*path[:-1], meant)
        for path, d in located
        if d["type"] == "extra_forbidden"
        for meant in [did_you_mean(str(path[-1]), _known_keys(path[:-1]))]
    }
    said = set[Path]()
    for path, details in located:
        if details["type"] in WRONG_SHAPE:
            if path in deeper or path in said:
                continue
            said.add(path)
        if details["type"] == "missing" and (*path[:-1], f"did you mean '{path[-1]}'?") in misspelt:
            continue
        yield _finding(path, details)


def _finding(path: Path, details: ErrorDetails) -> Finding:
    context: Mapping[str, Any] = details.get("ctx", {})
    on_key = details["loc"][-1:] == ("[key]",)
    match details["type"]:
        case "extra_forbidden":
            word, known = str(path[-1]), _known_keys(path[:-1])
            hint = did_you_mean(word, known) or (f"known here: {', '.join(known)}" if known else "")
            return error("unknown-key", path, f"unknown key '{shortened(word)}'", hint, on_key=True)
        case "missing":
            value = "1" if path == ("version",) else "..."
            return error("missing-key", path, f"'{path[-1]}' is missing", f"add {path[-1]}: {value}")
        case "literal_error":
            return _no_such_word(path, details["input"], context["expected"])
        case "value_error":
            # Our own types put the advice after a semicolon.
            message, _, hint = str(context["error"]).partition("; ")
            return error("invalid-value", path, _without_length(message, details), hint, on_key=on_key)
        case "refused":
            message = _without_length(context["message"], details)
            return error(context["rule"], path, message, context["hint"], on_key=on_key)
        case shape if shape in WRONG_SHAPE:
            what, hint = WRONG_SHAPE[shape]
            found = "nothing is written here, and " if details["input"] is None else ""
            return error("invalid-value", path, f"{found}{what} is expected" + " here" * (not found), hint)
        case _:
            return error("invalid-value", path, details["msg"])


def _no_such_word(path: Path, given: object, expected: str) -> Finding:
    words = expected.replace("'", "").replace(" or ", ", ")
    if not isinstance(given, str):
        return error("invalid-value", path, "a single word is expected here", f"write one of {words}")
    hint = did_you_mean(given, words.split(", ")) or "choose one of them"
    return error("invalid-value", path, f"'{shortened(given)}' is none of {words}", hint)


def _without_length(message: str, details: ErrorDetails) -> str:
    """The message with the user's own text cut to what can be read."""
    given = details["input"]
    return message.replace(given, shortened(given)) if isinstance(given, str) and given else message


def _path(details: ErrorDetails, document: Document) -> Path:
    """Where it is, without pydantic's own marks: the branch of a union and `[key]` stand in no file."""
    path: list[int | str] = []
    node: Node | None = document.root
    parts = list(details["loc"])
    for position, part in enumerate(parts):
        entries = node.content if node else None
        if isinstance(entries, dict) and part in entries:
            node = entries[str(part)]
        elif isinstance(entries, list) and isinstance(part, int) and part < len(entries):
            node = entries[part]
        elif position < len(parts) - 1 or details["type"] != "missing":
            continue
        path.append(part)
    return tuple(path)


def _known_keys(path: Path) -> list[str]:
    """The keys of the model that stands at a path."""
    model: Any = Layout
    for part in path:
        if isinstance(model, type) and issubclass(model, BaseModel):
            field = next((f for name, f in model.model_fields.items() if part in (name, f.alias)), None)
            if field is None:
                return []
            model = field.annotation
        else:
            model = _item(model)
    model = model if isinstance(model, type) else _item(model)
    if isinstance(model, type) and issubclass(model, BaseModel):
        return [field.alias or name for name, field in model.model_fields.items()]
    return []


def _item(annotation: Any) -> Any:
    """What the entries of a mapping or a list are: the model among the type's arguments."""
    arguments = getattr(annotation, "__args__", ())
    models = [a for a in arguments if isinstance(a, type) and issubclass(a, BaseModel)]
    nested = [_item(a) for a in arguments if hasattr(a, "__args__")]
    return next((m for m in [*models, *nested] if m is not None), None)
