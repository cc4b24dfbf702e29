"""``germane schema``: show what a store declares, or check a file of declarations."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from germane.faces.cli import store
from germane.faces.cli.failures import Misuse
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import counted, print_json, say

EXAMPLES = """\b
Examples:
  germane schema show
  germane schema show > schema.toml
  germane schema check schema.toml
"""


def schema(
    ctx: typer.Context,
    action: Annotated[str, typer.Argument(metavar="show|check", help="What to do.", show_default=False)],
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="TOML, for check.", show_default=False)
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Show what a store declares, or check a file of it.

    Both are TOML: what is shown can be declared again.
    """
    given = Given.of(ctx, db, as_json)
    if action == "check" and file is not None:
        from germane.model.schema import Schema

        checked = Schema.from_toml(file)
        if given.as_json:
            print_json(checked.declaration())
        else:
            held = [counted(len(checked.signals), "signal"), counted(len(checked.profiles), "profile")]
            if checked.policies:
                held.append(
                    f"{len(checked.policies)} {'policy' if len(checked.policies) == 1 else 'policies'}"
                )
            say(f"{file} declares {', '.join(held[:-1])} and {held[-1]}; language {checked.lang}.")
        return
    if action != "show" or file is not None:
        raise Misuse("type 'germane schema show', or 'germane schema check FILE'")
    with store.reading(given.db) as database:
        declared = database.schema.declaration()
    if given.as_json:
        print_json(declared)
        return
    say(toml(declared))


def toml(declared: dict[str, Any]) -> str:
    """Return declarations as the TOML that declares them.

    Examples
    --------
    >>> print(toml({"lang": "german", "signals": [{"name": "view", "half_life": 60.0}]}))
    lang = "german"
    <BLANKLINE>
    [[signals]]
    name = "view"
    half_life = 60.0
    """
    lines = [
        f"{name} = {_value(value)}"
        for name, value in declared.items()
        if not isinstance(value, (list, tuple))
    ]
    for name, tables in declared.items():
        for table in tables if isinstance(tables, (list, tuple)) else ():
            lines += ["", f"[[{name}]]", *(f"{key} = {_value(value)}" for key, value in table.items())]
    return "\n".join(lines)


def _value(value: Any) -> str:
    """Return a value as TOML writes it: as JSON does, but for tables."""
    from germane.model.plain import to_json

    if isinstance(value, dict):
        return f"{{ {', '.join(f'{to_json(key)} = {_value(each)}' for key, each in value.items())} }}"
    return to_json(value)
