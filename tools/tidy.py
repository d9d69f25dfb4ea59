#!/usr/bin/env python3
"""tidy.py: what the house style (STYLE.md) can have checked by a machine.

    tools/tidy.py [--build DIR] [--update] [--only CHECK,..]    check this tree
    tools/tidy.py --self-test                                    check the checks, on samples that must be caught

Prints one line per problem, `file:line: text`, and exits 1 when there is one. Long files and long functions are
listed, not refused. --update rewrites tools/symbols.txt from the libraries in DIR.
Each check is a function of a tree that yields (path, line, text); CHECKS at the end names them.
"""
import argparse
import concurrent.futures
import fnmatch
import os
import re
import subprocess
import sys

# ---- tables

# What each layer may include, besides itself and the public headers of include/holdfast.
LAYERS = {
    "base": (),
    "model": ("base",),
    "store": ("base", "model"),
    "commit": ("base", "model", "store"),
    "intake": ("base", "model", "store", "commit"),
    "task": ("base", "model", "store", "commit"),
    "decide": ("base", "model", "store", "commit"),
    "project": ("base", "model", "store", "commit"),
    "verify": ("base", "model", "store"),
    "replay": ("base", "model"),
    "engine": ("base", "model", "store", "commit", "intake", "task", "decide", "project", "verify", "replay",
               "client"),
    "client": ("base",),
    "worker": ("base", "replay", "client"),
    "http": ("base",),
    "server": ("base", "client", "http"),
    "cli": ("base", "client", "server"),
}

# Calls that only src/base may make, by what to use instead.
BANNED = {
    "base/alloc.h or base/mem.h": "malloc calloc realloc reallocarray free strdup strndup asprintf vasprintf",
    "base/log.h, or a status with a text": "printf vprintf puts putchar perror stdout stderr",
    "a status, or HF_ASSERT": "exit _exit _Exit quick_exit abort",
    "base/clock.h": "time clock clock_gettime gettimeofday",
    "base/rng.h": "rand srand rand_r random srandom getrandom getentropy",
    "base/buf.h or base/slice.h": "strcpy strcat strncpy strncat sprintf vsprintf gets strtok strtok_r",
    "a condition with a deadline": "sleep usleep nanosleep",
}

# Files that may make a banned call all the same: pattern, names, reason.
ALLOWED = [
    ("src/cli/*", "printf vprintf puts putchar stdout stderr", "the command line prints: it is what it is for"),
    ("src/store/sqlite_path.c", "free", "realpath allocates with the C library"),
]

# Drivers may speak to their engine in literals: pattern, how such a text begins. They may SELECT from catalogues
# only: a statement that names one of our tables belongs in a .sql file.
SQL_ALLOWED = [
    ("src/store/db_sqlite*.[ch]", "PRAGMA|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SELECT"),
    ("src/store/sqlite_*.[ch]", "PRAGMA|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SELECT"),
    ("src/store/db_postgres*.[ch]", "BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|LISTEN|SELECT|CREATE SCHEMA"),
    ("src/store/pg_*.[ch]", "BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|LISTEN|SELECT"),
    ("src/http/request.c", "DELETE"),  # the method
    ("src/cli/cmd_*.c", "DELETE"),
    ("src/cli/keeper.c", "DELETE"),
    ("src/engine/remote.c", "DELETE"),
]
# Wraps a question that a person asks.
SQL_COMPOSED = {"src/engine/sql.c"}
SQL_FIRST = ("SELECT INSERT UPDATE DELETE CREATE ALTER DROP TRUNCATE REPLACE VACUUM ATTACH DETACH PRAGMA BEGIN COMMIT "
             "ROLLBACK SAVEPOINT RELEASE SET LISTEN NOTIFY WITH EXPLAIN").split()
SQL_START = re.compile(r"^\s*(%s)\b" % "|".join(SQL_FIRST))
SQL_INSIDE = re.compile(r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\S+\s+SET|CREATE\s+(TABLE|INDEX)|"
                        r"WHERE\s+\S+\s*(=|<|>|IN\b|IS\b))")

# Words that betray unfinished work. This list and its samples are the only places that may hold them.
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|\b(?i:not (yet )?implemented|stub(s|bed)?)\b")
UNFINISHED_EXEMPT = ("tools/tidy.py", "test/tools/test_tidy.py", "test/*/data/*", "test/*/corpus/*")

# Libraries whose headers ours may include.
LIBRARIES = "sqlite3 libpq libcrypto inih libzstd libssl libevent_core zlib libcurl".split()

FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70


# ---- reading C

