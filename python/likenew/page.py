"""What notebooks show: a sentence, lines and a table, in the notebook's own colors, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

LEFT = '"text-align: left"'


def html_of(summary: str, lines: Iterable[str] = (), headings: Sequence[str] = (), rows: Iterable[Sequence[str]] = ()) -> str:
    """A piece of a page without scripts and style sheets, all of whose text is escaped.

    >>> html_of("5 < 6")
    '<div><p><b>5 &lt; 6</b></p></div>'
    """
    parts = [f"<p><b>{escape(summary)}</b></p>"]
    parts += [f"<p>{escape(line)}</p>" for line in lines]
    if rows := list(rows):
        parts.append(
            f"<table><thead>{_row('th', headings)}</thead><tbody>{''.join(_row('td', row) for row in rows)}</tbody></table>"
        )
    return f"<div>{''.join(parts)}</div>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag} style={LEFT}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def screen_table(table: Mapping[str, Any] | None) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of the table of a first screen; what share a value is of another is a cell of its own."""
    if table is None:
        return [], []
    has_shares = any("share" in row for row in table["rows"])
    rows = [
        [*row["cells"], *([f"{row['share']:.0%}" if row.get("share") is not None else ""] if has_shares else [])]
        for row in table["rows"]
    ]
    return table["headings"], rows
