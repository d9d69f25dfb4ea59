/* test_view.c: the verbs rebuild-projections and sql on real stores: what each flag does, what is
   printed, and the exit code of every refusal. */
#include "cli/exit.h"
#include "holdfast/holdfast.h"
/* after what declares a parameter `mem` */
#include "cli/program.h"
#include "lib/handlers.h"

static const hf_workflow_def workflows[] = {{.type = "end", .run = hf_end_now}, {0}};
static const hf_app app = {.name = "view", .workflows = workflows};

/* A store with two runs that are over and folded. */
static void store_make(void)
{
    hf_engine *d = NULL;
    const hf_error *failed = NULL;
    hf_value out = NULL;

    ck_assert_int_eq(hf_open("s.db", &app, &d), HF_OK);
    ck_assert_int_eq(hf_start(d, "end", NULL, .id = "a"), HF_OK);
    ck_assert_int_eq(hf_start(d, "end", NULL, .id = "b"), HF_OK);
    ck_assert_int_eq(hf_result(d, "a", hf_seconds(60), &out, &failed), HF_OK);
    ck_assert_int_eq(hf_result(d, "b", hf_seconds(60), &out, &failed), HF_OK);
    hf_close(d);
    ck_assert_int_eq(RUN("rebuild-projections", "s.db"), 0);
}

static hf_value rebuilt(const char *flag, const char *more, int code)
{
    const char *words[] = {PROGRAM, "rebuild-projections", "s.db", "--json", flag, more, NULL};

    ck_assert_msg(run(NULL, words) == code, "%s", hf_buf_text(&last.err));
    return json(&last.out);
}

/* Nothing to do; one that is missing, one that is wrong, one of nobody; first as a dry run, which
   changes nothing, then each flag for its own part. */
START_TEST(projections_are_made_anew)
{
    hf_value report;

    begin();
    store_make();
    report = rebuilt("--needs-rebuild", "--dry-run", 0);
    ck_assert_int_eq(hf_int(report, "runs", -1), 2);
    ck_assert_int_eq(hf_int(report, "rebuilt", -1), 0);
    sql_run("s.db", "DELETE FROM run_projection WHERE run = (SELECT min(key) FROM run)");
    sql_run("s.db", "UPDATE run_summary SET fan_out = 9 WHERE run = (SELECT max(key) FROM run)");
    sql_run("s.db", "INSERT INTO run_label (run, name, value) VALUES (999999, 'lost', 'x')");
    for (int i = 0; i < 2; i++) { /* the second time finds the same */
        report = rebuilt("--needs-rebuild", "--dry-run", 0);
        ck_assert(hf_bool(report, "dry_run", false));
        ck_assert_int_eq(hf_int(report, "missing", -1), 1);
        ck_assert_int_eq(hf_int(report, "stale", -1), 1);
        ck_assert_int_eq(hf_int(report, "rebuilt", -1), 2);
    }
    report = rebuilt("--missing", NULL, 0);
    ck_assert_int_eq(hf_int(report, "rebuilt", -1), 1);
    ck_assert_int_eq(hf_int(report, "pruned", -1), 0);
    report = rebuilt("--needs-rebuild", "--prune-stale", 0);
    ck_assert_int_eq(hf_int(report, "rebuilt", -1), 1);
    ck_assert_int_eq(hf_int(report, "pruned", -1), 1);
    ck_assert_int_eq(RUN("rebuild-projections", "s.db"), 0);
    ck_assert(says(&last.out, "2 runs; 0 missing, 0 behind, 0 stale; 2 rebuilt, 0 pruned"));
    sql_run("s.db",
            "UPDATE history SET run = run + 1000000 WHERE run = (SELECT min(key) FROM run)");
    report = rebuilt("--needs-rebuild", NULL, HF_CLI_EXIT_FAILED);
    ck_assert_int_eq(hf_int(report, "failed", -1), 1);
    ck_assert_int_eq(hf_int(report, "runs", -1), 1);
    FAILS(HF_CLI_EXIT_NOTFOUND, "not_found", "rebuild-projections", "none.db");
    end();
}
END_TEST

/* Rows as a table, as JSON and line by line; the views' columns have their names. */
START_TEST(questions_are_answered)
{
    begin();
    store_make();
    ck_assert_int_eq(
        RUN("sql", "s.db", "select instance_id, status from v_runs order by instance_id"), 0);
    ck_assert_str_eq(hf_buf_text(&last.out), "instance_id\tstatus\na\tcompleted\nb\tcompleted\n");
    ck_assert_int_eq(
        RUN("sql", "s.db", "select status, null as x from v_runs limit 1;", "-o", "json"), 0);
    ck_assert_str_eq(hf_buf_text(&last.out), "[{\"status\":\"completed\",\"x\":null}]\n");
    ck_assert_int_eq(
        RUN("sql", "s.db", "select instance_id as i from v_runs order by i", "-o", "jsonl"), 0);
    ck_assert_str_eq(hf_buf_text(&last.out), "{\"i\":\"a\"}\n{\"i\":\"b\"}\n");
    end();
}
END_TEST

/* What is no question is refused, what has no end is cut off, and the store is as it was. */
START_TEST(statements_that_do_more_are_refused)
{
    begin();
    store_make();
    FAILS(HF_CLI_EXIT_USAGE, "invalid", "sql", "s.db", "delete from run");
    FAILS(HF_CLI_EXIT_USAGE, "invalid", "sql", "s.db", "select 1; delete from run");
    FAILS(HF_CLI_EXIT_USAGE, "invalid", "sql", "s.db", "attach 'x.db' as x");
    FAILS(HF_CLI_EXIT_USAGE, "invalid", "sql", "s.db", "select nothing from v_runs");
    FAILS(HF_CLI_EXIT_NOTFOUND, "not_found", "sql", "none.db", "select 1");
    ck_assert_int_eq(RUN("sql", "s.db",
                         "with recursive n(x) as (select 1 union all select x + 1 from n) "
                         "select x from n"),
                     HF_CLI_EXIT_USAGE);
    ck_assert(says(&last.err, "there are more than 10000 rows"));
    ck_assert(says(&last.out, "\n10000\n"));
    ck_assert(!says(&last.out, "\n10001\n"));
    ck_assert_int_ne(access("x.db", F_OK), 0);
    ck_assert_int_eq(RUN("sql", "s.db", "select count(*) as n from v_runs"), 0);
    ck_assert_str_eq(hf_buf_text(&last.out), "n\n2\n");
    ck_assert_int_eq(RUN("verify", "s.db"), 0);
    end();
}
END_TEST

HF_SUITE_MAIN("cli/view", {projections_are_made_anew, 0}, {questions_are_answered, 0},
              {statements_that_do_more_are_refused, 0})
