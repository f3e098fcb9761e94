#!/usr/bin/env python3
"""Whether includes between the rooms under src/limber/ follow the table in docs/architecture.md. Usage: check_rooms.py ROOT"""

import re
import sys
from pathlib import Path


def read_table(page):
    """{room: rooms whose headers it may include}, from the rows | `room/` | what lives there | what it may include |."""
    table = {}
    for line in page.read_text().splitlines():
        row = re.match(r"\| `(\w+)/` \|.*\| ([^|]*) \|$", line)
        if row:
            table[row.group(1)] = set(re.findall(r"\w+", row.group(2))) - {"nothing"}
    return table


def main():
    root = Path(sys.argv[1])
    table = read_table(root / "docs/architecture.md")
    sources = root / "src/limber"
    wrong = [f"{room.name}/ has no row in docs/architecture.md" for room in sources.iterdir() if room.is_dir() and room.name not in table]
    wrong += [f"docs/architecture.md: there is no room {room}/" for room in table if not (sources / room).is_dir()]
    # A room may not be below one that it includes: the order of the table is that of the picture, from the top.
    order = list(table)
    for room, others in table.items():
        wrong += [f"docs/architecture.md: {room}/ may include {other}/, which comes after it" for other in others if other not in order[: order.index(room)]]
    for path in sorted([*sources.rglob("*.hpp"), *sources.rglob("*.cpp")]):
        if path.parent == sources:
            continue  # limber.hpp, the door of programs
        room = path.relative_to(sources).parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            included = re.match(r'#include "limber/(\w+)/', line)
            if included and included.group(1) not in table.get(room, set()) | {room}:
                wrong.append(f"{path.relative_to(root)}:{number}: {room}/ includes {included.group(1)}/")
    print("\n".join(wrong) if wrong else f"{len(table)} rooms: includes follow docs/architecture.md")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