class Tree:
    """The files of a repository, read once. `build` is a build folder for what is generated and linked."""

    def __init__(self, root, build):
        self.root = root
        self.build = build
        self.paths = self._list()
        self._texts = {}

    def _list(self):
        try:
            out = subprocess.run(["git", "-C", self.root, "ls-files", "-co", "--exclude-standard", "-z"],
                                 capture_output=True, check=True).stdout.decode()
            found = [path for path in out.split("\0") if path]
        except (OSError, subprocess.CalledProcessError):  # a release archive is no repository
            found = []
            for folder, folders, names in os.walk(self.root):
                folders[:] = [name for name in folders if name not in (".git", "build")]
                found += [os.path.relpath(os.path.join(folder, name), self.root) for name in names]
        return sorted(path for path in found if os.path.isfile(os.path.join(self.root, path)))

    def match(self, *patterns):
        return [path for path in self.paths if any(fnmatch.fnmatch(path, pattern) for pattern in patterns)]

    def text(self, path):
        if path not in self._texts:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                self._texts[path] = file.read()
        return self._texts[path]

    def tokens(self, path):
        return c_tokens(self.text(path))


C_TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<char>'(?:\\.|[^'\\\n])*')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?\d[\w.]*)
  | (?P<space>\s+|\\\n)
  | (?P<mark>->|.)
""", re.S | re.X)


def c_tokens(text):
    """(kind, text, line) of C source, without comments and white space."""
    line = 1
    for match in C_TOKEN.finditer(text):
        if match.lastgroup not in ("comment", "space"):
            yield match.lastgroup, match.group(), line
        line += match.group().count("\n")


def c_directives(text):
    """(line, text) of preprocessor lines, continuation lines joined, comments cut."""
    plain = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    number = 0
    lines = iter(plain.split("\n"))
    for line in lines:
        number += 1
        if not line.lstrip().startswith("#"):
            continue
        first = number
        while line.endswith("\\"):
            line = line[:-1] + " " + next(lines, "")
            number += 1
        yield first, line.strip()


# ---- checks

def check_layers(tree):
    """Includes go down only."""
    for path in tree.match("src/*.c", "src/*.h", "src/*.def", "include/*.h", "include/*.def"):
        layer = path.split("/")[1] if path.startswith("src/") else "holdfast"
        if layer != "holdfast" and layer not in LAYERS:
            yield path, 1, f"the layer {layer} is not in the table of tools/tidy.py"
            continue
        allowed = {layer, "holdfast"} | set(LAYERS.get(layer, ()))
        for line, text in c_directives(tree.text(path)):
            match = re.match(r"#\s*include\s*[\"<]([^\">]+)[\">]", text)
            if not match:
                continue
            target = match.group(1)
            if target.startswith("."):
                yield path, line, f"include {target} by its place below src/ or include/"
                continue
            folder = target.split("/")[0]
            ours = "/" in target and (folder in LAYERS or folder == "holdfast")
            if ours and folder not in allowed:
                yield path, line, f"{layer} must not include {target}: that climbs the layers"
            if '"' in text and not ours:
                yield path, line, f"\"{target}\" names no layer: write \"{layer}/{target}\""


def check_calls(tree):
    """Calls that belong to base."""
    instead = {name: what for what, names in BANNED.items() for name in names.split()}
    for path in tree.match("src/*.c", "src/*.h", "include/*.h"):
        if path.startswith("src/base/"):
            continue
        allowed = {name for pattern, names, _ in ALLOWED if fnmatch.fnmatch(path, pattern) for name in names.split()}
        tokens = list(tree.tokens(path))
        for at, (kind, text, line) in enumerate(tokens):
            if kind != "name" or text not in instead or text in allowed:
                continue
            called = at + 1 < len(tokens) and tokens[at + 1][1] == "("
            member = at > 0 and tokens[at - 1][1] in (".", "->")
            declared = at > 0 and tokens[at - 1][0] == "name" and tokens[at - 1][1] not in ("return", "else", "do")
            if text in ("stdout", "stderr") or (called and not member and not declared):
                yield path, line, f"{text} is for src/base alone: use {instead[text]}"


def check_macros(tree):
    """No macro hides control flow. The row of a list is no such macro: it lives from its #define over the
    #include of a .def file to its #undef."""
    for path in tree.match("src/*.c", "src/*.h", "src/*.def", "include/*.h", "tools/*.c"):
        directives = list(c_directives(tree.text(path)))
        for at, (line, text) in enumerate(directives):
            match = re.match(r"#\s*define\s+(\w+)", text)
            words = {word for kind, word, _ in c_tokens(text) if kind == "name"}
            if not match or not words & {"return", "goto"}:
                continue
            rest = [later for _, later in directives[at + 1:]]
            end = next((i for i, later in enumerate(rest) if re.match(rf"#\s*undef\s+{match.group(1)}\b", later)), 0)
            if not any(re.match(r"#\s*include\s+\"\S+\.def\"", later) for later in rest[:end]):
                yield path, line, f"the macro {match.group(1)} hides a return or goto"


