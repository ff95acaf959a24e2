"""Digests of values, and of a plan as plain values: of all that it does, in this version's form and in earlier ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

SENTENCES = 1
"""The version of plan.json whose losses are sentences; it is still read."""
OWN = ", made by this layout"
"""The end of the sentence of such a loss if the layout made the lost object."""


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON of plain values."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def digest_of_data(data: Mapping[str, Any]) -> str:
    """The digest of all but the findings, and the words for a loss that is told by its kind and figures."""

    def counted(step: dict[str, Any]) -> dict[str, Any]:
        return {**step, "destroys": [_without_words(loss) for loss in step["destroys"]]}

    content = _each_step(dict(data), counted)
    return digest({key: value for key, value in content.items() if key not in ("findings", "digest")})


def digests_of_data(data: dict[str, Any]) -> frozenset[str]:
    """The digest of a plan, and those that earlier versions of raidplan made of it."""
    unstated = _each_step(data, _without_stated)
    unnamed = _each_step(unstated, lambda step: {key: step[key] for key in step if key != "origin"})
    return frozenset(map(digest_of_data, (data, unstated, unnamed, _with_sentences(unnamed))))


def _without_stated(step: dict[str, Any]) -> dict[str, Any]:
    """The step without the names of the properties that the layout states."""
    if "proof" not in step:
        return step
    return {**step, "proof": {key: value for key, value in step["proof"].items() if key != "stated"}}


def _with_sentences(data: dict[str, Any]) -> dict[str, Any]:
    """The plan as version 1 wrote it."""

    def written(step: dict[str, Any]) -> dict[str, Any]:
        return {**step, "destroys": [_sentence(loss) for loss in step["destroys"]]}

    return {**_each_step(data, written), "format_version": SENTENCES}


def _each_step(data: dict[str, Any], of: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    return {**data, **{name: [*map(of, data[name])] for name in ("steps", "whole") if name in data}}


def _sentence(loss: Mapping[str, Any]) -> str:
    return f"{loss.get('what')}{OWN}" if loss.get("own") else str(loss.get("what"))


def _without_words(loss: object) -> object:
    if isinstance(loss, dict) and "kind" in loss:
        return {key: value for key, value in loss.items() if key != "what"}
    return loss
