/* test_replay.c: bundles on the command line, and the gate before a deployment: holdfast replay
   check runs this very program as the build that is tried, as one that still replays the runs of a
   store, one that does not, one that crashes, and one that is no such program. */
#include <signal.h>

#include "holdfast/holdfast.h"
/* after what declares a parameter `mem` */
#include "cli/program.h"
#include "lib/handlers.h"

static hf_value ship_first(hf_ctx *w, hf_value in)
{
    hf_activity(w, "charge", in);
    return hf_receive(w, "go");
}

enum { SHIP_LINE = __LINE__ + 4 };
static hf_value ship_changed(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_activity(w, "pack", in);
    return hf_receive(w, "go");
}

static hf_value ship_crashing(hf_ctx *w, hf_value in)
{
    (void)w;
    (void)in;
    (void)raise(SIGKILL);
    return NULL;
}

static const hf_signal_def signals[] = {{"go", NULL}, {0}};
static const hf_activity_def activities[] = {
    {.name = "charge", .run = hf_echo}, {.name = "pack", .run = hf_echo}, {0}};
static const hf_workflow_def first[] = {{.type = "ship", .run = ship_first, .signals = signals},
                                        {.type = "bill", .run = hf_wait_go, .signals = signals},
                                        {0}};
static const hf_workflow_def changed[] = {{.type = "ship", .run = ship_changed, .signals = signals},
                                          {0}};
static const hf_workflow_def crashing[] = {
    {.type = "ship", .run = ship_crashing, .signals = signals}, {0}};
static const hf_app apps[] = {
    {.name = "first", .workflows = first, .activities = activities},
    {.name = "changed", .workflows = changed, .activities = activities},
    {.name = "crashing", .workflows = crashing, .activities = activities}};

/* This program; the name that the environment has chooses the build that it is. */
static const char *self_path(void)
{
    static char path[512];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

    ck_assert_int_gt(len, 0);
    path[len] = '\0';
    return path;
}

/* A store with two runs of ship and one of bill, all of which wait. */
static const char *store_make(void)
{
    static char path[96];
    hf_engine *d = NULL;
    const hf_error *e = NULL;
    hf_value out = NULL;

    (void)snprintf(path, sizeof(path), "%s/runs.db", scratch);
    ck_assert_int_eq(hf_open(path, &apps[0], &d), HF_OK);
    ck_assert_int_eq(hf_start(d, "ship", hf_json_(mem, "{'n': 1}"), .id = "a"), HF_OK);
    ck_assert_int_eq(hf_start(d, "ship", hf_json_(mem, "{'n': 2}"), .id = "b"), HF_OK);
    ck_assert_int_eq(hf_start(d, "bill", NULL, .id = "c"), HF_OK);
    for (int i = 0; i < 500 && strcmp(hf_str(out, "code", ""), "waiting_for_signal") != 0; i++) {
        ck_assert_int_eq(hf_result(d, "b", 10, &out, &e), HF_TIMEOUT);
        ck_assert_int_eq(hf_why(d, "b", mem, &out), HF_OK);
    }
    ck_assert_int_eq(hf_result(d, "a", 50, &out, &e), HF_TIMEOUT);
    hf_close(d);
    return path;
}

/* The gate: all is well with the code that made the runs; with other code each run that would block
   is named with step and source line, and the exit code is 12. */
START_TEST(gate_names_what_would_block)
{
    char line[32];
    const char *path;
    hf_value answer;
    hf_value row;

    begin();
    path = store_make();
    ck_assert_int_eq(
        RUN_IN(ENV("VARIANT=0"), "replay", "check", "--app", self_path(), "--store", path), 0);
    ck_assert(says(&last.out, "3 replayed: 3 ok, 0 would block"));
    ck_assert_int_eq(RUN_IN(ENV("VARIANT=1"), "replay", "check", "--app", self_path(), "--store",
                            path, "--json"),
                     12);
    answer = json(&last.out);
    ck_assert_int_eq(hf_int(answer, "report.blocked", 0), 2);
    ck_assert_int_eq(hf_int(answer, "report.unknown_type", 0), 1);
    row = hf_get(answer, "runs.0");
    ck_assert_str_eq(hf_str(row, "instance_id", ""), "b"); /* the newest first */
    ck_assert_str_eq(hf_str(row, "reason", ""), "history_shape_mismatch");
    ck_assert_int_eq(hf_int(row, "step", 0), 1);
    (void)snprintf(line, sizeof(line), "test_replay.c:%d", SHIP_LINE);
    ck_assert_msg(strstr(hf_str(row, "at", ""), line), "%s", hf_str(row, "at", "none"));
    ck_assert_int_eq(RUN_IN(ENV("VARIANT=1"), "replay", "check", "--app", self_path(), "--store",
                            path, "--type", "bill"),
                     0);
    ck_assert_int_eq(RUN_IN(ENV("VARIANT=1"), "replay", "check", "--app", self_path(), "--store",
                            path, "--blocked"),
                     0);
    ck_assert(says(&last.out, "0 replayed"));
    ck_assert_int_eq(RUN_IN(ENV("VARIANT=1"), "replay", "check", "--app", self_path(), "--store",
                            path, "--sample", "running:2"),
                     12);
    ck_assert(says(&last.out, "2 replayed: 0 ok, 1 would block"));
    end();
}
END_TEST