def check_sql(tree):
    """SQL lives in .sql files."""
    tables = {name for path in tree.match("src/store/sql/migrations/*.sql")
              for name in re.findall(r"CREATE TABLE (\w+)", tree.text(path))}
    ours = re.compile(r"\b(FROM|JOIN)\s+(%s)\b" % "|".join(sorted(tables) or ["-"]), re.I)
    for path in tree.match("src/*.c", "src/*.h", "include/*.h"):
        if path in SQL_COMPOSED:
            continue
        begins = next((words for pattern, words in SQL_ALLOWED if fnmatch.fnmatch(path, pattern)), None)
        literal, start = "", 0
        for kind, text, line in list(tree.tokens(path)) + [("end", "", 0)]:
            if kind == "string":  # neighbours are one literal
                start = start if literal else line
                literal += text[1:-1]
                continue
            first = SQL_START.match(literal) and literal != "DELETE"  # alone, a method of HTTP
            spoken = begins and re.match(rf"\s*({begins})\b", literal) and not ours.search(literal)
            if (first or SQL_INSIDE.search(literal)) and not spoken:
                yield path, start, "SQL in a string literal: give it a file in src/store/sql"
            literal = ""


def check_statements(tree):
    """Every statement is used."""
    names = {name for path in tree.match("src/*.c", "src/*.h", "src/*.def")
             for name in re.findall(r"\bHF_(?:STMT|PIECE)_\w+", tree.text(path))}
    for path in tree.match("src/store/sql/common/*.sql", "src/store/sql/sqlite/*.sql", "src/store/sql/postgres/*.sql"):
        name = "HF_STMT_" + os.path.basename(path)[:-len(".sql")].upper()
        if name not in names:
            yield path, 1, f"nothing in src uses {name}"
    for path in tree.match("src/store/sql/pieces/*.sql"):
        for line, text in enumerate(tree.text(path).splitlines(), 1):
            piece = re.match(r"-- piece (\w+)$", text)
            if piece and "HF_PIECE_" + piece.group(1).upper() not in names:
                yield path, line, f"nothing in src uses the piece {piece.group(1)}"


def check_guards(tree):
    """Header guards are HF_DIR_FILE_H (HOLDFAST_FILE_H for public headers)."""
    for path in tree.match("src/*.h", "include/*.h", "test/lib/*.h"):
        short = re.sub(r"^(src|include)/", "", path)
        want = re.sub(r"\W", "_", short).upper()
        want = want if path.startswith("include/") else "HF_" + want
        found = re.search(r"^#ifndef (\w+)\n#define \1\b", tree.text(path), re.M)
        if not found or found.group(1) != want:
            yield path, 1, f"the guard must be {want}"


def check_headers(tree):
    """Every header compiles alone, and twice; public headers also as C++."""
    flags = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-D_POSIX_C_SOURCE=200809L",
             "-I" + os.path.join(tree.root, "src"), "-I" + os.path.join(tree.root, "include"),
             "-I" + os.path.join(tree.build, "gen")]
    flags += subprocess.run(["pkg-config", "--cflags"] + LIBRARIES, capture_output=True, text=True).stdout.split()

    def compile_one(job):
        path, command = job
        name = re.sub(r"^(src|include)/", "", path)
        source = f'#include "{name}"\n#include "{name}"\ntypedef int tidy_is_not_empty;\n'
        done = subprocess.run(command + flags + ["-"], input=source, capture_output=True, text=True)
        return path, done.returncode, done.stderr

    jobs = [(path, ["gcc", "-x", "c", "-std=c17"]) for path in tree.match("src/*.h", "include/*.h")]
    jobs += [(path, ["g++", "-x", "c++", "-std=c++17"]) for path in tree.match("include/*.h")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, code, errors in pool.map(compile_one, jobs):
            if code:
                first = next((text for text in errors.split("\n") if "error" in text), errors[:200])
                yield path, 1, f"does not compile alone: {first}"


def check_format(tree):
    """clang-format decides about white space."""
    paths = tree.match("src/*.c", "src/*.h", "include/*.h", "test/*.c", "test/*.h", "tools/*.c", "tools/*.h")
    if not paths:
        return
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", "--ferror-limit=1"] + paths, cwd=tree.root,
                          capture_output=True, text=True)
    for path, line in re.findall(r"^([^:\n]+):(\d+):\d+: error: code should be clang-formatted", done.stderr, re.M):
        yield path, int(line), "clang-format would change this file"
    if done.returncode and "clang-formatted" not in done.stderr:
        yield ".clang-format", 1, f"clang-format failed: {done.stderr[:200]}"


