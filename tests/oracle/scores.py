"""The formulas, as published."""

import math

SECONDS_A_DAY = 86400.0


def idf(sections: int, df: int) -> float:
    return math.log((sections - df + 0.5) / (df + 0.5) + 1)


def field_score(weight: float, tf: int, length: int, mean_length: float, k1: float, b: float) -> float:
    """What `tf` occurrences of a word with this idf add in a field of this length."""
    return weight * (tf * (k1 + 1)) / (tf + k1 * (1 - b + b * length / mean_length))


def proximity(occurrences: list[list[int]]) -> float:
    """How close the words of a query stand together.

    Parameters
    ----------
    occurrences : list of list of int
        The positions of each of the n words; empty for a word that does not occur.
    """
    n = len(occurrences)
    m = sum(bool(positions) for positions in occurrences)
    if n < 2 or m < 2:
        return 0.0
    return max(((j - 1) / least_span(occurrences, j)) * (j / n) for j in range(2, m + 1))


def least_span(occurrences: list[list[int]], j: int) -> int:
    """The least last - first position of a window that holds j of the words, at least j - 1."""
    spans = []
    for start in (position for positions in occurrences for position in positions):
        nexts = [[position for position in positions if position >= start] for positions in occurrences]
        nearest = sorted(min(positions) for positions in nexts if positions)
        if len(nearest) >= j:
            spans.append(nearest[j - 1] - start)
    return max(min(spans), j - 1)


def zone(occurrences: list[list[int]], token_count: int) -> float:
    """The share of the words that occur in the first fifth of the section."""
    early = [any(5 * position < token_count for position in positions) for positions in occurrences]
    return sum(early) / len(occurrences)


def freshness(created_at: float, now: float, half_life_days: float) -> float:
    age_days = max(0.0, (now - created_at) / SECONDS_A_DAY)
    return float(2.0 ** (-age_days / half_life_days))