/* Histories that cannot be read are named one by one, the others are tried all the same, and the
   exit code says that something could not be known; that a run would block weighs more. */
START_TEST(gate_goes_on_behind_damage)
{
    const char *path;
    hf_value answer;

    begin();
    path = store_make();
    sql_run(path, "UPDATE history SET run = run + 1000000 WHERE run IN (SELECT key FROM run WHERE "
                  "instance IN (SELECT key FROM instance WHERE id IN ('b', 'c')))");
    ck_assert_int_eq(RUN_IN(ENV("VARIANT=0"), "replay", "check", "--app", self_path(), "--store",
                            path, "--json"),
                     1);
    answer = json(&last.out);
    ck_assert_int_eq(hf_int(answer, "report.replayed", 0), 3);
    ck_assert_int_eq(hf_int(answer, "report.ok", 0), 1);
    ck_assert_int_eq(hf_int(answer, "report.unreadable", 0), 2);
    ck_assert_str_eq(hf_str(answer, "runs.0.instance_id", ""), "c");
    ck_assert_str_eq(hf_str(answer, "runs.0.workflow_type", ""), "bill");
    ck_assert_str_eq(hf_str(answer, "runs.1.instance_id", ""), "b");
    ck_assert_str_eq(hf_str(answer, "runs.1.verdict", ""), "unreadable");
    ck_assert_str_ne(hf_str(answer, "runs.1.sentence", ""), "");
    ck_assert_int_eq(
        RUN_IN(ENV("VARIANT=1"), "replay", "check", "--app", self_path(), "--store", path), 12);
    ck_assert(says(&last.out, "3 replayed: 0 ok, 1 would block, 0 of types the program does not "
                              "have, 2 unreadable"));
    end();
}
END_TEST

/* Code that crashes costs its own runs; what is no such program, and what cannot be asked, is a
   usage error. */
START_TEST(gate_survives_bad_programs)
{
    const char *path;
    hf_value answer;

    begin();
    path = store_make();
    ck_assert_int_eq(RUN_IN(ENV("VARIANT=2"), "replay", "check", "--app", self_path(), "--store",
                            path, "--json"),
                     12);
    answer = json(&last.out);
    ck_assert_int_eq(hf_int(answer, "report.blocked", 0), 2);
    ck_assert_str_eq(hf_str(answer, "runs.1.reason", ""), "crashed");
    ck_assert_str_eq(hf_str(answer, "runs.1.instance_id", ""), "a");
    FAILS(2, "invalid", "replay", "check", "--app", "/bin/true", "--store", path);
    ck_assert_int_eq(RUN("replay", "check", "--app", "/bin/cat", "--store", path), 2);
    ck_assert(says(&last.err, "does not answer as a program that uses hf_main"));
    FAILS(2, "invalid", "replay", "check", "--store", path);
    FAILS(2, "invalid", "replay", "check", "--app", self_path(), "--store", path, "--sample",
          "some");
    FAILS(5, "not_found", "replay", "check", "--app", "./nothing", "--store", path);
    FAILS(5, "not_found", "replay", "check", "--app", self_path(), "--store", "none.db");
    end();
}
END_TEST

/* A run leaves as a file, is verified, replayed and compared; what is asked for and is not there
   leaves no file. */
