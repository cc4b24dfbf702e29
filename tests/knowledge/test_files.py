"""Whatever lies in a folder: names in any encoding, links, pipes, broken and hostile files."""

from __future__ import annotations

import os
import random
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Database, InvalidArgument, Skipped
from germane.knowledge.files import LARGEST, decode, find, from_location, location, shown

from .conftest import Watch, Write, counts


def reasons(entries: tuple[Skipped, ...]) -> dict[str, str]:
    """Names of the files to what is said of them."""
    return {Path(entry.path).name: entry.reason for entry in entries}


NAMES = [
    b"caf\xe9.md", b"caf\\xe9.md", "café.md".encode(), unicodedata.normalize("NFD", "café.md").encode(),
    b"\xff\xfe.md", b"with space .md", b"new\nline.md", b"tab\t\x01\x7f.md", b"-dash.md", b"#hash?.md",
    b"q\"uote'.md", b"back\\slash.md", "日本語 🦀.md".encode(), b"n" * 250 + b".md",
    "é".encode() * 120 + b".md",
    b"UPPER.MD", b"two.dots.md", b"%41.md",
]  # fmt: skip


class TestNames:
    @pytest.mark.parametrize("name", NAMES, ids=repr)
    def test_a_file_is_known_under_its_name_for_good(
        self, db: Database, tree: Path, write: Write, watch: Watch, name: bytes
    ) -> None:
        path = write(name, "# Heading\n\nbody\n")
        assert counts(db.learn(tree)) == (1, 0, 0, 0)
        (result,) = db.search("body").items
        assert result.path == f"docs/{shown(path.name)}"
        assert db.document(result.docids[0]).path == result.path
        path.write_bytes(b"# Other heading\n\nbody\n")
        assert counts(db.learn(tree)) == (0, 1, 0, 0)
        assert db.search("body").items[0].id == result.id
        path.unlink()
        assert counts(db.learn(tree)) == (0, 0, 0, 1)

    def test_all_of_them_at_once(self, db: Database, tree: Path, write: Write, watch: Watch) -> None:
        for number, name in enumerate(NAMES):
            write(name, f"# Heading {number}\n\nbody\n")
        assert db.learn(tree).added == len(NAMES)
        assert counts(db.learn(tree)) == (0, 0, len(NAMES), 0)
        assert len({result.docids for result in db.search("body", limit=100).items}) == len(NAMES)

    @pytest.mark.parametrize(
        "name", [b"caf\xe9", b"new\nline", b"a b", b"n" * 250, "日本".encode()], ids=repr
    )
    def test_a_folder_is_known_under_its_name_for_good(
        self, db: Database, tree: Path, write: Write, watch: Watch, name: bytes
    ) -> None:
        """A folder that is learned itself, one below it, and a single file: again and again."""
        path = write(name + b"/" + name + b"/a.md", "# A\n\nbody\n")
        folder = path.parent.parent
        assert counts(db.learn(folder)) == (1, 0, 0, 0)
        assert counts(db.learn(folder)) == (0, 0, 1, 0)
        assert counts(db.learn(path)) == (0, 0, 1, 0)
        path.write_bytes(b"# B\n\nbody\n")
        assert counts(db.learn(path.parent)) == (0, 1, 0, 0)
        path.unlink()
        assert counts(db.learn(path.parent)) == (0, 0, 0, 1)
        with_root = db.stats().events
        db.learn(folder)
        assert db.stats().events == with_root

    def test_what_is_printed_is_text(self, db: Database, tree: Path, write: Write) -> None:
        write(b"caf\xe9.png", b"\0")
        write(b"caf\xe9.md", "")
        progress: list[str] = []
        report = db.learn(tree, progress=lambda done, total, path: progress.append(path))
        for text in (*progress, *(entry.path for entry in report.skipped)):
            text.encode()
        assert sorted(reasons(report.skipped)) == ["caf\\xe9.md", "caf\\xe9.png"]

    @given(st.binary(max_size=60))
    def test_a_location_leads_back_to_its_path(self, name: bytes) -> None:
        path = Path(os.fsdecode(b"/" + name.replace(b"\0", b"")))
        location(path).encode()
        assert from_location(location(path)) == path


