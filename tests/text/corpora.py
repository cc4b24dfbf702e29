"""Random small corpora and queries, for the comparison with the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import germane
from oracle.sections import Section

WORDS = (
    "the of and not was lamp lamps borrowing borrowed owner ownership running runs red blue zone über Häuser "
    "getUserById apply_secrets DEC-0054 v1.2.3 src/app/main.py HTTPServer don't l'eau naïve café 42 2nd x "
    "中文分词 中文 文 ひらがな 한국어 ภาษาไทย ทำงาน हिन्दी и собака собаки les maisons veri very"
).split()
LANGS = ("english", "german", "french", "russian", "chinese")
COLLECTIONS = ("main", "notes")
TAGS = ("draft", "done", "two words")
TYPES = ("text/markdown", "text/markdown", "text/plain", "text/x-python", "image/png")


@dataclass
class Corpus:
    """The same sections in a store and in the oracle."""

    db: germane.Database
    sections: list[Section]
    random: Random
    now: float


def phrase(random: Random, most: int) -> str:
    return " ".join(random.choice(WORDS) for _ in range(random.randint(0, most)))


def item(random: Random, id: str, langs: tuple[str, ...]) -> germane.Item:
    type = random.choice(TYPES)
    body = phrase(random, 14)
    if type == "text/markdown" and random.random() < 0.4:
        body += f"\n```python\n{phrase(random, 6)}\n```\n{phrase(random, 5)}"
    return germane.Item(
        id=id,
        title=phrase(random, 4) or None,
        description=phrase(random, 4) or None if random.random() < 0.3 else None,
        body=body,
        type=type,
        tags=random.sample(TAGS, random.randint(0, 2)),
        collection=random.choice(COLLECTIONS),
        lang=random.choice(langs) if random.random() < 0.7 else None,
        created_at=random.randint(0, 100) * 86_400,
    )


def section(item: germane.Item, docids: tuple[str, ...], default_lang: str) -> Section:
    assert item.id is not None
    assert isinstance(item.body, str)
    assert not isinstance(item.created_at, (int, float, type(None)))
    return Section(
        id=item.id,
        title=item.title,
        description=item.description,
        body=item.body,
        type=item.type,
        lang=item.lang or default_lang,
        tags=tuple(item.tags),
        docids=docids,
        collection=item.collection,
        created_at=item.created_at.timestamp(),
    )


def corpus(seed: int, in_segments: bool = False) -> Corpus:
    """Make a corpus by puts, changes, deletions and documents; the store keeps what is left.

    In segments, the index is read after every put, so that it grows and merges one by one.
    """
    random = Random(seed)
    langs = tuple(random.sample(LANGS, random.randint(1, 3)))
    default = random.choice(langs)
    now = 100.0 * 86_400
    db = germane.open(schema=germane.Schema(lang=default), clock=lambda: now)
    live: dict[str, germane.Item] = {}
    docids: dict[str, tuple[str, ...]] = {}
    for number in range(random.randint(1, 25)):
        made = item(random, f"{random.choice('aZé中')}{number}", langs)
        live[str(made.id)] = made
    for group in [[each] for each in live.values()] if in_segments else [list(live.values())]:
        db.put_many(group)
        db.stats()
    for id in random.sample(sorted(live), random.randint(0, len(live) // 2)):
        if random.random() < 0.5:
            db.delete(id)
            del live[id]
        else:
            live[id] = item(random, id, langs)
            db.put(live[id])
        if random.random() < 0.3 or in_segments:
            db.search("lamp")  # an index that was read in between
    listed = random.sample(sorted(live), random.randint(0, min(4, len(live))))
    if listed:
        db.put_document("guide", title="Guide", sections=[live[id] for id in listed])
        docids = dict.fromkeys(listed, ("guide",))
    return Corpus(db, [section(live[id], docids.get(id, ()), default) for id in live], random, now)


def query(random: Random) -> str:
    parts = []
    for _ in range(random.choice((1, 1, 2, 2, 3, 4, 6))):
        part = random.choice(WORDS)
        if random.random() < 0.2:
            part = '"' + " ".join(random.choice(WORDS) for _ in range(random.randint(1, 3))) + '"'
        if random.random() < 0.15:
            part = random.choice(("title:", "body:", "code:")) + part
        if random.random() < 0.2:
            part = random.choice("+-") + part
        if random.random() < 0.1:
            part = random.choice(
                ("tag:draft", 'tag:"two words"', "-tag:done", "type:text/plain", "doc:guide", "doc:none")
            )
        if random.random() < 0.03:
            part = random.choice(('"', "+", "-", "title:", "tag:", "foo:bar", "--x", "*"))
        parts.append(part)
    return " ".join(parts)


def weights(random: Random) -> dict[str, float]:
    if random.random() < 0.5:
        return {}
    return {
        "heading": random.choice((0.0, 0.5, 2.0, 7.0)),
        "body": random.choice((0.0, 1.0, 3.0)),
        "code": random.choice((0.0, 1.5)),
        "k1": random.choice((0.0, 0.4, 1.2, 5.0)),
        "b": random.choice((0.0, 0.3, 0.75, 1.0)),
        "proximity": random.choice((0.0, 1.0, 10.0)),
        "zone": random.choice((0.0, 0.5, 3.0)),
        "freshness": random.choice((0.0, 0.0, 2.0)),
        "half_life_days": random.choice((0.5, 30.0)),
    }
