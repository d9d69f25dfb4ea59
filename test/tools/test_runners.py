#!/usr/bin/env python3
"""test_runners.py: the runners count right and never call a failure a success.

Programs are small shell scripts in a build folder made by hand; documents are made by hand too.
"""
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOOD = "echo '100%: Checks: 3, Failures: 0, Errors: 0'"


class Programs(unittest.TestCase):
    def run_programs(self, scripts, *options, environment=None):
        """Runs the scripts {name: (folder, text)}; returns (exit code, passed, failed, output)."""
        with tempfile.TemporaryDirectory() as build:
            with open(os.path.join(build, "CTestTestfile.cmake"), "w", encoding="utf-8") as listing:
                for name, (folder, text) in scripts.items():
                    path = os.path.join(build, name)
                    with open(path, "w", encoding="utf-8") as file:
                        file.write("#!/bin/sh\n" + text + "\n")
                    os.chmod(path, 0o755)
                    listing.write(f'add_test({name} "{path}")\n'
                                  f'set_tests_properties({name} PROPERTIES LABELS {folder} TIMEOUT 2)\n')
            totals = os.path.join(build, "totals")
            clean = {key: value for key, value in os.environ.items() if key != "HF_TEST_ONLY"}
            done = subprocess.run([os.path.join(ROOT, "tools", "run_programs.py"), build, "--totals", totals, *options],
                                  capture_output=True, text=True, env=dict(clean, **(environment or {})))
            with open(totals, encoding="utf-8") as file:
                passed, failed = map(int, file.read().split())
            return done.returncode, passed, failed, done.stdout

    # Cases of several programs are added up.
    def test_counts(self):
        result = self.run_programs({"test_base_a": ("base", GOOD), "test_base_b": ("base", GOOD)})
        self.assertEqual(result[:3], (0, 6, 0))

    # Those that are named run alone; what does not begin within its time is said to be left out.
    def test_names_and_budget(self):
        scripts = {f"test_base_{name}": ("base", GOOD) for name in "abc"}
        code, passed, failed, output = self.run_programs(scripts, "--names", "test_base_c,test_base_a")
        self.assertEqual((code, passed, failed), (0, 6, 0))
        self.assertNotIn("test_base_b", output)
        code, passed, failed, output = self.run_programs(scripts, "--names", "test_base_c,test_base_a", "--budget", "0")
        self.assertEqual((passed, failed), (0, 0))
        self.assertEqual(output.count("left out: the time is up"), 2)

    # What includes a touched layer is tested with it, what it includes is not; a touched file's own test comes first.
    def test_quick(self):
        sys.path.insert(0, os.path.join(ROOT, "tools"))
        import quick  # pylint: disable=import-outside-toplevel,import-error
        found = [name for _, name in sorted(quick.programs_of(["src/http/parser.c"]))]
        self.assertEqual(found[0], "test_http_parser")
        self.assertTrue(any(name.startswith("test_server_") for name in found))
        self.assertFalse(any(name.startswith(("test_engine_", "test_base_")) for name in found))
        self.assertEqual(quick.programs_of(["docs/index.md"]), [])
        self.assertGreater(len(quick.programs_of(["include/holdfast/holdfast.h"])), 200)

    # A failed case is counted, and the log of its program is shown.
    def test_failed_case(self):
        text = "echo '50%: Checks: 4, Failures: 1, Errors: 1'; echo the reason; exit 1"
        code, passed, failed, output = self.run_programs({"test_base_a": ("base", text)})
        self.assertEqual((code, passed, failed), (1, 2, 2))
        self.assertIn("the reason", output)

    # A program that ends badly after good cases (a leak, an assertion in main) has failed.
    def test_bad_exit(self):
        self.assertEqual(self.run_programs({"test_base_a": ("base", GOOD + "; exit 23")})[:3], (1, 3, 1))

    # A program that dies by a signal, says nothing, or has no cases has failed.
    def test_no_summary(self):
        for text in ("kill -SEGV $$", "exit 0", "echo '100%: Checks: 0, Failures: 0, Errors: 0'"):
            self.assertEqual(self.run_programs({"test_base_a": ("base", text)})[:3], (1, 0, 1), text)

    # A program that hangs is ended with its children, also those in process groups of their own, and has failed.
    def test_hangs(self):
        text = GOOD + "; set -m; sleep 987 & echo child $!; wait"
        code, passed, failed, output = self.run_programs({"test_base_a": ("base", text)})
        self.assertEqual((code, passed, failed), (1, 3, 1))
        self.assertIn("no end within 2 s", output)
        child = int(re.search(r"child (\d+)", output).group(1))
        with self.assertRaises(ProcessLookupError):
            for _ in range(100):
                os.kill(child, 0)
                time.sleep(0.05)

    # What is left out is said; when nothing is left, that is a failure.
    def test_left_out(self):
        scripts = {"test_base_a": ("base", GOOD), "test_crash_b": ("crash", GOOD)}
        code, passed, failed, output = self.run_programs(scripts, "--skip", "crash", "--why", "of the moon")
        self.assertEqual((code, passed, failed), (0, 3, 0))
        self.assertIn("test_crash_b", output)
        self.assertIn("of the moon", output)
        self.assertEqual(self.run_programs(scripts, "--only", "crash")[:3], (0, 3, 0))
        self.assertEqual(self.run_programs(scripts, "--only", "verify")[:3], (1, 0, 1))

    # A wrapper comes before the program; cases may have more time under it.
    def test_wrapper(self):
        text = '[ "$WRAPPED" = yes ] && [ "$CK_TIMEOUT_MULTIPLIER" = 7.0 ] && ' + GOOD
        result = self.run_programs({"test_base_a": ("base", text)}, "--wrap", "env WRAPPED=yes", "--scale", "7")
        self.assertEqual(result[:3], (0, 3, 0))


class Documents(unittest.TestCase):
    def examples(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.md")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([os.path.join(ROOT, "tools", "doc_examples.py"), "--bin", folder, path],
                                  capture_output=True, text=True)
            return done.returncode, done.stdout

    # Examples of a page follow one another in one folder; what is not marked is not run.
    def test_in_order(self):
        page = ("<!-- run -->\n```sh\necho one >file\n```\n\n```sh\nfalse\n```\n\n"
                "<!-- run -->\n```sh\ncat file\n```\n\n<!-- output -->\n```text\none\n```\n")
        self.assertEqual(self.examples(page)[0], 0)

    # A wrong exit code, wrong output, and a page without examples are failures.
    def test_failures(self):
        for page in ("<!-- run -->\n```sh\nfalse\necho on\n```\n", "<!-- run exit=3 -->\n```sh\nexit 2\n```\n",
                     "<!-- run -->\n```sh\necho one\n```\n<!-- output -->\n```text\ntwo\n```\n", "nothing\n"):
            code, output = self.examples(page)
            self.assertEqual(code, 1, page)
            self.assertIn("FAIL", output)

    def test_exit_code(self):
        self.assertEqual(self.examples("<!-- run exit=3 -->\n```sh\nexit 3\n```\n")[0], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
