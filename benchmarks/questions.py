"""What readers of three documentation trees would type, and the sections that answer it."""

from __future__ import annotations

from typing import NamedTuple


class Question(NamedTuple):
    """A search as typed.

    Parameters
    ----------
    text : str
    kind : {"question", "words", "identifier", "phrase"}
    answers : tuple of (str, str)
        End of the path, and heading, of each section that answers it.
    remark : str
        What a review of the first page found, where it is not as a reader would wish.
    """

    text: str
    kind: str
    answers: tuple[tuple[str, str], ...]
    remark: str = ""


_RUST = (
    Question(
        "what is ownership",
        "question",
        (
            ("ch04-01-what-is-ownership.md", "What Is Ownership?"),
            ("ch04-00-understanding-ownership.md", "Understanding Ownership"),
        ),
    ),
    Question(
        "how do I return an error instead of panicking",
        "question",
        (
            ("ch09-02-recoverable-errors-with-result.md", "Propagating Errors"),
            ("ch09-02-recoverable-errors-with-result.md", "The ? Operator Shortcut"),
            (
                "ch12-03-improving-error-handling-and-modularity.md",
                "Returning a Result Instead of Calling panic!",
            ),
        ),
        remark=(
            "`panicked` in the output of programs, counted as code, lifts two sections about "
            "panicking above the answer."
        ),
    ),
    Question(
        "unwrap_or_else",
        "identifier",
        (
            ("ch13-01-closures.md", "Capturing the Environment"),
            ("ch13-01-closures.md", "Moving Captured Values Out of Closures"),
            (
                "ch12-03-improving-error-handling-and-modularity.md",
                "Calling Config::build and Handling Errors",
            ),
        ),
    ),
    Question(
        "Rc<RefCell<T>>",
        "identifier",
        (("ch15-05-interior-mutability.md", "Allowing Multiple Owners of Mutable Data"),),
        remark=(
            "The first result is printed output that repeats `RefCell`, counted as code; `<` joins "
            "nothing, so there is no whole."
        ),
    ),
    Question(
        '"orphan rule"',
        "phrase",
        (
            ("ch10-02-traits.md", "Implementing a Trait on a Type"),
            ("ch20-02-advanced-traits.md", "Implementing External Traits with the Newtype Pattern"),
        ),
    ),
    Question(
        "difference between String and &str",
        "question",
        (
            ("ch08-02-strings.md", "Defining Strings"),
            ("ch04-03-slices.md", "String Slices"),
            ("ch04-03-slices.md", "String Slices as Parameters"),
        ),
    ),
    Question(
        "cannot borrow as mutable more than once at a time",
        "words",
        (("ch04-02-references-and-borrowing.md", "Mutable References"),),
    ),
    Question(
        "run a single test by name",
        "words",
        (
            ("ch11-02-running-tests.md", "Running Single Tests"),
            ("ch11-02-running-tests.md", "Running a Subset of Tests by Name"),
        ),
    ),
    Question(
        "share a Mutex between threads with Arc",
        "words",
        (("ch16-03-shared-state.md", "Atomic Reference Counting with Arc<T>"),),
    ),
    Question(
        "async move block",
        "words",
        (("ch17-02-concurrency-with-async.md", "Moving Ownership Into an Async Block"),),
    ),
)

_ASTRO = (
    Question(
        "how do I use environment variables",
        "question",
        (
            ("guides/environment-variables.mdx", "Using environment variables"),
            ("guides/environment-variables.mdx", "Getting environment variables"),
        ),
        remark="The first result is about one adapter, by `VARIABLE` in a code block.",
    ),
    Question(
        "getStaticPaths",
        "identifier",
        (("reference/routing-reference.mdx", "getStaticPaths()"),),
        remark="The first result has the name in its heading too, and a longer code block.",
    ),
    Question(
        "client:load",
        "identifier",
        (("reference/directives-reference.mdx", "client:load"),),
    ),
    Question(
        "deploy to GitHub Pages",
        "words",
        (
            ("guides/deploy/github.mdx", "Deploy your Astro Site to GitHub Pages"),
            ("guides/deploy/github.mdx", "How to deploy"),
        ),
    ),
    Question(
        "add an RSS feed",
        "words",
        (("recipes/rss.mdx", "Add an RSS feed"), ("recipes/rss.mdx", "Setting up @astrojs/rss")),
        remark="The first result is of the same page, and has `rss` in code beside heading and prose.",
    ),
    Question(
        '"server islands"',
        "phrase",
        (
            ("guides/server-islands.mdx", "Server islands"),
            ("guides/server-islands.mdx", "Server island components"),
            ("concepts/islands.mdx", "Server islands"),
        ),
        remark=(
            "The phrase is found inside `serverIslandBodySizeLimit`, whose parts are words; in code "
            "it outweighs the guide."
        ),
    ),
    Question(
        "ImageMissingAlt",
        "identifier",
        (("reference/errors/image-missing-alt.mdx", 'Image missing required "alt" property.'),),
    ),
    Question(
        "Astro.cookies.set",
        "identifier",
        (("reference/api-reference.mdx", "cookies.set()"),),
        remark=(
            "The heading is `cookies.set()`: it holds neither the whole that was typed nor `astro`, "
            "and others have the words in code."
        ),
    ),
    Question(
        "migrate from Next.js",
        "words",
        (("guides/migrate-to-astro/from-nextjs.mdx", "Migrating from Next.js"),),
    ),
    Question(
        "why is my component not interactive",
        "question",
        (
            ("guides/troubleshooting.mdx", "My component is not interactive"),
            ("guides/framework-components.mdx", "Hydrating interactive components"),
        ),
    ),
)

