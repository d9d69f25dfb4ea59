#!/usr/bin/env python3
"""test_tidy.py: every check of tools/tidy.py catches what it is for, and lets good code pass.

A sample is a small tree. A bad one names the check, the file and a word of the problem that must be found; the
good tree holds what must not be taken for a problem. Run by `tools/tidy.py --self-test`.
"""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import tidy  # noqa: E402

GUARD = "#ifndef {0}\n#define {0}\nint x;\n#endif\n"

# check, file where it must be found, a word of the text, files of the tree
BAD = [
    ("layers", "src/base/a.c", "climbs", {"src/base/a.c": '#include "store/db.h"\n'}),
    ("layers", "src/model/a.h", "climbs", {"src/model/a.h": '#include "commit/unit.h"\n'}),
    ("layers", "src/replay/a.c", "climbs", {"src/replay/a.c": '#include "store/db.h"\n'}),
    ("layers", "src/cli/a.c", "climbs", {"src/cli/a.c": '#include <store/store.h>\n'}),
    ("layers", "src/verify/a.c", "climbs", {"src/verify/a.c": '#include "commit/unit.h"\n'}),
    ("layers", "src/task/a.c", "climbs", {"src/task/a.c": '#include "decide/decide.h"\n'}),
    ("layers", "include/holdfast/a.h", "climbs", {"include/holdfast/a.h": '#include "base/err.h"\n'}),
    ("layers", "src/base/a.c", "below src/", {"src/base/a.c": '#include "../model/event.h"\n'}),
    ("layers", "src/base/a.c", "names no layer", {"src/base/a.c": '#include "err.h"\n'}),
    ("layers", "src/util/a.c", "not in the table", {"src/util/a.c": "int x;\n"}),
    ("calls", "src/store/a.c", "malloc", {"src/store/a.c": "void *f(void) { return malloc(3); }\n"}),
    ("calls", "src/store/a.c", "free", {"src/store/a.c": "void f(void *p)\n{\n    free(p);\n}\n"}),
    ("calls", "src/commit/a.c", "stderr", {"src/commit/a.c": 'void f(void) { fprintf(stderr, "x"); }\n'}),
    ("calls", "src/cli/a.c", "exit", {"src/cli/a.c": "void f(void) { exit(1); }\n"}),
    ("calls", "src/model/a.c", "time", {"src/model/a.c": "long f(void) { return time(NULL); }\n"}),
    ("calls", "src/model/a.c", "strcpy", {"src/model/a.c": "void f(char *a) { (void)strcpy(a, a); }\n"}),
    ("calls", "src/engine/a.c", "nanosleep", {"src/engine/a.c": "void f(void) { nanosleep(&t, 0); }\n"}),
    ("macros", "src/base/a.h", "TRY", {"src/base/a.h": "#define TRY(x) \\\n    if (x)  \\\n        return 1\n"}),
    ("macros", "src/base/a.h", "OUT", {"src/base/a.h": "#define OUT goto done\n#undef OUT\n"}),
    ("sql", "src/store/a.c", "SQL", {"src/store/a.c": 'const char *s = "SELECT 1";\n'}),
    ("sql", "src/commit/a.c", "SQL", {"src/commit/a.c": 'const char *s = "  UPDATE run "\n  "SET x = 1";\n'}),
    ("sql", "src/verify/a.c", "SQL", {"src/verify/a.c": 'const char *s = "x; DELETE FROM run";\n'}),
    ("sql", "src/store/db_sqlite.c", "SQL", {
        "src/store/db_sqlite.c": 'const char *s = "SELECT key FROM run";\n',
        "src/store/sql/migrations/a.sql": "CREATE TABLE run (key INTEGER);\n"}),
    ("sql", "src/store/db_postgres.c", "SQL", {"src/store/db_postgres.c": 'const char *s = "INSERT INTO x";\n'}),
    ("sql", "src/store/db_postgres.c", "SQL", {"src/store/db_postgres.c": 'const char *s = "CREATE TABLE x";\n'}),
    ("sql", "src/store/pg_a.h", "SQL", {"src/store/pg_a.h": '#define S "DELETE FROM x"\n'}),
    ("statements", "src/store/sql/common/run_get.sql", "HF_STMT_RUN_GET", {
        "src/store/sql/common/run_get.sql": "SELECT 1\n", "src/store/a.c": "int x = HF_STMT_RUN_GET_ALL;\n"}),
    ("guards", "src/base/a.h", "HF_BASE_A_H", {"src/base/a.h": GUARD.format("A_H")}),
    ("guards", "include/holdfast/a.h", "HOLDFAST_A_H", {"include/holdfast/a.h": GUARD.format("HF_A_H")}),
    ("words", "src/base/a.c", "TODO", {"src/base/a.c": "/* TODO: think */\n"}),
    ("words", "docs/a.md", "Not Implemented", {"docs/a.md": "This is Not Implemented.\n"}),
    ("words", "tools/a.sh", "stub", {"tools/a.sh": "# a stub\n"}),
    ("headers", "src/base/a.h", "alone", {"src/base/a.h": "size_t f(void);\n"}),
    ("headers", "src/base/a.h", "alone", {"src/base/a.h": "struct twice { int x; };\n"}),
    ("headers", "include/holdfast/a.h", "alone", {
        "include/holdfast/a.h": "#ifndef A\n#define A\nvoid f(int class);\n#endif\n"}),
    ("format", "src/base/a.c", "clang-format", {"src/base/a.c": "int  x ;\n"}),
    ("symbols", "tools/symbols.txt", "hf_extra", {"tools/symbols.txt": "libholdfast.so hf_api\n"}),
    ("symbols", "tools/symbols.txt", "hf_gone", {"tools/symbols.txt": "libholdfast.so hf_gone\n"}),
    ("symbols", "libholdfast.a", "helper", {"tools/symbols.txt": ""}),
]

