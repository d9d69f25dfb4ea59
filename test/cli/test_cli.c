/* test_cli.c: the commands of the holdfast binary and their exit codes, on real stores. */
#include <signal.h>
#include <time.h>

#include "base/json.h"
#include "cli/program.h"
#include "lib/pg.h"
#include "store/store.h"

/* Adds instances whose current run is not there. */
static void store_break(const char *path, int count)
{
    char sql[1024];

    (void)snprintf(sql, sizeof(sql),
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
                   "INSERT INTO instance (key, namespace, id, shard, type, current_run, run_count, "
                   "created_us) SELECT 1000000 + i, 1, 'broken-' || i, 0, 'order', 2000000 + i, 1, "
                   "1 FROM n",
                   count);
    sql_run(path, sql);
}

/* Without a command the program explains itself on standard error and calls it wrong usage. */
START_TEST(nothing_is_usage)
{
    begin();
    ck_assert_int_eq(run(NULL, (const char *const[]){PROGRAM, NULL}), 2);
    ck_assert_uint_eq(last.out.len, 0);
    ck_assert(says(&last.err, "holdfast COMMAND"));
    ck_assert_int_eq(RUN("--help"), 0);
    ck_assert(says(&last.out, "holdfast COMMAND"));
    end();
}
END_TEST

/* Every verb explains itself, the same way whichever way it is asked. */
START_TEST(every_verb_has_help)
{
    begin();
    for (size_t i = 0; i < VERBS; i++) {
        hf_buf help = {0};

        ck_assert_int_eq(RUN("help", verbs[i]), 0);
        ck_assert(says(&last.out, verbs[i]));
        ck_assert(says(&last.out, "Example"));
        ck_assert(says(&last.out, "Exit codes"));
        ck_assert_uint_eq(last.err.len, 0);
        hf_buf_add_slice(&help, hf_buf_slice(&last.out));
        ck_assert_int_eq(RUN(verbs[i], "--help"), 0);
        ck_assert_str_eq(hf_buf_text(&help), hf_buf_text(&last.out));
        ck_assert_int_eq(RUN(verbs[i], "--no-such-flag", "-h"), 0);
        ck_assert_str_eq(hf_buf_text(&help), hf_buf_text(&last.out));
        hf_buf_fini(&help);
        ck_assert_int_eq(RUN("help"), 0);
        ck_assert(says(&last.out, verbs[i]));
    }
    end();
}
END_TEST

/* A mistake in the command line is exit 2, names the mistake and the nearest right word. */
START_TEST(mistakes_are_explained)
{
    begin();
    ck_assert_int_eq(RUN("veriyf"), 2);
    ck_assert(says(&last.err, "unknown command veriyf; did you mean verify?\n"));
    ck_assert(says(&last.err, "next:  holdfast help\n"));
    ck_assert_int_eq(RUN("verify", "--foo"), 2);
    ck_assert(says(&last.err, "unknown flag --foo for verify; did you mean --json?\n"));
    ck_assert(says(&last.err, "next:  holdfast help verify\n"));
    ck_assert_int_eq(RUN("verify", "--qiuck=1", "x"), 2);
    ck_assert(says(&last.err, "did you mean --quick?"));
    ck_assert_int_eq(RUN("verify", "-z"), 2);
    ck_assert_int_eq(RUN("verify", "a", "b"), 2);
    ck_assert(says(&last.err, "no more than 1 argument: \"b\""));
    ck_assert_int_eq(RUN("verify"), 2);
    ck_assert(says(&last.err, "HF_URL"));
    ck_assert_int_eq(RUN("verify", "a", "--run"), 2);
    ck_assert(says(&last.err, "--run needs a RUN"));
    ck_assert_int_eq(RUN("verify", "a", "--run", "-5"), 2);
    ck_assert_int_eq(RUN("verify", "a", "--quick=yes"), 2);
    ck_assert(says(&last.err, "--quick takes no value"));
    ck_assert_int_eq(RUN("verify", "a", "-o", "xml"), 2);
    ck_assert(says(&last.err, "table wide json"));
    ck_assert_int_eq(RUN("version", "-o", "jsonl"), 2);
    ck_assert(says(&last.err, "version cannot print jsonl, only: table json"));
    ck_assert_int_eq(RUN("backup"), 2);
    ck_assert(says(&last.err, "backup needs a FILE"));
    ck_assert_int_eq(RUN("completion"), 2);
    ck_assert_int_eq(RUN("completion", "tcsh"), 2);
    ck_assert_int_eq(RUN("help", "nothing"), 2);
    ck_assert_int_eq(RUN("-o", "json", "version"), 2);
    ck_assert(says(&last.err, "the command comes before its flags"));
    FAILS(2, "invalid", "verify", "--foo");
    end();
}
END_TEST

