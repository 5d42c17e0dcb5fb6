"""Rows out of the JSON documents of attn and scripts/peers, sorted by what can be drawn of them. Standard library only."""
import json
import pathlib


class DocumentFault(Exception):
    """A file that cannot be read, or holds no rows; the message says which and why."""


def read(path):
    """The document in a file; JSON Lines too."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
        document = json.loads(text)
    except OSError as error:
        raise DocumentFault(f"{path}: {error.strerror}") from error
    except json.JSONDecodeError:
        document = _read_lines(path, text)
    if not isinstance(document, dict) or not isinstance(document.get("results"), list):
        raise DocumentFault(f"{path}: expected a document of attn, found no results")
    return document


def _read_lines(path, text):
    try:
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise DocumentFault(f"{path}: line {error.lineno}: {error.msg}") from error
    if not lines or not isinstance(lines[0], dict):
        raise DocumentFault(f"{path}: expected a document of attn, found nothing")
    return {**lines[0], "results": lines[1:]}


def rows_of(paths):
    """All rows of all files, each with the name of its file as "file"; and the ceilings that `attn env` measured, by name."""
    rows, ceilings = [], {}
    for path in paths:
        for row in read(path)["results"]:
            if "ceiling" in row:
                ceilings[row["ceiling"]] = row["value"]
            else:
                rows.append({**row, "file": pathlib.Path(path).stem})
    return rows, ceilings


def kind_of(row):
    """Which panel draws a row; None where none does."""
    if row.get("status", "passed") != "passed":
        return None
    if row.get("experiment") == "figure":
        return "weights" if "weights" in row or "weights_by_head" in row else None
    if "jacobian_norm" in row:
        return "gradients"
    if "top_weight_scaled" in row:
        return "scaling"
    if not isinstance(row.get("time_s"), dict):
        return None
    return "layer" if "part" in row else "time"


KINDS = ("time", "scaling", "gradients", "layer", "weights")


def by_kind(rows, only):
    """{kind: rows} in the order of KINDS, those of `only` where it names some. "file" stays where rows of a kind come from several."""
    groups = {}
    for kind in KINDS:
        group = [row for row in rows if kind_of(row) == kind and (not only or kind in only)]
        if len({row["file"] for row in group}) == 1:
            group = [{**row, "file": ""} for row in group]
        if group:
            groups[kind] = group
    return groups