def check_words(tree):
    """Nothing betrays unfinished work."""
    for path in tree.paths:
        if any(fnmatch.fnmatch(path, pattern) for pattern in UNFINISHED_EXEMPT):
            continue
        for number, line in enumerate(tree.text(path).split("\n"), 1):
            match = UNFINISHED.search(line)
            if match:
                yield path, number, f"unfinished work: {match.group()}"


def symbols_of(tree):
    """Lines `library symbol` of what the built libraries export."""
    lines = []
    for library in ("libholdfast.so", "holdfast-postgres.so"):
        out = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", os.path.join(tree.build, library)],
                             capture_output=True, text=True, check=True).stdout
        lines += [f"{library} {line.split()[0]}" for line in out.split("\n") if line]
    return sorted(lines)


def check_symbols(tree):
    """The libraries export what tools/symbols.txt lists, and the static one defines only our prefix."""
    path = "tools/symbols.txt"
    try:
        found = symbols_of(tree)
    except (OSError, subprocess.CalledProcessError) as error:
        yield path, 1, f"no libraries in {tree.build} to compare with: {error}"
        return
    listed = [line for line in tree.text(path).split("\n") if line] if path in tree.paths else []
    for line in sorted(set(found) - set(listed)):
        yield path, 1, f"exported but not listed: {line} (make tidy UPDATE=1 accepts it)"
    for line in sorted(set(listed) - set(found)):
        yield path, listed.index(line) + 1, f"listed but not exported: {line}"
    out = subprocess.run(["nm", "-g", "--defined-only", "--format=posix", os.path.join(tree.build, "libholdfast.a")],
                         capture_output=True, text=True).stdout
    names = {line.split()[0] for line in out.split("\n") if len(line.split()) > 1 and not line.endswith(":")}
    for name in sorted(names):
        if not name.startswith(("hf_", "HF_", "__")):
            yield "libholdfast.a", 1, f"the symbol {name} lacks our prefix: make it static or call it hf_{name}"


CHECKS = {
    "layers": check_layers, "calls": check_calls, "macros": check_macros, "sql": check_sql,
    "statements": check_statements, "guards": check_guards, "words": check_words, "headers": check_headers,
    "format": check_format, "symbols": check_symbols,
}


# ---- lists that do not fail

def long_ones(tree):
    """Files and functions that ask to be split. A function's braces stand at the beginning of a line."""
    for path in tree.match("src/*.c", "src/*.h", "include/*.h", "test/*.c", "tools/*.c", "tools/*.py"):
        lines = tree.text(path).split("\n")
        if len(lines) > FILE_LINES_MAX:
            yield path, 1, f"{len(lines)} lines"
        opened = 0
        for number, line in enumerate(lines, 1):
            if line == "{":
                opened = number
            elif line == "}" and opened:
                if number - opened - 1 > FUNCTION_LINES_MAX:
                    head = " ".join(lines[max(0, opened - 4):opened - 1])
                    name = re.findall(r"START_TEST\((\w+)|(\w+)\(", head[head.rfind(";") + 1:])
                    name = next(("".join(parts) for parts in name), "a function")
                    yield path, opened, f"{name} has {number - opened - 1} lines"
                opened = 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--build", default="build")
    options.add_argument("--only", default=",".join(CHECKS))
    options.add_argument("--update", action="store_true")
    options.add_argument("--self-test", action="store_true")
    args = options.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if args.self_test:
        test = os.path.join(root, "test", "tools", "test_tidy.py")
        os.execv(sys.executable, [sys.executable, test])
    tree = Tree(root, os.path.abspath(args.build))
    if args.update:
        with open(os.path.join(root, "tools", "symbols.txt"), "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in symbols_of(tree)))
        tree = Tree(root, os.path.abspath(args.build))
    problems = 0
    for name in args.only.split(","):
        for path, line, text in CHECKS[name](tree):
            print(f"{path}:{line}: {text} [{name}]")
            problems += 1
    for path, line, text in long_ones(tree):
        print(f"{path}:{line}: {text} [long, listed only]")
    print(f"tidy: {problems} problems in {len(tree.paths)} files" if problems else f"tidy: clean, {len(tree.paths)} files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