/* version prints one line, or an object. */
START_TEST(version_is_known)
{
    hf_value object;

    begin();
    ck_assert_int_eq(RUN("version"), 0);
    ck_assert_str_eq(hf_buf_text(&last.out), "holdfast " HF_VERSION_TEXT "\n");
    ck_assert_int_eq(RUN("--version"), 0);
    ck_assert_int_eq(RUN("version", "--json"), 0);
    object = json(&last.out);
    ck_assert_str_eq(hf_str(object, "name", ""), "holdfast");
    ck_assert_str_eq(hf_str(object, "version", ""), HF_VERSION_TEXT);
    ck_assert_int_eq(RUN("version", "--debug"), 0);
    ck_assert(says(&last.err, "debug: status ok, exit code 0"));
    end();
}
END_TEST

/* A store is created, found up to date, verified and copied; the copy verifies too. */
START_TEST(store_is_made_and_copied)
{
    hf_value object;

    begin();
    ck_assert_int_eq(RUN("schema-migrate", "a.db", "--print"), 0);
    ck_assert(says(&last.out, "CREATE TABLE"));
    ck_assert_int_eq(access("a.db", F_OK), -1);
    ck_assert_int_eq(RUN("schema-migrate", "a.db", "--print", "--json"), 0);
    ck_assert(hf_len(hf_get(json(&last.out), "migrations")) > 0);
    ck_assert(hf_str(json(&last.out), "migrations.0.sql", NULL));
    ck_assert(!hf_bool(json(&last.out), "changed", true));
    ck_assert_int_eq(RUN("schema-migrate", "a.db"), 0);
    ck_assert(says(&last.out, "applied "));
    ck_assert_int_eq(RUN("schema-migrate", "sqlite:a.db", "-ojson"), 0);
    object = json(&last.out);
    ck_assert(!hf_bool(object, "changed", true));
    ck_assert_uint_eq(hf_len(hf_get(object, "migrations")), 0);
    ck_assert_int_eq(RUN("verify", "a.db"), 0);
    ck_assert(says(&last.out, "a.db: clean; "));
    ck_assert_int_eq(RUN_IN(ENV("HF_URL=a.db"), "backup", "b.db", "--output=json"), 0);
    object = json(&last.out);
    ck_assert_str_eq(hf_str(object, "store", ""), "a.db");
    ck_assert_str_eq(hf_str(object, "file", ""), "b.db");
    ck_assert_int_gt(hf_int(object, "bytes", 0), 0);
    ck_assert_int_eq(RUN("verify", "--quick", "--", "b.db"), 0);
    ck_assert_int_eq(RUN("verify", "b.db", "-o", "none"), 0);
    ck_assert_uint_eq(last.out.len, 0);
    FAILS(2, "exists", "backup", "a.db", "b.db");
    end();
}
END_TEST

/* What verify finds is data: rows, lines or one object, and exit 1. */
START_TEST(verify_shows_findings)
{
    hf_value object;
    size_t lines = 0;

    begin();
    ck_assert_int_eq(RUN("schema-migrate", "a.db"), 0);
    ck_assert_int_eq(RUN("verify", "a.db", "--json"), 0);
    object = json(&last.out);
    ck_assert(hf_bool(object, "clean", false));
    ck_assert(!hf_bool(object, "truncated", true));
    ck_assert_int_gt(hf_int(object, "report.invariants", 0), 0);
    ck_assert_uint_eq(hf_len(hf_get(object, "findings")), 0);
    store_break("a.db", 3);
    ck_assert_int_eq(RUN("verify", "a.db"), 1);
    ck_assert(says(&last.out, "INVARIANT"));
    ck_assert(says(&last.out, "a.db: not clean; "));
    ck_assert_int_eq(RUN("verify", "a.db", "--json"), 1);
    object = json(&last.out);
    ck_assert(!hf_bool(object, "clean", true));
    ck_assert_int_eq(hf_int(object, "report.findings", 0),
                     (int64_t)hf_len(hf_get(object, "findings")));
    ck_assert_str_ne(hf_str(object, "findings.0.invariant", ""), "");
    ck_assert_str_ne(hf_str(object, "findings.0.sentence", ""), "");
    ck_assert_int_eq(RUN("verify", "a.db", "-o", "jsonl"), 1);
    for (hf_slice rest = hf_slice_trim(hf_buf_slice(&last.out)), line;
         hf_slice_split(&rest, '\n', &line); lines++)
        ck_assert(hf_parse_(mem, line.ptr, line.len));
    ck_assert_uint_eq(lines, hf_len(hf_get(object, "findings")) + 1);
    ck_assert_int_eq(RUN("verify", "a.db", "-o", "none"), 1);
    end();
}
END_TEST

