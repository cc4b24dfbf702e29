"""Learning a tree again and again: what changes, what keeps its id, what is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from germane import Database, InvalidArgument, Item, NotFound

from .conftest import Watch, Write, counts

GUIDE = """---
title: The guide
tags: [intro]
level: 1
---
Opening body.

## Start

Start body.

### Install

Install body.

## Use

Use body.
"""


@pytest.fixture
def guide(write: Write) -> Path:
    write("guide.md", GUIDE)
    write("other/notes.txt", "Notes body.\n")
    write("other/page.mdx", "import A from 'a'\n\n# Page\n\nPage body.\n")
    return write("one.md", "# One\n\nOne body.\n\n## Two\n\nTwo body.\n")


class TestFirst:
    def test_everything_is_learned(self, db: Database, tree: Path, guide: Path, watch: Watch) -> None:
        report = db.learn(tree)
        assert counts(report) == (8, 0, 0, 0)
        assert (report.documents, report.skipped, report.errors) == (4, (), ())
        assert watch.paths() == [
            "docs/guide.md",
            "docs/one.md",
            "docs/other/notes.txt",
            "docs/other/page.mdx",
        ]

    def test_a_document_and_its_sections(self, db: Database, tree: Path, guide: Path, watch: Watch) -> None:
        db.learn(tree, tags=["all"], collection="docs")
        document = db.document("docs/guide.md")
        assert (document.title, document.path) == ("The guide", "docs/guide.md")
        assert document.metadata == {"title": "The guide", "tags": ("intro",), "level": 1}
        opening, start, install, use = document.sections
        assert [place.level for place in document.sections] == [1, 2, 3, 2]
        assert [place.parent for place in document.sections] == [None, opening.id, start.id, opening.id]
        assert [place.lines for place in document.sections] == [(6, 6), (8, 10), (12, 14), (16, 18)]
        assert install.heading_path == ("The guide", "Start", "Install")
        item = db.get(install.id)
        assert (item.title, item.body, item.type, item.kind) == (
            "Install",
            "Install body.",
            "text/markdown",
            "section",
        )
        assert (item.tags, item.collection) == (("all", "intro"), "docs")
        assert item.metadata == document.metadata
        assert use.parent == opening.id

    def test_plain_text_and_mdx(self, db: Database, tree: Path, guide: Path, watch: Watch) -> None:
        db.learn(tree)
        (notes,) = db.document("docs/other/notes.txt").sections
        assert (notes.level, notes.heading_path, notes.lines) == (0, (), (1, 1))
        assert (db.get(notes.id).type, db.get(notes.id).body) == ("text/plain", "Notes body.\n")
        assert db.document("docs/other/notes.txt").title == "notes"
        (page,) = db.document("docs/other/page.mdx").sections
        assert (db.get(page.id).title, db.get(page.id).body, page.lines) == ("Page", "Page body.", (3, 5))


class TestAgain:
    def test_an_unchanged_tree_changes_nothing(
        self, db: Database, tree: Path, guide: Path, watch: Watch
    ) -> None:
        first = db.learn(tree)
        before = db.stats()
        report = db.learn(tree)
        assert counts(report) == (0, 0, first.added, 0)
        assert report.documents == first.documents
        assert db.stats() == before

    @pytest.mark.parametrize(
        ("old", "new", "changed"),
        [
            ("Install body.", "Another body.", ["Install"]),
            ("### Install", "### Install it", ["Install"]),
            ("## Start", "## Begin", ["Start"]),
            ("## Use", "Use\n---", []),
            ("Opening body.", "Opening body, more of it.", ["The guide"]),
            ("## Start\n\nStart body.", "\n\n\n## Start\n\nStart body.", []),
        ],
    )
    def test_an_edit_changes_the_rev_of_its_section_and_no_id(
        self,
        db: Database,
        tree: Path,
        guide: Path,
        write: Write,
        watch: Watch,
        old: str,
        new: str,
        changed: list[str],
    ) -> None:
        db.learn(tree)
        ids, revs = watch.ids("docs/guide.md"), watch.revs("docs/guide.md")
        assert old in GUIDE
        write("guide.md", GUIDE.replace(old, new))
        report = db.learn(tree)
        assert counts(report) == (0, len(changed), 8 - len(changed), 0)
        after = watch.revs("docs/guide.md")
        assert list(after) == list(revs)
        assert [id for id in revs if after[id] != revs[id]] == [ids[heading] for heading in changed]
        for heading in changed:
            assert db.get(ids[heading], rev=revs[ids[heading]]).rev == revs[ids[heading]]

    def test_a_chapter_title_in_front_matter_can_change(
        self, db: Database, tree: Path, guide: Path, write: Write, watch: Watch
    ) -> None:
        db.learn(tree)
        ids, revs = watch.ids("docs/guide.md"), watch.revs("docs/guide.md")
        write("guide.md", GUIDE.replace("title: The guide", "title: The manual"))
        db.learn(tree)
        after = watch.revs("docs/guide.md")
        assert list(after) == list(revs)
        assert [id for id in revs if after[id] != revs[id]] == [ids["The guide"]]
        assert db.document("docs/guide.md").title == "The manual"
        assert db.document("docs/guide.md").sections[2].heading_path == ("The manual", "Start", "Install")
        # All of them carry the front matter.
        assert {db.get(id).metadata["title"] for id in after} == {"The manual"}

    def test_a_chapter_title_in_a_heading_can_change(
        self, db: Database, tree: Path, guide: Path, write: Write, watch: Watch
    ) -> None:
        db.learn(tree)
        ids, revs = watch.ids("docs/one.md"), watch.revs("docs/one.md")
        write("one.md", "# Uno\n\nOne body.\n\n## Two\n\nTwo body.\n")
        assert counts(db.learn(tree)) == (0, 1, 7, 0)
        after = watch.revs("docs/one.md")
        assert list(after) == list(revs)
        assert [id for id in revs if after[id] != revs[id]] == [ids["One"]]
        assert db.document("docs/one.md").title == "Uno"
        assert [place.heading_path for place in db.document("docs/one.md").sections] == [
            ("Uno",),
            ("Uno", "Two"),
        ]

    def test_a_section_is_added_moved_and_removed(
        self, db: Database, tree: Path, guide: Path, write: Write, watch: Watch
    ) -> None:
        db.learn(tree)
        ids = watch.ids("docs/one.md")
        write("one.md", "# One\n\nOne body.\n\n## New\n\nNew body.\n\n## Two\n\nTwo body.\n")
        assert counts(db.learn(tree)) == (1, 0, 8, 0)
        assert {**watch.ids("docs/one.md"), **ids} == watch.ids("docs/one.md")
        write("one.md", "# One\n\nOne body.\n\n## Two\n\nTwo body.\n\n## New\n\nNew body.\n")
        assert counts(db.learn(tree)) == (0, 0, 9, 0)
        write("one.md", "# One\n\nOne body.\n\n## New\n\nNew body.\n")
        assert counts(db.learn(tree)) == (0, 0, 8, 1)
        with pytest.raises(NotFound):
            db.get(ids["Two"])
        assert db.search('"two body"').total == 0

    def test_a_section_that_comes_back_has_its_old_id(
        self, db: Database, tree: Path, guide: Path, write: Write, watch: Watch
    ) -> None:
        db.learn(tree)
        ids = watch.ids("docs/one.md")
        write("one.md", "# One\n\nOne body.\n")
        db.learn(tree)
        write("one.md", "# One\n\nOne body.\n\n## Two\n\nTwo body.\n")
        assert counts(db.learn(tree)) == (1, 0, 7, 0)
        assert watch.ids("docs/one.md") == ids

    def test_a_new_section_never_takes_a_living_id(
        self, db: Database, tree: Path, write: Write, watch: Watch
    ) -> None:
        write("a.md", "# A\n\nA body.\n\n## B\n\nB body.\n")
        db.learn(tree)
        ids = watch.ids("docs/a.md")
        write("a.md", "# A\n\nA body.\n\n## Renamed\n\nB body.\n")
        db.learn(tree)
        write("a.md", "# A\n\nA body.\n\n## Renamed\n\nB body.\n\n## B\n\nAnother body.\n")
        assert counts(db.learn(tree)) == (1, 0, 2, 0)
        after = watch.ids("docs/a.md")
        assert (after["A"], after["Renamed"]) == (ids["A"], ids["B"])
        assert after["B"] not in ids.values()

    def test_equal_headings_have_ids_of_their_own(
        self, db: Database, tree: Path, write: Write, watch: Watch
    ) -> None:
        write("a.md", "## Same\n\nbody\n\n## Same\n\nbody\n\n## Same\n\nbody\n")
        assert db.learn(tree).added == 3
        assert len(watch.revs("docs/a.md")) == 3


class TestGone:
    def test_a_file_that_is_gone_is_retired(
        self, db: Database, tree: Path, guide: Path, watch: Watch
    ) -> None:
        db.learn(tree)
        ids = watch.ids("docs/one.md")
        guide.unlink()
        report = db.learn(tree)
        assert (counts(report), report.documents) == ((0, 0, 6, 2), 3)
        with pytest.raises(NotFound):
            db.document("docs/one.md")
        assert db.search('"two body"').total == 0
        guide.write_text("# One\n\nOne body.\n\n## Two\n\nTwo body.\n")
        assert counts(db.learn(tree)) == (2, 0, 6, 0)
        assert watch.ids("docs/one.md") == ids

    def test_a_folder_that_is_gone_is_retired(
        self, db: Database, tree: Path, guide: Path, watch: Watch
    ) -> None:
        db.learn(tree)
        for path in (tree / "other").iterdir():
            path.unlink()
        (tree / "other").rmdir()
        assert db.learn(tree).removed == 2
        assert watch.paths() == ["docs/guide.md", "docs/one.md"]

    @pytest.mark.parametrize("content", [b"", b" \n", b"---\na: 1\n---\n", b"\0binary"])
    def test_a_file_that_is_empty_now(
        self, db: Database, tree: Path, guide: Path, watch: Watch, content: bytes
    ) -> None:
        db.learn(tree)
        ids = watch.ids("docs/one.md")
        guide.write_bytes(content)
        report = db.learn(tree)
        assert counts(report) == (0, 0, 6, 2)
        assert [entry.path for entry in report.skipped] == [str(guide)]
        assert db.document("docs/one.md").sections == ()
        assert counts(db.learn(tree)) == (0, 0, 6, 0)
        guide.write_text("# One\n\nOne body.\n\n## Two\n\nTwo body.\n")
        db.learn(tree)
        assert watch.ids("docs/one.md") == ids

    def test_a_renamed_file_is_another_document(
        self, db: Database, tree: Path, guide: Path, watch: Watch
    ) -> None:
        db.learn(tree)
        guide.rename(tree / "uno.md")
        assert counts(db.learn(tree)) == (2, 0, 6, 2)
        assert "docs/one.md" not in watch.paths()
        assert "docs/uno.md" in watch.paths()

    def test_a_file_that_became_a_folder(self, db: Database, tree: Path, guide: Path, watch: Watch) -> None:
        db.learn(tree)
        guide.unlink()
        (tree / "one.md").mkdir()
        (tree / "one.md" / "in.md").write_text("inner body")
        assert counts(db.learn(tree)) == (1, 0, 6, 2)
        assert "docs/one.md/in.md" in watch.paths()

    def test_a_single_file_retires_only_its_own_sections(
        self, db: Database, tree: Path, guide: Path, watch: Watch
    ) -> None:
        db.learn(tree)
        (tree / "guide.md").unlink()
        guide.write_text("# One\n\nOne body.\n")
        report = db.learn(guide)
        assert (counts(report), report.documents) == ((0, 0, 1, 1), 1)
        assert len(db.document("docs/guide.md").sections) == 4

    def test_learning_a_subfolder_leaves_the_rest_alone(
        self, db: Database, tree: Path, guide: Path, watch: Watch
    ) -> None:
        db.learn(tree)
        guide.unlink()
        (tree / "other" / "notes.txt").unlink()
        assert counts(db.learn(tree / "other")) == (0, 0, 1, 1)
        assert "docs/one.md" in watch.paths()
        assert db.learn(tree).removed == 2

    def test_sections_listed_elsewhere_stay(
        self, db: Database, tree: Path, guide: Path, watch: Watch
    ) -> None:
        db.learn(tree)
        kept = watch.ids("docs/one.md")["Two"]
        db.put_document("mine", title="Mine", sections=[db.get(kept)])
        guide.unlink()
        assert db.learn(tree).removed == 1
        assert db.get(kept).title == "Two"
        assert db.search('"two body"').items[0].docids == ("mine",)


class TestLabels:
    def test_tags_and_collection_of_a_relearn_apply_to_all(
        self, db: Database, tree: Path, guide: Path, watch: Watch
    ) -> None:
        db.learn(tree, tags=["a"])
        assert counts(db.learn(tree, tags=["b"], collection="c")) == (0, 8, 0, 0)
        assert db.stats().collections == {"c": 8}
        assert db.search("tag:a").total == 0
        assert db.search("tag:b").total == 8
        assert counts(db.learn(tree, tags=["b"], collection="c")) == (0, 0, 8, 0)

    def test_changed_front_matter_applies_to_its_sections(
        self, db: Database, tree: Path, guide: Path, write: Write, watch: Watch
    ) -> None:
        db.learn(tree)
        write("guide.md", GUIDE.replace("level: 1", "level: true"))
        assert counts(db.learn(tree)) == (0, 4, 4, 0)
        assert {repr(db.get(id).metadata["level"]) for id in watch.revs("docs/guide.md")} == {"True"}

    def test_an_update_survives_a_relearn_that_does_not_touch_its_section(
        self, db: Database, tree: Path, guide: Path, write: Write, watch: Watch
    ) -> None:
        db.learn(tree)
        ids = watch.ids("docs/guide.md")
        for heading in ("Use", "Install"):
            db.update(ids[heading], tags=["mine"], creator="ann", metadata={"stars": 5})
        db.learn(tree)
        write("guide.md", GUIDE.replace("Install body.", "Another body."))
        db.learn(tree)
        use, install = db.get(ids["Use"]), db.get(ids["Install"])
        assert (use.tags, use.creator, use.metadata["stars"]) == (("mine",), "ann", 5)
        # The edited section has the tags and metadata of its source again; its creator is not in there.
        assert (install.tags, install.creator) == (("intro",), "ann")
        assert "stars" not in install.metadata

    def test_created_at_stays_the_first(
        self, db: Database, tree: Path, guide: Path, write: Write, watch: Watch
    ) -> None:
        db.learn(tree)
        ids = watch.ids("docs/one.md")
        before = db.get(ids["Two"]).created_at
        write("one.md", "# One\n\nOne body.\n\n## Two\n\nTwo other body.\n")
        db.learn(tree)
        assert db.get(ids["Two"]).created_at == before

    def test_the_source_wins_over_a_put(
        self, db: Database, tree: Path, guide: Path, write: Write, watch: Watch
    ) -> None:
        db.learn(tree)
        two = watch.ids("docs/one.md")["Two"]
        db.put(Item(id=two, title="Two", body="Corrected body."))
        assert counts(db.learn(tree)) == (0, 0, 8, 0)
        assert db.get(two).body == "Corrected body."
        write("one.md", "# One\n\nOne edited body.\n\n## Two\n\nTwo body.\n")
        assert counts(db.learn(tree)) == (0, 2, 6, 0)
        assert db.get(two).body == "Two body."

    def test_a_section_deleted_by_hand_stays_away_until_its_source_changes(
        self, db: Database, tree: Path, guide: Path, write: Write, watch: Watch
    ) -> None:
        db.learn(tree)
        two = watch.ids("docs/one.md")["Two"]
        db.delete(two)
        assert counts(db.learn(tree)) == (0, 0, 7, 0)
        write("one.md", "# One\n\nOne edited body.\n\n## Two\n\nTwo body.\n")
        assert counts(db.learn(tree)) == (1, 1, 6, 0)
        assert watch.ids("docs/one.md")["Two"] == two

    def test_a_document_deleted_by_hand_comes_back_with_its_ids(
        self, db: Database, tree: Path, guide: Path, watch: Watch
    ) -> None:
        db.learn(tree)
        ids = watch.ids("docs/one.md")
        db.delete_document("docs/one.md")
        assert counts(db.learn(tree)) == (2, 0, 6, 0)
        assert watch.ids("docs/one.md") == ids


class TestArguments:
    @pytest.mark.parametrize(
        "path", ["nowhere", "x" * 300, "~nosuchuser/x", "a/\ud800", Path("nowhere"), "dangling", "loop"]
    )
    def test_what_is_not_there(self, db: Database, tree: Path, path: str | Path) -> None:
        (tree / "dangling").symlink_to("nowhere")
        (tree / "loop").symlink_to("loop")
        given = path if isinstance(path, str) and path.startswith("~") else tree / path
        with pytest.raises(NotFound, match=r"^there is no file or folder "):
            db.learn(given)
        with pytest.raises(NotFound):
            db.learn([tree, given])
        assert db.stats().events == 1

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"path_or_paths": ""}, "path_or_paths: '' is no path"),
            ({"path_or_paths": "a\0b"}, r"path_or_paths: 'a\x00b' is no path"),
            ({"path_or_paths": b"docs"}, "path_or_paths: must be a path or a list of paths, not bytes"),
            ({"path_or_paths": None}, "path_or_paths: must be a path or a list of paths, not NoneType"),
            ({"path_or_paths": ["/", 3]}, "path_or_paths: 3 is no path"),
            ({"tags": "x"}, "tags: must be a list of strings, not str"),
            ({"tags": [""]}, "tags: is empty: an id has 1 to 200 characters"),
            ({"collection": ""}, "collection: is empty: an id has 1 to 200 characters"),
            ({"watch": True}, "watch: is not available in this version: leave it at False"),
            ({"progress": 3}, "progress: must be callable, not int"),
        ],
    )
    def test_what_is_refused(
        self, db: Database, tree: Path, arguments: dict[str, object], message: str
    ) -> None:
        with pytest.raises(InvalidArgument) as caught:
            db.learn(**{"path_or_paths": tree, **arguments})  # type: ignore[arg-type]
        assert str(caught.value) == message
        assert db.stats().events == 1

    def test_paths_in_every_form(
        self, db: Database, tree: Path, guide: Path, watch: Watch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tree)
        monkeypatch.setenv("HOME", str(tree.parent))
        for form in (
            str(tree),
            tree,
            "~/docs",
            ".",
            "../docs",
            [tree, str(guide)],
            (path for path in [tree]),
        ):
            db.learn(form)  # type: ignore[arg-type]
        assert db.learn([]).documents == 0
        assert (db.stats().items, db.stats().documents) == (8, 4)

    def test_a_file_given_twice_is_learned_once(
        self, db: Database, tree: Path, guide: Path, watch: Watch
    ) -> None:
        (tree / "empty.md").touch()
        report = db.learn([tree, guide, tree / "other", tree])
        assert (counts(report), report.documents, len(report.skipped)) == ((8, 0, 0, 0), 4, 1)