class TestRoots:
    def test_two_folders_of_the_same_name(self, db: Database, tree: Path, watch: Watch) -> None:
        for number in range(3):
            folder = tree / str(number) / "x"
            folder.mkdir(parents=True)
            (folder / "a.md").write_text("# A\n\nbody\n")
            db.learn(folder)
        assert watch.paths() == ["x-2/a.md", "x-3/a.md", "x/a.md"]
        assert db.stats().items == 3
        assert counts(db.learn([tree / "1" / "x", tree / "0" / "x"])) == (0, 0, 2, 0)

    def test_a_name_that_another_root_took(self, db: Database, tree: Path, watch: Watch) -> None:
        for name in ("0/x", "1/x-2", "2/x"):
            folder = tree / name
            folder.mkdir(parents=True)
            (folder / "a.md").write_text("# A\n\nbody\n")
            db.learn(folder)
        assert watch.paths() == ["x-2/a.md", "x-3/a.md", "x/a.md"]

    def test_a_file_belongs_to_the_deepest_root(
        self, db: Database, tree: Path, write: Write, watch: Watch
    ) -> None:
        single = write("one/two/single.md", "# Single\n\nbody\n")
        write("one/two/b.md", "# B\n\nbody\n")
        write("one/a.md", "# A\n\nbody\n")
        write("top.md", "# Top\n\nbody\n")
        db.learn(single)
        assert watch.paths() == ["two/single.md"]
        db.learn(tree / "one")
        assert watch.paths() == ["one/a.md", "two/b.md", "two/single.md"]
        db.learn(tree)
        expected = ["docs/top.md", "one/a.md", "two/b.md", "two/single.md"]
        assert watch.paths() == expected
        for path, sections in ((tree / "one" / "two", 2), (tree / "one", 3), (single, 1), (tree, 4)):
            assert counts(db.learn(path)) == (0, 0, sections, 0)
        assert watch.paths() == expected
        single.unlink()
        assert counts(db.learn(tree)) == (0, 0, 3, 1)

    def test_the_root_of_the_file_system_has_a_name(self, tmp_path: Path) -> None:
        assert location(Path("/")) == "/"
        assert find(tmp_path, None).files == []

    def test_a_docid_taken_by_another_document(
        self, db: Database, tree: Path, write: Write, watch: Watch
    ) -> None:
        db.learn_text("# Mine\n\nbody\n", docid="docs/a.md")
        write("a.md", "# A\n\nbody\n")
        assert counts(db.learn(tree)) == (1, 0, 0, 0)
        assert counts(db.learn(tree)) == (0, 0, 1, 0)
        assert db.document("docs/a.md").path is None
        assert db.stats().documents == 2
        assert watch.paths() == ["", "docs/a.md"]


class TestLinks:
    def test_loops_and_second_ways(self, db: Database, tree: Path, write: Write, watch: Watch) -> None:
        write("z/real/a.md", "# A\n\nbody\n")
        (tree / "a-link").symlink_to("z/real")
        (tree / "z" / "real" / "up").symlink_to("../..")
        (tree / "z" / "self").symlink_to(".")
        report = db.learn(tree)
        assert watch.paths() == ["docs/z/real/a.md"]
        assert report.added == 1
        assert reasons(report.skipped) == dict.fromkeys(
            ("a-link", "up", "self"), "a second way to a folder that was entered already"
        )
        assert report.errors == ()

    def test_a_link_that_leads_out_keeps_its_own_name(self, db: Database, tree: Path, watch: Watch) -> None:
        outside = tree.parent / "outside"
        outside.mkdir()
        (outside / "a.md").write_text("# A\n\nbody\n")
        (tree / "in").symlink_to(outside)
        (tree / "file.md").symlink_to(outside / "a.md")
        (tree.parent / "b.md").write_text("# B\n\nbody\n")
        (tree / "b.md").symlink_to(tree.parent / "b.md")
        assert db.learn(tree).added == 2  # file.md is a link to what was found behind the other
        assert watch.paths() == ["docs/b.md", "docs/in/a.md"]

    def test_a_folder_that_moves_behind_a_link(
        self, db: Database, tree: Path, write: Write, watch: Watch
    ) -> None:
        """What was learned under a link's name is retired when the folder is found under its own."""
        outside = tree.parent / "outside"
        outside.mkdir()
        (outside / "a.md").write_text("# A\n\nbody\n")
        (tree / "in").symlink_to(outside)
        db.learn(tree)
        outside.rename(tree / "own")
        (tree / "in").unlink()
        (tree / "in").symlink_to("own")
        assert counts(db.learn(tree)) == (1, 0, 0, 1)
        assert watch.paths() == ["docs/own/a.md"]

    def test_dangling_links_and_links_to_themselves(
        self, db: Database, tree: Path, write: Write, watch: Watch
    ) -> None:
        write("a.md", "# A\n\nbody\n")
        (tree / "dangling.md").symlink_to("nowhere")
        (tree / "loop.md").symlink_to("loop.md")
        report = db.learn(tree)
        assert report.added == 1
        assert reasons(report.errors) == {
            "dangling.md": "cannot be opened: No such file or directory",
            "loop.md": "cannot be opened: Too many levels of symbolic links",
        }