GOOD = {
    "src/base/alloc.c": '#include <stdlib.h>\n\n#include "base/alloc.h"\n\nvoid *hf_alloc(void)\n{\n    return malloc(1);\n}\n',
    "src/base/alloc.h": "#ifndef HF_BASE_ALLOC_H\n#define HF_BASE_ALLOC_H\nvoid *hf_alloc(void);\n#endif\n",
    "src/base/word.def": "WORD(a)\n",
    # A row of a list may return; a comment, a member, a longer name and prose are no calls and no statements.
    "src/model/word.c": '#include "base/alloc.h"\n\nconst char *hf_word(int at)\n{\n    switch (at) {\n'
                        "#define WORD(x)                                                                                    \\\n"
                        "    case 1:                                                                                        \\\n"
                        "        return #x;\n"
                        '#include "base/word.def"\n#undef WORD\n    }\n    return "Select a run from the list.";\n}\n',
    "src/store/row.c": '#include "base/alloc.h"\n#include "holdfast/status.h"\n\n/* free(x), SELECT 1 */\n'
                       "int hf_row(struct table *t)\n{\n    t->free(t);\n    hf_row_free(t);\n"
                       "    return HF_STMT_RUN_GET;\n}\n",
    "src/store/db_sqlite.c": 'const char *hf_text = "PRAGMA journal_mode = WAL";\n'
                             'const char *hf_more = "SELECT count(*) FROM sqlite_schema";\n',
    "src/store/sql/common/run_get.sql": "SELECT key FROM run WHERE key = ?1\n",
    "src/store/sql/migrations/one.sql": "CREATE TABLE run (key INTEGER);\n",
    "src/cli/print.c": '#include <stdio.h>\n\nvoid hf_print(void)\n{\n    (void)fputs("Update the store first.", stderr);\n}\n',
    "include/holdfast/status.h": "#ifndef HOLDFAST_STATUS_H\n#define HOLDFAST_STATUS_H\nint hf_api(void);\n#endif\n",
    "tools/symbols.txt": "holdfast-postgres.so hf_module\nlibholdfast.so hf_api\nlibholdfast.so hf_extra\n",
    "README.md": "mktemp a_XXXXXX, a stubborn todo list.\n",
}


def libraries_build(folder):
    """Libraries with a known set of symbols: helper() is the one without a prefix."""
    for name, text in (("own.c", "int hf_api(void) { return 1; }\nint hf_extra(void) { return 2; }\n"),
                       ("pg.c", "int hf_module(void) { return 3; }\n"), ("bare.c", "int helper(void) { return 4; }\n")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(["gcc", "-c", "-fPIC", name], cwd=folder, check=True)
    for line in ("gcc -shared -o libholdfast.so own.o", "gcc -shared -o holdfast-postgres.so pg.o",
                 "ar rc libholdfast.a own.o", "ar rc bare.a own.o bare.o"):
        subprocess.run(line.split(), cwd=folder, check=True)


def tree_write(folder, files):
    for path, text in files.items():
        place = os.path.join(folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(ROOT, ".clang-format"), encoding="utf-8") as source:
        with open(os.path.join(folder, ".clang-format"), "w", encoding="utf-8") as file:
            file.write(source.read())


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as top:
        build = os.path.join(top, "build")
        os.mkdir(build)
        libraries_build(build)
        for number, (check, path, word, files) in enumerate(BAD):
            folder = os.path.join(top, f"bad{number}")
            tree_write(folder, files)
            if path == "libholdfast.a":
                os.rename(os.path.join(build, "libholdfast.a"), os.path.join(build, "kept.a"))
                os.rename(os.path.join(build, "bare.a"), os.path.join(build, "libholdfast.a"))
            found = [problem for problem in tidy.CHECKS[check](tidy.Tree(folder, build))
                     if problem[0] == path and word in problem[2]]
            if path == "libholdfast.a":
                os.rename(os.path.join(build, "kept.a"), os.path.join(build, "libholdfast.a"))
            if not found:
                print(f"{check} did not find '{word}' in {path}: {files}")
                failed += 1
        folder = os.path.join(top, "good")
        tree_write(folder, GOOD)
        tree = tidy.Tree(folder, build)
        for name, check in tidy.CHECKS.items():
            for problem in check(tree):
                print(f"{name} refused good code: {problem}")
                failed += 1
        long_body = "int hf_long(void)\n{\n" + "    x();\n" * 71 + "}\n"
        tree_write(folder, {"src/base/long.c": long_body + "\n" * 800})
        listed = [text for _, _, text in tidy.long_ones(tidy.Tree(folder, build))]
        if not any("hf_long has 71" in text for text in listed) or not any("lines" in text for text in listed[:1]):
            print(f"long files and functions were not listed: {listed}")
            failed += 1
        caught = {row[0] for row in BAD}
        for name in sorted(set(tidy.CHECKS) - caught):
            print(f"no sample for the check {name}")
            failed += 1
    print(f"{len(BAD)} samples, {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
