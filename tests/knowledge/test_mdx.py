"""Dropping the import and export statements of MDX."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.knowledge.mdx import drop_esm, hide_tags
from germane.knowledge.sections import cut_markdown


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("import A from 'a';\n\ntext", "text"),
        ("import A from 'a'\nimport { B } from \"b\"\n\ntext", "text"),
        ("import 'style.css'\n\ntext", "text"),
        ("import* as A from 'a'\n\ntext", "text"),
        ("export const a = 1;\n\ntext", "text"),
        ("export default ({ children }) => <div>{children}</div>\n\ntext", "text"),
        ("import {\n  A,\n  B,\n} from 'ab';\n\ntext", "text"),
        ("export const a = {\n\n  b: [\n\n  ],\n};\n\ntext", "text"),
        ("export function f() {\n  return 1;\n\n}\nstill\n\ntext", "text"),
        ("export const a = '{';\n\ntext", "text"),
        ("export const a = '\\'{'; // {\n\ntext", "text"),
        ("export const a = `{`;\n\ntext", "text"),
        ("# A\nimport A from 'a'\n\ntext", "# A text"),
        ("```\ncode\n```\nimport A from 'a'\n\ntext", "``` code ``` text"),
        # An open bracket that is never closed takes no more than its paragraph.
        ("export const a = {\n\ntext\n\nmore", "text more"),
        # Not at the beginning of a block, not a statement, or in a code block.
        ("text\nimport A from 'a'\n\nmore", "text import A from 'a' more"),
        ("importing is easy\n\ntext", "importing is easy text"),
        ("exports, too\n\ntext", "exports, too text"),
        ("```js\n\nimport A from 'a'\n\n```\ntext", "```js import A from 'a' ``` text"),
        ("~~~\n```\n\nimport A from 'a'\n~~~\n\nexport const b = 1", "~~~ ``` import A from 'a' ~~~"),
        ("````\n```\n\nimport A from 'a'\n````\n", "```` ``` import A from 'a' ````"),
        ("```not a `fence`\n\nimport A from 'a'\n\ntext", "```not a `fence` text"),
        ("  import A from 'a'\n\ntext", "import A from 'a' text"),
    ],
)
def test_statements(source: str, left: str) -> None:
    for newline in ("\n", "\r\n"):
        written = source.replace("\n", newline)
        assert " ".join(drop_esm(written).split()) == left
        assert drop_esm(written).count(newline) == written.count(newline)


def test_lines_stay_where_they_are() -> None:
    text = "---\ntitle: T\n---\nimport A from 'a';\n\nintro\n\nexport const b = 1;\n\n## Two\n\n<A b={b} />\n"
    opening, two = cut_markdown(text, is_mdx=True).sections
    assert (opening.body, two.lines, two.body) == ("intro", (10, 12), "<A b={b} />")
    assert "import" in cut_markdown(text).sections[0].body


@given(st.text(alphabet="import export{}()[]'\"`/\\\n\r\u2028# ~", max_size=80))
def test_only_whole_lines_are_blanked(text: str) -> None:
    before, after = text.split("\n"), drop_esm(text).split("\n")
    assert len(before) == len(after)
    assert all(new in (old, "", "\r") or set(new) == {"\r"} for old, new in zip(before, after, strict=True))
    assert drop_esm(drop_esm(text)) == drop_esm(text)


@pytest.mark.parametrize(
    "unit", ["import (\n\n", 'export const a = "\\"\n', "export `", "import '\n\n", "```\n"]
)
def test_hostile_statements(unit: str) -> None:
    """Each line is looked at a bounded number of times: with a look ahead to the end this took minutes."""
    assert drop_esm(unit * 20_000).count("\n") == (unit * 20_000).count("\n")


TABS = """# Guide

<Tabs>
  <Fragment slot="npm">
  ```shell
  # create a project

  # build it
  npm create
  ```
  </Fragment>
</Tabs>

## Next

<Box icon="list">
## In a box
</Box>

```astro
<Layout>
# in code
</Layout>
```
"""


def test_headings_between_tags() -> None:
    """Fails when headings are looked for in the source as CommonMark reads it: ``build it`` is one then."""
    cuts = cut_markdown(TABS, is_mdx=True).sections
    assert [cut.heading_path for cut in cuts] == [("Guide",), ("Guide", "Next"), ("Guide", "In a box")]
    assert [cut.lines for cut in cuts] == [(1, 12), (14, 16), (17, 24)]
    assert "<Fragment" in cuts[0].body
    assert "<Layout>" in cuts[2].body


def test_tags_of_plain_markdown_are_html() -> None:
    cuts = cut_markdown("<Box>\n## In a box\n</Box>\n\n## Next\n").sections
    assert [cut.title for cut in cuts] == [None, "Next"]


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("<A>\ntext", "   \ntext"),
        ("  </A.B>  \r\ntext", "          \r\ntext"),
        ('<A b="ü" c={d} />', "                  "),
        ("<A> text", "<A> text"),
        ("a < b >", "a < b >"),
        ("<A b={c => d} />", "<A b={c => d} />"),
        ("```\n<A>\n```\n<A>", "```\n<A>\n```\n   "),
    ],
)
def test_lines_that_hold_only_a_tag(source: str, left: str) -> None:
    assert hide_tags(source) == left


@given(st.text(alphabet="<>/Aa=\"'{} \t\n\r`~#ü", max_size=60))
def test_hiding_moves_no_byte(text: str) -> None:
    before, after = text.encode().split(b"\n"), hide_tags(text).encode().split(b"\n")
    assert [len(line) for line in before] == [len(line) for line in after]