class TestFiles:
    def test_what_is_skipped(self, db: Database, tree: Path, write: Write, watch: Watch) -> None:
        for name in ("picture.png", "script.py", "no-suffix", "data.json"):
            write(name, "body")
        write("empty.md", "")
        write("blank.txt", " \n\t\n")
        write("binary.md", b"\x89PNG\0\0body")
        write("data.md", "---\nlevel: 1\n---\n")
        for name in (".hidden.md", ".git/config.md", "sub/.obsidian/a.md"):
            write(name, "# Hidden\n\nbody\n")
        write("README", "body")
        write("LICENSE-MIT", "body")
        report = db.learn(tree)
        assert watch.paths() == ["docs/LICENSE-MIT", "docs/README"]
        assert reasons(report.skipped) == {
            "picture.png": "a format that is not learned (.png)",
            "script.py": "a format that is not learned (.py)",
            "no-suffix": "a format that is not learned (without a suffix)",
            "data.json": "a format that is not learned (.json)",
            "empty.md": "is empty",
            "blank.txt": "is empty",
            "binary.md": "is binary, not text",
            "data.md": "holds no text",
        }
        assert report.errors == ()

    def test_a_file_asked_for_by_name_is_an_error(self, db: Database, write: Write) -> None:
        path = write("script.py", "body")
        assert reasons(db.learn(path).errors) == {"script.py": "a format that is not learned (.py)"}

    def test_a_hidden_file_asked_for_by_name_stays(
        self, db: Database, tree: Path, write: Write, watch: Watch
    ) -> None:
        write("a.md", "# A\n\nbody\n")
        hidden = write(".notes/b.md", "# B\n\nbody\n")
        db.learn(tree)
        assert counts(db.learn(hidden)) == (1, 0, 0, 0)
        assert counts(db.learn(tree)) == (0, 0, 1, 0)
        assert watch.paths() == ["docs/.notes/b.md", "docs/a.md"]
        hidden.unlink()
        assert counts(db.learn(tree)) == (0, 0, 1, 1)

    def test_a_pipe_does_not_block(self, db: Database, tree: Path, write: Write, watch: Watch) -> None:
        write("a.md", "# A\n\nbody\n")
        os.mkfifo(tree / "pipe.md")
        report = db.learn(tree)
        assert (report.added, reasons(report.skipped)) == (1, {"pipe.md": "is no regular file"})
        assert reasons(db.learn(tree / "pipe.md").skipped) == {"pipe.md": "is no regular file"}

    def test_a_file_that_cannot_be_read_keeps_its_sections(
        self, db: Database, tree: Path, write: Write, watch: Watch
    ) -> None:
        """The memory of this process is a regular file whose first byte nobody can read."""
        path = write("a.md", "# A\n\nbody\n")
        write("b.md", "# B\n\nbody\n")
        db.learn(tree)
        path.unlink()
        path.symlink_to("/proc/self/mem")
        report = db.learn(tree)
        assert counts(report) == (0, 0, 1, 0)
        assert reasons(report.errors)["a.md"].startswith("cannot be ")
        assert watch.paths() == ["docs/a.md", "docs/b.md"]

    def test_a_folder_that_cannot_be_entered_keeps_its_sections(
        self, db: Database, tree: Path, write: Write, watch: Watch
    ) -> None:
        write("sub/a.md", "# A\n\nbody\n")
        write("b.md", "# B\n\nbody\n")
        db.learn(tree)
        (tree / "sub").rename(tree.parent / "away")
        (tree / "sub").symlink_to("sub")
        report = db.learn(tree)
        assert counts(report) == (0, 0, 1, 0)
        assert reasons(report.errors) == {"sub": "cannot be opened: Too many levels of symbolic links"}
        assert watch.paths() == ["docs/b.md", "docs/sub/a.md"]

    def test_a_file_that_is_too_large_is_not_read(
        self, db: Database, tree: Path, write: Write, watch: Watch
    ) -> None:
        path = write("large.txt", "body")
        db.learn(tree)
        os.truncate(path, LARGEST + 1)
        report = db.learn(tree)
        assert reasons(report.errors) == {"large.txt": "is larger than 256 MiB: split it"}
        assert watch.paths() == ["docs/large.txt"]

    def test_a_file_of_many_megabytes(self, db: Database, tree: Path, write: Write, watch: Watch) -> None:
        part = "## Heading {}\n\nbody " + "x" * 8_000 + "\n\n"
        path = write("large.md", "".join(part.format(number) for number in range(700)))
        assert path.stat().st_size > 5 << 20
        assert db.learn(tree).added == 700
        assert counts(db.learn(tree)) == (0, 0, 700, 0)

    def test_the_store_inside_the_tree(self, tree: Path, write: Write) -> None:
        write("a.md", "# A\n\nbody\n")
        (tree.parent / "way").symlink_to(tree)
        for root in (tree, tree.parent / "way"):
            with germane.open(tree / "store") as db:
                (tree / "store" / "notes.md").write_text("# Not for learning\n")
                report = db.learn(root)
                assert (report.documents, report.skipped, report.errors) == (1, (), ())
                assert db.learn(tree / "store").documents == 0


