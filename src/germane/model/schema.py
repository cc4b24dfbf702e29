"""A schema: what a store declares about itself."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from germane.model.builtin import NAMES
from germane.model.errors import InvalidArgument, SchemaError, quoted
from germane.model.items import check_lang
from germane.model.policies import DEFAULT, Policy
from germane.model.profiles import Profile
from germane.model.signals import Signal
from germane.model.times import DAY, SECOND, to_duration
from germane.model.values import check_choice, neutral

_LEAST_RETENTION = 60 * SECOND
_GREATEST_RETENTION = 365_250 * DAY


class Schema:
    """Declarations of a store; immutable.

    Parameters
    ----------
    signals : iterable of Signal
        Kinds of behaviour, each name once.
    profiles : iterable of Profile
        Ranking recipes beside the built-in ones, each name and version once.
    policies : iterable of Policy
        What agents may do in sessions, each name once. ``default`` is there without being declared.
    synonyms
        Not available in this version.
    impressions : bool
        Whether what the latest pages showed is kept, for feedback on it.
    lang : str
        Language of items that name none: a name, code or tag.
    unknown_items : {"refuse", "accept"}
        What becomes of a signal on an item that was never put: `NotFound`, or it is kept, and is there when
        the item is put.
    retention : str, float, timedelta or None
        How long events are kept one by one, at least a minute; older ones are replaced by what they came
        to. None keeps all.

    Raises
    ------
    SchemaError
        A declaration cannot be used; the error names it.

    Examples
    --------
    >>> Schema([Signal("like", half_life="7d")], lang="de").signal("like").polarity
    1
    """

    __slots__ = ("impressions", "lang", "policies", "profiles", "retention", "signals", "unknown_items")

    impressions: bool
    lang: str
    policies: tuple[Policy, ...]
    profiles: tuple[Profile, ...]
    signals: tuple[Signal, ...]
    unknown_items: str
    retention: timedelta | None

    def __init__(
        self,
        signals: Iterable[Signal] = (),
        profiles: Iterable[Profile] = (),
        policies: Iterable[Policy] = (),
        *,
        lang: str = "english",
        synonyms: None = None,
        unknown_items: str = "refuse",
        retention: str | float | timedelta | None = None,
        impressions: bool = True,
    ) -> None:
        try:
            neutral(synonyms=(synonyms, None))
            name = check_lang(lang)
            check_choice(unknown_items, "unknown_items", ("refuse", "accept"))
            kept = None if retention is None else to_duration(retention, "retention")
        except InvalidArgument as error:
            raise SchemaError(error.field, error.message.partition(": ")[2]) from None
        if name is None:
            raise SchemaError("lang", "a store has a default language: give a name or code like 'english'")
        if not isinstance(impressions, bool):
            raise SchemaError("impressions", f"must be True or False, not {quoted(impressions)}")
        object.__setattr__(self, "impressions", impressions)
        if kept is not None and not _LEAST_RETENTION <= kept <= _GREATEST_RETENTION:
            raise SchemaError(
                "retention", f"{quoted(retention)} is out of range: from a minute to 1000 years"
            )
        object.__setattr__(self, "lang", name)
        object.__setattr__(self, "unknown_items", unknown_items)
        object.__setattr__(self, "retention", None if kept is None else timedelta(microseconds=kept))
        object.__setattr__(self, "signals", _signals(signals))
        object.__setattr__(self, "profiles", _profiles(profiles, self.signals))
        object.__setattr__(self, "policies", _policies(policies, self.signals))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a schema is immutable: make another instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a schema is immutable: make another without {name!r}")

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Schema], tuple[dict[str, Any]]]:
        return Schema.from_declaration, (self.declaration(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.declaration() == other.declaration()

    def __hash__(self) -> int:
        labels = tuple(profile.label for profile in self.profiles)
        return hash((self.lang, self.signals, self.unknown_items, self.retention, labels))

    def __repr__(self) -> str:
        profiles = f"{list(self.profiles)!r}, " if self.profiles else ""
        others = "".join(
            f", {name}={value!r}"
            for name, value in self.declaration().items()
            if name not in ("lang", "signals", "profiles", "policies")
        )
        if self.policies:
            others += f", policies={list(self.policies)!r}"
        return f"Schema({list(self.signals)!r}, {profiles}lang={self.lang!r}{others})"

    def signal(self, name: object) -> Signal:
        """Return the signal of a name.

        Raises
        ------
        InvalidArgument
            None is declared under it.
        """
        found = next((signal for signal in self.signals if signal.name == name), None)
        if found is None:
            names = ", ".join(signal.name for signal in self.signals) or "none"
            raise InvalidArgument("name", f"{quoted(name)} is no declared signal: declared are {names}")
        return found

    def policy(self, name: object) -> Policy:
        """Return the policy of a name.

        Raises
        ------
        InvalidArgument
            There is none.
        """
        found = next((policy for policy in self.policies if policy.name == name), None)
        if found is None and name == DEFAULT.name:
            return DEFAULT
        if found is None:
            names = ", ".join(dict.fromkeys([DEFAULT.name, *(policy.name for policy in self.policies)]))
            raise InvalidArgument("policy", f"{quoted(name)} is no policy: there are {names}")
        return found

    def declaration(self) -> dict[str, Any]:
        """Return the schema as plain data, as `from_declaration` takes it."""
        data: dict[str, Any] = {"lang": self.lang}
        if self.unknown_items != "refuse":
            data["unknown_items"] = self.unknown_items
        if self.retention is not None:
            data["retention"] = self.retention.total_seconds()
        data["signals"] = [signal.declaration() for signal in self.signals]
        if not self.impressions:
            data["impressions"] = False
        if self.profiles:
            data["profiles"] = [profile.declaration() for profile in self.profiles]
        if self.policies:
            data["policies"] = [policy.declaration() for policy in self.policies]
        return data

    @classmethod
    def of(cls, given: object) -> Schema:
        """Return a schema, or the one that a TOML file declares.

        Raises
        ------
        InvalidArgument
            It is neither a schema nor a path.
        """
        if isinstance(given, Schema):
            return given
        if isinstance(given, (str, Path)):
            return cls.from_toml(given)
        raise InvalidArgument(
            "schema", f"must be a Schema or the path of a TOML file, not {type(given).__name__}"
        )

    @classmethod
    def from_declaration(cls, data: dict[str, Any]) -> Schema:
        """Return a schema from plain data.

        Raises
        ------
        SchemaError
            A name that no schema has, or a value that cannot be used.
        """
        known = (
            "signals",
            "profiles",
            "policies",
            "lang",
            "synonyms",
            "unknown_items",
            "retention",
            "impressions",
        )
        for name in data:
            if name not in known:
                raise SchemaError(name, f"is nothing a schema declares: it declares {', '.join(known)}")
        lists = {name: tuple(data[name]) for name in known[:3] if isinstance(data.get(name), list)}
        if "signals" in lists:
            lists["signals"] = tuple(Signal.from_declaration(each) for each in lists["signals"])
        if "profiles" in lists:
            lists["profiles"] = tuple(Profile.from_declaration(each) for each in lists["profiles"])
        if "policies" in lists:
            lists["policies"] = tuple(Policy.from_declaration(each) for each in lists["policies"])
        return cls(**{**data, **lists})

    @classmethod
    def from_toml(cls, path: str | Path) -> Schema:
        """Return the schema that a TOML file declares.

        Raises
        ------
        SchemaError
            The file cannot be read, is not TOML, or declares what no schema has.
        """
        try:
            with Path(path).open("rb") as file:
                return cls.from_declaration(tomllib.load(file))
        except OSError as error:
            raise SchemaError("schema", f"{path} cannot be read: {error.strerror}") from None
        except SchemaError:
            raise
        except (ValueError, RecursionError) as error:  # also numbers and nesting that are too much for it
            raise SchemaError("schema", f"{str(path)!r} is not TOML: {error}") from None


def _signals(given: object) -> tuple[Signal, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SchemaError("signals", f"must be a list of Signal, not {type(given).__name__}")
    signals = tuple(given)
    names: set[str] = set()
    for number, signal in enumerate(signals):
        if not isinstance(signal, Signal):
            raise SchemaError(f"signals[{number}]", f"must be a Signal, not {type(signal).__name__}")
        if signal.name in names:
            raise SchemaError(f"signals[{number}].name", f"{signal.name!r} is declared twice")
        names.add(signal.name)
    return signals


def _profiles(given: object, signals: tuple[Signal, ...]) -> tuple[Profile, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SchemaError("profiles", f"must be a list of Profile, not {type(given).__name__}")
    profiles = tuple(given)
    labels: set[str] = set()
    for number, profile in enumerate(profiles):
        if not isinstance(profile, Profile):
            raise SchemaError(f"profiles[{number}]", f"must be a Profile, not {type(profile).__name__}")
        if profile.name in NAMES:
            raise SchemaError(f"profiles[{number}].name", f"{profile.name!r} is a built-in profile")
        if profile.label in labels:
            raise SchemaError(f"profiles[{number}].version", f"{profile.label!r} is declared twice")
        labels.add(profile.label)
        profile.check_signals(signals)
    return profiles


def _policies(given: object, signals: tuple[Signal, ...]) -> tuple[Policy, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SchemaError("policies", f"must be a list of Policy, not {type(given).__name__}")
    policies, names = tuple(given), set[str]()
    known = {signal.name for signal in signals}
    for number, policy in enumerate(policies):
        if not isinstance(policy, Policy):
            raise SchemaError(f"policies[{number}]", f"must be a Policy, not {type(policy).__name__}")
        if policy.name in names:
            raise SchemaError(f"policies[{number}].name", f"{policy.name!r} is declared twice")
        names.add(policy.name)
        for name in policy.allowed_signals or ():
            if name not in known:
                raise SchemaError(f"policy.{policy.name}.allowed_signals", f"{name!r} is no declared signal")
    return policies