/* json keeps 10,000 findings and counts all; jsonl prints every one. */
START_TEST(verify_bounds_its_memory)
{
    hf_json_limits limits = {.bytes_max = 64U << 20};
    hf_value object;
    size_t lines = 0;
    int64_t findings;

    begin();
    ck_assert_int_eq(RUN("schema-migrate", "a.db"), 0);
    store_break("a.db", 10001);
    ck_assert_int_eq(RUN("verify", "a.db", "--json"), 1);
    ck_assert_int_eq(
        hf_json_read(mem, hf_slice_trim(hf_buf_slice(&last.out)), &limits, &object, NULL), HF_OK);
    findings = hf_int(object, "report.findings", 0);
    ck_assert_int_gt(findings, 10000);
    ck_assert(hf_bool(object, "truncated", false));
    ck_assert_uint_eq(hf_len(hf_get(object, "findings")), 10000);
    ck_assert_int_eq(RUN("verify", "a.db", "-o", "jsonl"), 1);
    for (size_t i = 0; i < last.out.len; i++)
        lines += last.out.ptr[i] == '\n';
    ck_assert_int_eq((int64_t)lines, findings + 1);
    end();
}
END_TEST

/* Whatever keeps verify from checking is its exit 2, and the sentence says what. */
START_TEST(verify_cannot_check)
{
    begin();
    file_write("text.db", "this is a text and no database at all, of some length to be sure\n");
    FAILS(2, "not_a_store", "verify", "text.db");
    FAILS(2, "not_found", "verify", "missing.db");
    ck_assert_int_eq(RUN("verify", "missing.db"), 2);
    ck_assert(says(&last.err, "error: verify of missing.db failed\nwhy:   "));
    ck_assert(says(&last.err, "\nnext:  holdfast schema-migrate missing.db\n"));
    end();
}
END_TEST

/* Each way in which a SQLite store cannot be used has its own exit code. */
START_TEST(stores_fail_by_code)
{
    begin();
    file_write("text.db", "this is a text and no database at all, of some length to be sure\n");
    sql_run("other.db", "CREATE TABLE customer (id INTEGER)");
    ck_assert_int_eq(RUN("schema-migrate", "newer.db"), 0);
    sql_run("newer.db", "UPDATE meta SET value = '999' WHERE name LIKE '%version%'");
    FAILS(15, "not_a_store", "backup", "text.db", "copy.db");
    FAILS(15, "not_a_store", "backup", "other.db", "copy.db");
    FAILS(15, "not_a_store", "schema-migrate", "other.db");
    FAILS(15, "not_a_store", "schema-migrate", ".");
    FAILS(16, "newer_format", "schema-migrate", "newer.db");
    ck_assert_int_eq(RUN("backup", "newer.db", "newer-copy.db"), 0); /* a copy needs no version */
    FAILS(5, "not_found", "backup", "missing.db", "copy.db");
    FAILS(5, "not_found", "schema-migrate", "no/such/folder/a.db");
    FAILS(2, "invalid", "schema-migrate", "ftp://example.org/a.db");
    FAILS(2, "invalid", "schema-migrate", "postgres://u@127.0.0.1/db", "--schema", "No Such");
    ck_assert_int_eq(access("copy.db", F_OK), -1);
    end();
}
END_TEST

/* While an engine owns a store it can be verified and copied, but not migrated. */
START_TEST(owned_store_is_refused)
{
    hf_store_options options = {.size = sizeof(options), .role = HF_STORE_OWNER, .create = true};
    hf_store *store = NULL;
    hf_err err = {0};

    begin();
    ck_assert_msg(hf_store_open("a.db", &options, &store, &err) == HF_OK, "%s", err.text);
    FAILS(14, "owned", "schema-migrate", "a.db");
    ck_assert_int_eq(RUN("verify", "a.db"), 0);
    ck_assert_int_eq(RUN("backup", "a.db", "b.db"), 0);
    hf_store_close(store);
    ck_assert_int_eq(RUN("schema-migrate", "a.db"), 0);
    end();
}
END_TEST

/* A store that may not be written to is exit 17. Root may write everywhere, so it becomes nobody.
 */
