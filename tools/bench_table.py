#!/usr/bin/env python3
"""bench_table.py: print the JSON lines of benchmarks on standard input as a table.  tools/bench_table.py [OTHERS]
OTHERS has the lines of another commit, from the same run: the table then shows medians of both and their ratio."""
import json
import statistics
import sys

COLUMNS = ("group", "name", "store", "value", "unit", "floor", "ratio")
NUMBERS = ("value", "floor", "ratio", "before", "now", "now/before")


def cell(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def show(columns, rows):
    rows = [columns] + [[cell(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    for row in rows:
        texts = (text.rjust(width) if name in NUMBERS else text.ljust(width)
                 for text, width, name in zip(row, widths, columns))
        print("  ".join(texts).rstrip())


def medians(results):
    """By what was measured, in the order of the first."""
    values = {}
    for result in results:
        key = tuple(result.get(name) for name in ("group", "name", "store", "unit"))
        values.setdefault(key, []).append(result["value"])
    return {key: statistics.median(found) for key, found in values.items()}


def main():
    results = [json.loads(line) for line in sys.stdin if line.strip()]
    if len(sys.argv) == 1:
        show(COLUMNS, [[result.get(name) for name in COLUMNS] for result in results])
        return
    with open(sys.argv[1], encoding="utf-8") as file:
        before = medians(json.loads(line) for line in file if line.strip())
    now = medians(results)
    show(("group", "name", "store", "unit", "before", "now", "now/before"),
         [[*key, before[key], now[key], now[key] / before[key] if before[key] else None] for key in now if key in before])


if __name__ == "__main__":
    main()