class TestEncodings:
    @pytest.mark.parametrize(
        ("data", "text"),
        [
            ("# Café\n".encode(), "# Café\n"),
            (b"\xef\xbb\xbf# Caf\xc3\xa9\n", "# Café\n"),
            ("# Café 🦀\n".encode("utf-16"), "# Café 🦀\n"),
            (b"\xfe\xff" + "# Café\n".encode("utf-16-be"), "# Café\n"),
            ("# Café 🦀\n".encode("utf-32"), "# Café 🦀\n"),
            (b"\0\0\xfe\xff" + "# Café\n".encode("utf-32-be"), "# Café\n"),
            (b"", ""),
            (b"\xff\xfe\0", None),
            (b"\xff\xfe\0\xd8", None),
            (b"text\0", None),
            (b"\xef\xbb\xbf\xff", None),
        ],
    )
    def test_text_and_what_is_none(self, data: bytes, text: str | None) -> None:
        assert decode(data) == (text, None)

    def test_latin_1_is_said(self, db: Database, tree: Path, write: Write, watch: Watch) -> None:
        write("a.md", "# Café\n\nbody\n".encode("latin-1"))
        report = db.learn(tree)
        assert reasons(report.errors) == {"a.md": "is no UTF-8 (at byte 5): read as Latin-1"}
        assert db.search("café").items[0].title == "Café"

    def test_utf_16_is_learned(self, db: Database, tree: Path, write: Write, watch: Watch) -> None:
        write("a.md", "---\r\ntitle: T\r\n---\r\n# Größe\r\n\r\nbody\r\n".encode("utf-16"))
        assert (db.learn(tree).errors, db.document("docs/a.md").title) == ((), "T")
        assert db.search("größe").items[0].lines == (4, 6)

    @given(st.binary(max_size=60))
    def test_any_bytes(self, data: bytes) -> None:
        text, assumed = decode(data)
        assert text is None or text.encode() is not None
        assert text is not None or assumed is None


def test_random_files_never_stop_the_learning(db: Database, tree: Path, write: Write, watch: Watch) -> None:
    rng = random.Random(11)
    pieces = [
        b"# h\n",
        b"---\n",
        b"a: 1\n",
        b"a: [\n",
        b"\xe9",
        b"\0",
        b"\xff\xfe",
        b"```\n",
        b"import a\n",
        b"> # x\n",
    ]
    for number in range(150):
        suffix = rng.choice(["md", "mdx", "txt", "MARKDOWN"])
        data = b"".join(rng.choice([rng.choice(pieces), rng.randbytes(6)]) for _ in range(rng.randrange(12)))
        write(f"{number}.{suffix}", data)
    first = db.learn(tree)
    assert first.documents + len({entry.path for entry in first.skipped}) >= 150
    again = db.learn(tree)
    assert counts(again) == (0, 0, first.added, 0)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "path: must name a folder"),
        ("a\0b", "path: must name a folder"),
        (3, "path: must be a string or a Path, not int"),
        (b"store", "path: must be a string or a Path, not bytes"),
        ("~nosuchuser/store", "path: '~nosuchuser/store': there is no such user"),
        ("a\ud800", r"path: 'a\ud800' cannot be the name of a folder"),
        ("n" * 300, f"path: '{'n' * 96}... is too long a name"),
    ],
)
def test_folders_that_no_store_can_have(path: str, message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        germane.open(path)
    assert str(caught.value) == message