START_TEST(read_only_store_is_refused)
{
    const char *const copy[] = {"cp", PROGRAM, "holdfast", NULL};
    const char *const as_nobody[] = {
        "setpriv",    "--reuid=65534",  "--regid=65534", "--clear-groups",
        "./holdfast", "schema-migrate", "a.db",          NULL};

    begin();
    ck_assert_int_eq(RUN("schema-migrate", "a.db"), 0);
    sql_run("a.db", "PRAGMA journal_mode = DELETE");
    sql_run("a.db", "DELETE FROM migration WHERE name LIKE 'projection%'");
    ck_assert_int_eq(chmod("a.db", 0444), 0);
    ck_assert_int_eq(run(NULL, copy), 0);
    ck_assert_int_eq(chmod(".", 0555), 0);
    ck_assert_int_eq(run(NULL, geteuid() == 0 ? as_nobody : as_nobody + 4), 17);
    ck_assert(says(&last.err, "next:  ls -l a.db\n"));
    ck_assert_int_eq(chmod(".", 0755), 0);
    end();
}
END_TEST

/* A PostgreSQL store is made and verified in a schema of its own; the password of an address is
   never printed, and never taken from the command line. */
START_TEST(postgres_store)
{
    const char *uri = getenv("HF_TEST_PG");
    char good[256];
    char wrong[256];
    const char *host;

    begin();
    ck_assert(uri);
    host = strchr(uri, '@');
    ck_assert(host);
    (void)snprintf(good, sizeof(good), "HF_URL=%s", uri);
    (void)snprintf(wrong, sizeof(wrong), "HF_URL=postgres://hf_password:sesame%s", host);
    ck_assert_msg(RUN_IN(ENV(good, "HF_SCHEMA=cli_test"), "schema-migrate") == 0, "%s",
                  hf_buf_text(&last.err));
    ck_assert_int_eq(RUN_IN(ENV(good), "verify", "--schema", "cli_test"), 0);
    FAILS_IN(2, "not_found", ENV(good), "verify", "--schema", "cli_missing");
    (void)snprintf(good, sizeof(good), "HF_URL=%s?hf_schema=cli_test", uri);
    ck_assert_int_eq(RUN_IN(ENV(good), "verify"), 0);
    FAILS_IN(2, "misuse", ENV(good), "backup", "copy.db");
    FAILS_IN(4, "denied", ENV(wrong), "schema-migrate");
    ck_assert_int_eq(RUN_IN(ENV(wrong), "schema-migrate"), 4);
    ck_assert(says(&last.err, "postgres://hf_password:***@"));
    ck_assert(!says(&last.err, "sesame"));
    FAILS(3, "unreachable", "schema-migrate", "postgres://holdfast@127.0.0.1:1/holdfast");
    FAILS(2, "invalid", "schema-migrate", wrong + strlen("HF_URL="));
    ck_assert(!says(&last.err, "sesame"));
    end();
}
END_TEST

static void pause_ms(long ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&time, NULL);
}

/* How many files of the folder have a name that begins with `prefix`. */
static int files_count(const char *prefix)
{
    DIR *folder = opendir(".");
    struct dirent *entry;
    int count = 0;

    ck_assert(folder);
    while ((entry = readdir(folder)))
        count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    (void)closedir(folder);
    return count;
}

/* Ctrl-C during a backup: exit 130, and neither the copy nor a part of it is left. The program is
   held still as soon as it has begun to copy, so that the signal always comes in the middle. */
START_TEST(interrupted_backup_leaves_nothing)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int status = 0;
    pid_t pid;

    begin();
    ck_assert_int_eq(RUN("schema-migrate", "a.db"), 0);
    sql_run("a.db", "CREATE TABLE padding (body BLOB); INSERT INTO padding VALUES "
                    "(zeroblob(100000000)); PRAGMA wal_checkpoint(TRUNCATE)");
    pid =
        start(NULL, (const char *const[]){PROGRAM, "backup", "a.db", "copy.db", NULL}, null, null);
    for (int i = 0; i < 5000 && files_count("copy.db") == 0; i++)
        pause_ms(1);
    ck_assert_int_eq(kill(pid, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
    ck_assert_msg(WIFSTOPPED(status), "the copy was finished before it could be interrupted");
    ck_assert_int_eq(kill(pid, SIGINT), 0);
    pause_ms(200); /* progress is told every 100 ms */
    ck_assert_int_eq(kill(pid, SIGCONT), 0);
    ck_assert_int_eq(finish(pid), 130);
    ck_assert_int_eq(files_count("copy.db"), 0);
    (void)close(null);
    end();
}
END_TEST

HF_PG_SUITE_MAIN("cli/cli", {nothing_is_usage, 0}, {every_verb_has_help, 0},
                 {mistakes_are_explained, 0}, {version_is_known, 0}, {store_is_made_and_copied, 0},
                 {verify_shows_findings, 0}, {verify_bounds_its_memory, 300},
                 {verify_cannot_check, 0}, {stores_fail_by_code, 0}, {owned_store_is_refused, 0},
                 {read_only_store_is_refused, 0}, {postgres_store, 0},
                 {interrupted_backup_leaves_nothing, 120})
