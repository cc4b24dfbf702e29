"""``germane tune``: weights that would have been better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json, say
from germane.faces.cli.progress import bar
from germane.faces.cli.verbs.replay import At, File, Rename, Sample, Seed, told
from germane.faces.cli.verbs.schema import toml

if TYPE_CHECKING:
    from germane.evaluation import Tuned

EXAMPLES = """\b
Examples:
  germane tune my_profile
  germane tune my_profile --metric hr --at 20 --json
  germane tune for_you log.jsonl
"""


def tune(
    ctx: typer.Context,
    profile: Annotated[str, typer.Argument(metavar="PROFILE", help="With weights.", show_default=False)],
    file: File = None,
    metric: Annotated[
        str, typer.Option(metavar="NAME", help="What to gain in: ndcg, hr, recall, mrr or first.")
    ] = "ndcg",
    at: At = 10,
    sample: Sample = 500,
    seed: Seed = 0,
    rename: Rename = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Propose weights for a profile, and write nothing.

    They are chosen between 60 and 80 % of the log and judged on the rest. The proposal is printed as TOML for
    the schema. For for_you, users with history alone are asked: without any it is another formula.
    """
    from germane.evaluation import tune as run

    given = Given.of(ctx, db, as_json)
    story = told(given.db, file, rename)
    with bar() as shown:
        found = run(
            story, profile, metric=metric, at=at, limit=sample or None, seed=seed,
            progress=lambda done, total: shown.count("replaying", done, total),
        )  # fmt: skip
    if given.as_json:
        print_json(found.plain())
        return
    _print(found)


def _print(found: Tuned) -> None:
    gain, name = found.gain, f"{found.metric}@{found.k}"
    say(f"chosen:  {name} {found.validation[0]:.4f} -> {found.validation[1]:.4f}")
    say(
        f"judged:  {name} {found.before:.4f} -> {found.after:.4f} on {found.cases:,} later cases, "
        f"{gain.mean:+.4f} ({gain.low:+.4f} to {gain.high:+.4f})"
    )
    say("better, as far as these can tell" if found.is_better else "not surely better: keep what you have")
    say()
    say(toml({"profiles": [found.profile.declaration()]}))
