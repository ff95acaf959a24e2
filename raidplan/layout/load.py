"""Document to layout: what pydantic has to say, in our words and at the user's place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from raidplan.document import Document, Node
from raidplan.findings import Finding, Path, did_you_mean, error
from raidplan.layout.model import Layout


def load_layout(document: Document) -> tuple[Layout | None, list[Finding]]:
    """The layout a document means, or None and every mistake in it."""
    try:
        layout = Layout.model_validate(document.root.plain())
    except ValidationError as problems:
        findings = [_finding(details, document) for details in problems.errors(include_url=False)]
        return None, list(dict.fromkeys(findings))
    if layout.version != 1:
        return None, [
            error(
                "invalid-layout",
                ("version",),
                f"version {layout.version} is not known to this raidplan",
                "write version: 1",
            )
        ]
    return layout, []


def _finding(details: ErrorDetails, document: Document) -> Finding:
    path = _path(details["loc"], document)
    context: Mapping[str, Any] = details.get("ctx", {})
    match details["type"]:
        case "extra_forbidden":
            word = str(path[-1])
            known = _known_keys(path[:-1])
            hint = did_you_mean(word, known) or (f"known here: {', '.join(known)}" if known else "")
            return error("unknown-key", path, f"unknown key '{word}'", hint, on_key=True)
        case "missing":
            return error("missing-key", path, f"'{path[-1]}' is missing")
        case "literal_error":
            given = details["input"]
            word = f"'{given}'" if isinstance(given, str) else "this"
            return error(
                "invalid-value", path, f"{word} is not one of {context['expected'].replace(' or ', ', ')}"
            )
        case "value_error":
            return error(
                "invalid-value", path, str(context["error"]), on_key=details["loc"][-1:] == ("[key]",)
            )
        case "tuple_type":
            return error("invalid-value", path, "a list is expected here", "write [a, b]")
        case "model_type" | "model_attributes_type" | "dict_type":
            return error("invalid-value", path, "a mapping of keys to values is expected here")
        case _:
            return error("invalid-value", path, details["msg"])


def _path(location: Iterable[int | str], document: Document) -> Path:
    """The location without pydantic's own marks: union tags and `[key]` stand in no file."""
    path: list[int | str] = []
    node: Node | None = document.root
    parts = list(location)
    for position, part in enumerate(parts):
        entries = node.content if node else None
        if isinstance(entries, dict) and part in entries:
            node = entries[str(part)]
        elif isinstance(entries, list) and isinstance(part, int) and part < len(entries):
            node = entries[part]
        elif position < len(parts) - 1 or not isinstance(entries, dict) or part == "[key]":
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