START_TEST(bundles_travel_by_file)
{
    const char *path;

    begin();
    path = store_make();
    ck_assert_int_eq(RUN("bundle", "export", "a", "--store", path, "--out", "a.json"), 0);
    ck_assert_int_eq(RUN("bundle", "export", "b#1", "--store", path, "--out", "b.json"), 0);
    FAILS(2, "exists", "bundle", "export", "a", "--store", path, "--out", "a.json");
    FAILS(5, "not_found", "bundle", "export", "z", "--store", path, "--out", "z.json");
    ck_assert_int_ne(access("z.json", F_OK), 0);
    ck_assert_int_eq(RUN("bundle", "verify", "a.json"), 0);
    ck_assert_int_eq(RUN_IN(ENV("VARIANT=0"), "bundle", "replay", "a.json", "--app", self_path()),
                     0);
    ck_assert_int_eq(RUN_IN(ENV("VARIANT=1"), "bundle", "replay", "a.json", "--app", self_path()),
                     12);
    ck_assert(says(&last.out, "history has activity charge, code wants activity pack"));
    ck_assert_int_eq(RUN("bundle", "diff", "a.json", "a.json"), 0);
    ck_assert_int_eq(RUN("bundle", "diff", "a.json", "b.json"), 1);
    ck_assert(says(&last.out, "step 1  different_input"));
    ck_assert_int_eq(RUN("bundle", "diff", "a", "b", "--store", path, "--json"), 1);
    ck_assert_int_eq(hf_int(json(&last.out), "different", 0), 1);
    FAILS(2, "invalid", "bundle", "diff", "a.json");
    ck_assert_int_eq(RUN("schema-migrate", "other.db"), 0);
    ck_assert_int_eq(RUN("bundle", "import", "a.json", "--store", "other.db"), 0);
    ck_assert_int_eq(RUN("bundle", "export", "a", "--store", "other.db", "--out", "a2.json"), 0);
    ck_assert_int_eq(RUN("bundle", "diff", "a.json", "a2.json"), 0);
    FAILS(2, "invalid", "bundle", "import", "other.db", "--store", "other.db");
    FAILS(5, "not_found", "bundle", "import", "a.json", "--store", "other.db", "--namespace", "n");
    FAILS(5, "not_found", "bundle", "replay", "none.json", "--app", self_path());
    end();
}
END_TEST

static size_t out_lines(void)
{
    hf_slice rest = hf_buf_slice(&last.out);
    hf_slice line;
    size_t count = 0;

    while (hf_slice_split(&rest, '\n', &line))
        count += line.len > 0;
    return count;
}

/* Redacted values are not in the file, a signature fits its key alone, and several runs are several
   bundles, which the program itself takes one after the other. */
START_TEST(bundles_are_redacted_and_signed)
{
    const char *path;

    begin();
    path = store_make();
    file_write("key", "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60\n");
    ck_assert_int_eq(RUN("bundle", "export", "a", "--store", path, "--out", "r.json", "--redact",
                         "payloads", "--key", "secret", "--sign", "key"),
                     0);
    ck_assert_int_eq(RUN("bundle", "verify", "r.json", "--key", "secret"), 0);
    ck_assert_int_eq(RUN("bundle", "verify", "r.json", "--key", "other"), 1);
    ck_assert(says(&last.out, "integrity.signature_mismatch"));
    FAILS(2, "invalid", "bundle", "verify", "r.json", "--public-key", "zz");
    FAILS(2, "invalid", "bundle", "export", "a", "--store", path, "--redact", "nothing");
    ck_assert_int_eq(RUN("bundle", "export", "a", "b", "c", "--store", path, "--out", "all.json"),
                     0);
    ck_assert_int_eq(RUN("bundle", "verify", "all.json"), 0);
    ck_assert_uint_eq(out_lines(), 3);
    ck_assert_int_eq(RUN_IN(ENV("VARIANT=1"), "bundle", "replay", "all.json", "--app", self_path()),
                     12);
    ck_assert(says(&last.out, "3 replayed: 0 ok, 2 would block, 1 of types"));
    ck_assert_int_eq(
        run(ENV("VARIANT=0"), (const char *const[]){self_path(), "replay", "all.json", NULL}), 0);
    ck_assert(says(&last.out, "ok  c"));
    ck_assert_int_eq(
        run(ENV("VARIANT=0"), (const char *const[]){self_path(), "replay", "-x", NULL}), 2);
    file_write("cut.json", "{\"schema\": [");
    ck_assert_int_eq(
        run(ENV("VARIANT=0"), (const char *const[]){self_path(), "replay", "cut.json", NULL}), 2);
    ck_assert(says(&last.err, "cut off"));
    file_write("odd.json", "{\"schema\": \"x\"} {}");
    ck_assert_int_eq(run(ENV("VARIANT=0"), (const char *const[]){self_path(), "replay", "odd.json",
                                                                 "-o", "json", NULL}),
                     1);
    ck_assert(says(&last.out, "unreadable"));
    end();
}
END_TEST

int main(int argc, char **argv)
{
    const hf_case cases[] = {{gate_names_what_would_block, 0},
                             {gate_goes_on_behind_damage, 0},
                             {gate_survives_bad_programs, 0},
                             {bundles_travel_by_file, 0},
                             {bundles_are_redacted_and_signed, 0}};
    const char *variant = getenv("VARIANT");

    if (argc > 1 && variant)
        return hf_main(argc, argv, &apps[atoi(variant)]);
    return hf_suite_run("cli/replay", cases, sizeof(cases) / sizeof(cases[0]));
}
