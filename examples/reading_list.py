"""An agent curates a reading list over a tree of documentation, and its next search knows what it did.

python examples/reading_list.py                  # over this project's own docs/
python examples/reading_list.py PATH QUERY...    # over any folder of Markdown
"""

from __future__ import annotations

import sys
from pathlib import Path

import germane
from germane import Page, Policy, Schema, Session, SessionWeights, Signal

SIGNALS = [Signal("reward", half_life="7d"), Signal("dislike", half_life="7d", polarity=-1)]
CURATOR = Policy(
    "curator",
    allowed_signals=["reward", "dislike"],
    max_annotations=3,
    rate_per_minute=60,
    max_duration="1h",
    retention="7d",
)
BY_WORDS = SessionWeights(keywords="words")
SHOWN = 5


def main(folder: Path, query: str) -> None:
    """Search, note and judge, and search again."""
    with germane.open(schema=Schema(SIGNALS, policies=[CURATOR])) as db:
        report = db.learn(folder)
        print(f"Learned {report.added} sections of {folder.name}/.\n")
        session = db.start_session(user="reader", agent="curator-1", policy="curator")
        before = db.search(query, session=session, limit=SHOWN)
        show(f"First search for {query!r}", before)

        # The second result is what the reader needs, and the first is not.
        good, bad = before.items[1], before.items[0]
        print(f"\nThe agent rewards {good.heading!r}, dislikes {bad.heading!r}, and notes why.\n")
        session.annotate(f"a reading list on {good.heading}")
        session.signal("reward", good.id, 2.0)
        session.signal("dislike", bad.id)
        try:
            session.signal("view", good.id)
        except germane.InvalidArgument as error:
            print(f"(What the schema does not declare is an error: {error})")

        again = db.search(query, session=session, session_weights=BY_WORDS, limit=SHOWN, explain=True)
        show("The same search, for the session", again)
        tell(session)
        print("\nAudit:")
        for entry in db.audit(session):
            print(f"  {entry.at:%H:%M:%S} {entry.action:<9} {'ok' if entry.accepted else 'refused'}")


def show(title: str, page: Page) -> None:
    """Print a page, with what the session has to do with each result."""
    print(title)
    for rank, result in enumerate(page.items, 1):
        print(f"  {rank}. {result.raw:6.3f}  {result.heading}  ({result.path})")
        for reason in result.reasons:
            if reason.code == "SessionContext":
                words = ", ".join(reason.detail["keywords"]) or "no keyword"
                print(f"       {reason.code}: {reason.detail['contribution']:+.3f} ({words})")
            elif reason.code == "SessionEntity":
                print(f"       {reason.code}: {reason.detail['contribution']:+.3f}")


def tell(session: Session) -> None:
    """Close the session, and print what it came to."""
    snapshot = session.close()
    print(f"\nThe session ended with the keywords {' '.join(snapshot.keywords)},")
    print(f"a reward velocity of {snapshot.reward_velocity:.3f}, and:")
    for id, net in snapshot.items.items():
        print(f"  {net:+.2f}  {id}")


if __name__ == "__main__":
    docs = Path(__file__).resolve().parents[1] / "docs"
    wanted = " ".join(sys.argv[2:]) or "how are views rebuilt from the log"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else docs, wanted)
