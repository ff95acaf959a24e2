"""The models as pydantic's: it writes their JSON Schema, and reads layouts as a second opinion in the tests.

Layouts themselves are read by `raidplan.layout.load`: to load pydantic and to build its models takes longer
than all else that `raidplan check` does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

# No plugin of another package has a say in what a layout means.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "true")

from pydantic import BaseModel, ConfigDict, WithJsonSchema, WrapValidator, create_model
from pydantic import Field as PydanticField

from raidplan.layout.kinds.model import Field, Model, Written, fields


def as_pydantic(model: type[Model]) -> type[BaseModel]:
    """A pydantic model with the same fields, which takes what the original takes and refuses the rest."""
    return cast("type[BaseModel]", _type(cast("Any", model)))


@cache
def _type(hint: Any) -> Any:
    """A field's type with pydantic's models and marks in place of ours; each model is made once."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return Annotated[_type(inside[0]), *_marks(inside[1])]
    if origin is tuple:
        return tuple.__class_getitem__((_type(inside[0]), ...))
    if origin is Mapping:
        return dict.__class_getitem__((_type(inside[0]), _type(inside[1])))
    if origin in (Union, UnionType):
        return Union[*map(_type, inside)]
    return _model(hint) if isinstance(hint, type) and issubclass(hint, Model) else hint


def _marks(written: Written) -> list[Any]:
    schema = [WithJsonSchema(dict(written.schema))] if written.schema else []
    return [WrapValidator(lambda value, _: written.read(value)), *schema]


def _model(model: type[Model]) -> type[BaseModel]:
    definitions: dict[str, Any] = {
        name: (_type(field.hint), _field(field)) for name, field in fields(model).items()
    }
    return create_model(model.__name__, __config__=ConfigDict(frozen=True, extra="forbid"), **definitions)


def _field(field: Field) -> Any:
    if isinstance(field.default, Model):
        return PydanticField(alias=field.key, default_factory=as_pydantic(type(field.default)))
    return PydanticField(... if field.required else field.default, alias=field.key)
