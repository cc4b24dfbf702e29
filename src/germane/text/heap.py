"""The best so far, as a heap whose worst is on top: what the kernels keep rows in."""

from __future__ import annotations

from germane.text.postings import Array


def is_worse(score: float, order: int, than_score: float, than_order: int) -> bool:
    """Tell whether one comes after another: by score, then by id."""
    return score < than_score or (score == than_score and order > than_order)


def sift_down(scores: Array, rows: Array, id_order: Array, size: int, at: int) -> None:
    """Restore a heap whose worst is on top, below one place."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and is_worse(
            scores[child + 1], id_order[rows[child + 1]], scores[child], id_order[rows[child]]
        ):
            child += 1
        if not is_worse(scores[child], id_order[rows[child]], scores[at], id_order[rows[at]]):
            return
        scores[at], scores[child] = scores[child], scores[at]
        rows[at], rows[child] = rows[child], rows[at]
        at = child


def push(scores: Array, rows: Array, id_order: Array, size: int, score: float, row: int) -> int:
    """Keep a row among the best, and return how many are kept."""
    if size == len(scores):
        if is_worse(score, id_order[row], scores[0], id_order[rows[0]]):
            return size
        scores[0] = score
        rows[0] = row
        sift_down(scores, rows, id_order, size, 0)
        return size
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        if not is_worse(score, id_order[row], scores[parent], id_order[rows[parent]]):
            break
        scores[at] = scores[parent]
        rows[at] = rows[parent]
        at = parent
    scores[at] = score
    rows[at] = row
    return size + 1


def worst_last(scores: Array, rows: Array, id_order: Array, size: int) -> None:
    """Bring a heap in order: its worst is taken off again and again, and fills the places from behind."""
    for left in range(size - 1, 0, -1):
        scores[0], scores[left] = scores[left], scores[0]
        rows[0], rows[left] = rows[left], rows[0]
        sift_down(scores, rows, id_order, left, 0)
