"""``germane session``: begin a session of an agent, write to it, show it, end it, and read its audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from germane.faces.cli import store, values
from germane.faces.cli.failures import Misuse
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import counted, print_json, say

if TYPE_CHECKING:
    from datetime import datetime

    from germane.database import Database
    from germane.model.sessions import AuditEntry, SessionSnapshot

EXAMPLES = """\b
Examples:
  germane session start --agent curator-1 --user ann
  germane session annotate ID "prefers window seats"
  germane session signal ID reward lamp-7 --weight 2
  germane session show ID
  germane session close ID
  germane session audit ID --json
"""

_FORMS = {
    "start": "start --agent AGENT",
    "signal": "signal ID NAME ITEM",
    "annotate": "annotate ID TEXT",
    "show": "show ID",
    "close": "close ID",
    "audit": "audit [ID]",
}
_WORDS: dict[str, tuple[int, int | None]] = {
    "start": (0, 0), "signal": (3, 3), "annotate": (2, None), "show": (1, 1), "close": (1, 1),
    "audit": (0, 1),
}  # fmt: skip
"""How many words follow each action, at least and at most."""


def session(
    ctx: typer.Context,
    action: Annotated[str, typer.Argument(metavar="|".join(_FORMS), help="What to do.", show_default=False)],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID] [...]", help="The session, and what is written to it.", show_default=False
        ),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(metavar="AGENT", help="With start: who begins it.", show_default=False)
    ] = None,
    user: Annotated[
        str | None, typer.Option(metavar="NAME", help="With start: for whom.", show_default=False)
    ] = None,
    policy: Annotated[str, typer.Option(metavar="NAME", help="With start: what it may write.")] = "default",
    meta: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="With start: its metadata; may be repeated.", show_default=False
        ),
    ] = None,
    weight: Annotated[float, typer.Option(metavar="NUMBER", help="With signal: how much it counts.")] = 1.0,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="With signal: when; with show: as of when. ISO 8601 with a zone, or seconds since 1970.",
            show_default=False,
        ),
    ] = None,
    event_id: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="With signal: the same one again changes nothing.", show_default=False
        ),
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Begin, write to, show or end a session of an agent.

    What is done in a session counts for its user. 'germane search --session ID' and 'germane retrieve
    --session ID' rank by what it noted and did. A write that its policy refuses is put on record, and
    exits with 5.
    """
    given, told = Given.of(ctx, db, as_json), words or []
    least, most = _WORDS.get(action, (1, 0))
    if action not in _FORMS or len(told) < least or (most is not None and len(told) > most):
        forms = [_FORMS[action]] if action in _FORMS else list(_FORMS.values())
        raise Misuse("type " + ", or ".join(f"'germane session {form}'" for form in forms))
    moment = None if at is None else values.time(at, "at")
    if action == "start":
        if agent is None:
            raise Misuse("say who begins it: type 'germane session start --agent AGENT'")
        with store.existing(given.db) as database:
            begun = database.start_session(
                user=user, agent=agent, policy=policy, metadata=values.metadata(meta or ())
            )
            if given.as_json:
                print_json(begun.snapshot())
            else:
                say(begun.id)
    elif action in ("show", "audit"):
        with store.reading(given.db) as database:
            _show(given, database, action, told, moment)
    else:
        with store.existing(given.db) as database:
            found = database.session(told[0])
            if action == "close":
                _print_session(given, found.close())
                return
            if action == "signal":
                receipt = found.signal(told[1], told[2], weight, moment, event_id)
            else:
                receipt = found.annotate(" ".join(told[1:]))
        if given.as_json:
            print_json(receipt)
        elif action == "signal":
            what = f"{told[1]} on {told[2]}"
            say(f"{what} was recorded before." if receipt.duplicate else f"Recorded {what}.")
        else:
            say("Noted.")


def _show(
    given: Given, database: Database, action: str, told: list[str], moment: datetime | float | None
) -> None:
    if action == "show":
        _print_session(given, database.session(told[0]).snapshot(moment))
        return
    entries = database.audit(*told)
    if given.as_json:
        print_json(entries)
        return
    for entry in entries:
        say(_line(entry))


def _print_session(given: Given, shown: SessionSnapshot) -> None:
    if given.as_json:
        print_json(shown)
        return
    whose = f" for {shown.user}" if shown.user is not None else ""
    ended = f", ended {shown.closed_at:%Y-%m-%d %H:%M:%S}" if shown.closed_at is not None else ""
    say(f"{shown.id}: {shown.state}, by {shown.agent}{whose}, policy {shown.policy}")
    say(f"began {shown.started_at:%Y-%m-%d %H:%M:%S}{ended} (UTC)")
    say(f"{counted(shown.accepted, 'write')} accepted, {shown.refused:,} refused")
    if shown.keywords:
        say(f"keywords         {' '.join(shown.keywords)}")
    if shown.items:
        say(f"reward velocity  {shown.reward_velocity:.3f}")
    for id, net in shown.items.items():
        say(f"{net:>+9.3f}  {id}")


def _line(entry: AuditEntry) -> str:
    verdict = "ok" if entry.accepted else "refused"
    cause = f" ({entry.cause})" if entry.cause is not None else ""
    times = f" x{entry.count}" if entry.count > 1 else ""
    detail = " ".join(f"{name}={value}" for name, value in entry.detail.items() if name != "until")
    who = f"{entry.at:%Y-%m-%d %H:%M:%S}  {entry.session}  {entry.agent}"
    return f"{who}  {entry.action} {verdict}{cause}{times}  {detail}".rstrip()
