#!/usr/bin/env python3
"""move_pins.py: sets test/server/clients.json to the newest releases of the official SDKs that the registries have.

The release that was the newest before joins the older ones when it is of another minor version; `make test` runs the newest,
`make check` all. Run it, then both, and commit what it wrote.
"""
import json
import os
import re
import urllib.request

PINS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "server", "clients.json")
INDEXES = {"python": "https://pypi.org/pypi/durable-workflow/json", "rust": "https://index.crates.io/du/ra/durable-workflow"}


def newest(client):
    request = urllib.request.Request(INDEXES[client], headers={"User-Agent": "holdfast-tests"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read().decode()
    if client == "python":
        found = [version for version, files in json.loads(text)["releases"].items() if files and not files[0]["yanked"]]
    else:
        found = [one["vers"] for one in map(json.loads, text.splitlines()) if not one["yanked"]]
    released = [version for version in found if re.fullmatch(r"[0-9]+(\.[0-9]+)*", version)]
    return max(released, key=lambda version: [int(part) for part in version.split(".")])


def main():
    with open(PINS, encoding="utf-8") as file:
        pins = json.load(file)
    for client in INDEXES:
        before, after = pins[client], newest(client)
        if before.split(".")[:2] != after.split(".")[:2]:
            pins[client + "_older"].append(before)
        pins[client] = after
        print(f"{client}: {before} -> {after}" if before != after else f"{client}: {before} is the newest")
    with open(PINS, "w", encoding="utf-8") as file:
        json.dump(pins, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