_EIPS = (
    Question(
        "base fee is burned",
        "words",
        (
            ("eip-1559.md", "Fee market change for ETH 1.0 chain"),
            ("eip-1559.md", "Simple Summary"),
            ("eip-1559.md", "Abstract"),
            ("eip-1559.md", "Motivation"),
            ("eip-1559.md", "ETH Burn Precludes Fixed Supply"),
        ),
        remark=(
            "EIP-1559, whose abstract says it in these words, stands behind sections that have the "
            "words in identifiers of code blocks (`base_fee_per_gas`), which count as code beside "
            "their prose."
        ),
    ),
    Question(
        "EIP-4844",
        "identifier",
        (("eip-4844.md", "Shard Blob Transactions"), ("eip-4844.md", "Abstract")),
        remark=(
            "A proposal does not name its own number in its text, and neither the path nor other "
            "front matter than title and description is searched: only sections that refer to it are "
            "found."
        ),
    ),
    Question(
        "blob gas price update",
        "words",
        (("eip-4844.md", "Gas accounting"), ("eip-4844.md", "Base fee per blob gas update rule")),
        remark="The section with the rule in its heading stands further down, behind code blocks.",
    ),
    Question(
        "eth_getProof",
        "identifier",
        (
            ("eip-1186.md", "RPC-Method to get Merkle Proofs - eth_getProof"),
            ("eip-1186.md", "eth_getProof"),
        ),
    ),
    Question(
        "how does chain id prevent replay attacks",
        "question",
        (("eip-155.md", "Simple replay attack protection"), ("eip-155.md", "Specification")),
        remark=(
            "EIP-155 is far down: its title has two of the words, its sections do not inherit the "
            "title, and code blocks with `replay_id` and `chain_id` come first."
        ),
    ),
    Question(
        "set code for an externally owned account",
        "words",
        (
            ("eip-7702.md", "Set Code for EOAs"),
            ("eip-7702.md", "Abstract"),
            ("eip-7702.md", "Set code transaction"),
        ),
        remark=(
            "EIP-7702 calls it an EOA in its title; its abstract has every word in prose and stands "
            "behind code blocks that hold two."
        ),
    ),
    Question(
        "SELFDESTRUCT only in the same transaction",
        "words",
        (
            ("eip-6780.md", "SELFDESTRUCT only in same transaction"),
            ("eip-6780.md", "Abstract"),
            ("eip-6780.md", "Specification"),
        ),
    ),
    Question(
        "discover multiple injected wallets",
        "words",
        (("eip-6963.md", "Multi Injected Provider Discovery"), ("eip-6963.md", "Abstract")),
        remark=(
            "The first result is of the right proposal, but the section of its title has an empty "
            "snippet although it has a description."
        ),
    ),
    Question(
        "what does an EIP editor do",
        "question",
        (("eip-1.md", "EIP Editor Responsibilities"),),
        remark="The two before it are about editors, too.",
    ),
    Question(
        "TLOAD TSTORE transient storage",
        "identifier",
        (
            ("eip-1153.md", "Transient storage opcodes"),
            ("eip-1153.md", "Abstract"),
            ("eip-1153.md", "Specification"),
        ),
        remark=(
            "Code blocks of two proposals that change the opcodes come before the proposal that defines them."
        ),
    ),
)

QUESTIONS = {"rust-book": _RUST, "astro-docs": _ASTRO, "eips": _EIPS}
"""Tree to ten questions."""
