#!/usr/bin/env python3
"""bench_table.py: print the JSON lines of benchmarks on standard input as a table."""
import json
import sys

COLUMNS = ("group", "name", "store", "value", "unit", "floor", "ratio")


def cell(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def main():
    rows = [[cell(json.loads(line).get(name)) for name in COLUMNS] for line in sys.stdin if line.strip()]
    widths = [max(len(row[i]) for row in rows + [list(COLUMNS)]) for i in range(len(COLUMNS))]
    for row in [list(COLUMNS)] + rows:
        texts = (text.rjust(width) if name in ("value", "floor", "ratio") else text.ljust(width)
                 for text, width, name in zip(row, widths, COLUMNS))
        print("  ".join(texts).rstrip())


if __name__ == "__main__":
    main()
