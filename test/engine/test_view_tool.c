/* The tools for what operators read, on a store with runs in it: projections made anew, and
   questions in SQL; on both databases. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine_impl.h"
#include "engine/view_order.h"
#include "holdfast/tool.h"

/* ---- projections made anew */

static hf_rebuild_report rebuilt(const char *address, hf_rebuild_options options)
{
    hf_rebuild_report report = {.size = sizeof(report)};
    hf_err err = {0};

    options.size = sizeof(options);
    hf_test_ok(hf_rebuild(address, &options, &report, &err), &err, "rebuild");
    return report;
}

static void copy_remove(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-lock"};
    char gone[520];

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        (void)snprintf(gone, sizeof(gone), "%s%s", path, suffixes[i]);
        (void)unlink(gone);
    }
}

/* The same in a copy that nobody owns, one flag after the other: each does its own part and no
   more. */
static void copy_rebuilt(const char *address)
{
    hf_rebuild_report report;
    char path[512];
    hf_err err = {0};

    (void)snprintf(path, sizeof(path), "%s.copy", address);
    hf_test_ok(hf_tool_backup(address, path, NULL, NULL, &err), &err, "copy");
    report = rebuilt(path, (hf_rebuild_options){.missing = true});
    ck_assert_int_eq(report.rebuilt, 1);
    ck_assert_int_eq(report.pruned, 0);
    report = rebuilt(path, (hf_rebuild_options){.dry_run = true, .needs_rebuild = true});
    ck_assert_int_eq(report.missing, 0);
    ck_assert_int_eq(report.stale, 1);
    report = rebuilt(path, (hf_rebuild_options){.needs_rebuild = true});
    ck_assert_int_eq(report.rebuilt, 1);
    ck_assert_int_eq(report.pruned, 0);
    report = rebuilt(path, (hf_rebuild_options){.needs_rebuild = true, .prune_stale = true});
    ck_assert_int_eq(report.rebuilt, 0);
    ck_assert_int_eq(report.pruned, 1);
    report = rebuilt(path, (hf_rebuild_options){.dry_run = true});
    ck_assert_int_eq(report.missing + report.stale + report.pruned, 0);
    report = rebuilt(path, (hf_rebuild_options){0});
    ck_assert_int_eq(report.rebuilt, 2);
    copy_remove(path);
}

/* The tool tells what is missing, behind and stale, changes nothing in a dry run, makes anew what
   needs it and forgets what belongs to nobody. */
HF_BOTH_ENGINES(b191_rebuild_projections)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const char *address = hf_test_place_address(hf_kit_place(d));
    hf_rebuild_report report;

    order_start(d, "a", true, false);
    order_start(d, "b", true, true);
    report = rebuilt(address, (hf_rebuild_options){.dry_run = true, .needs_rebuild = true});
    ck_assert_int_eq(report.runs, 2);
    ck_assert_int_eq(report.rebuilt, 0);
    hf_kit_sql(d, "UPDATE run_summary SET exception_count = 9 WHERE exception_count = 1");
    hf_kit_sql(d, "DELETE FROM run_projection WHERE run = (SELECT min(key) FROM run)");
    hf_kit_sql(d, "INSERT INTO run_label (run, name, value) VALUES (999999, 'lost', 'x')");
    report = rebuilt(
        address, (hf_rebuild_options){.dry_run = true, .needs_rebuild = true, .prune_stale = true});
    ck_assert_int_eq(report.missing, 1);
    ck_assert_int_eq(report.stale, 1);
    ck_assert_int_eq(report.rebuilt, 2);
    ck_assert_int_eq(report.pruned, 1);
    report = rebuilt(address, (hf_rebuild_options){.dry_run = true, .missing = true});
    ck_assert_int_eq(report.rebuilt, 1);
    d = hf_kit_reopen(d, NULL); /* the tool may write while no engine works: the kit is idle now */
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run_label WHERE run = 999999"), 1);
    hf_engine_end(d);
    if (kind == HF_ENGINE_POSTGRES) {
        report = rebuilt(address, (hf_rebuild_options){.needs_rebuild = true, .prune_stale = true});
        ck_assert_int_eq(report.rebuilt, 2);
        report = rebuilt(address, (hf_rebuild_options){.dry_run = true, .needs_rebuild = true});
        ck_assert_int_eq(report.rebuilt, 0);
        ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run_label WHERE run = 999999"), 0);
        ck_assert_int_eq(hf_kit_number(d, "SELECT max(exception_count) FROM run_summary"), 1);
    } else {
        hf_err err = {0};

        ck_assert_int_eq(hf_rebuild(address, NULL, NULL, &err), HF_OWNED);
        copy_rebuilt(address);
        hf_kit_sql(d, "UPDATE run_summary SET exception_count = 1 WHERE exception_count = 9");
        hf_kit_sql(d, "DELETE FROM run_label WHERE run = 999999");
    }
    hf_kit_close(d);
}

/* A run that cannot be written is counted, and those behind it are made anew. */
HF_BOTH_ENGINES(n07_a_rebuild_goes_on)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const char *address = hf_test_place_address(hf_kit_place(d));
    hf_rebuild_report report;
    hf_err err = {0};
    char path[512];

    for (int i = 0; i < 3; i++)
        hf_kit_ok(d, hf_start(d, "order", hf_json(d, "{'total': 1}"),
                              .id = (const char *[]){"a", "b", "c"}[i],
                              .labels = i ? "{\"team\":\"blue\"}" : "{\"team\":\"bad\"}"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_sql(d, "DELETE FROM run_label");
    hf_kit_sql(d, "CREATE UNIQUE INDEX n07 ON run_label (value) WHERE value = 'bad'");
    hf_kit_sql(d, "INSERT INTO run_label (run, name, value) VALUES (999999, 'n07', 'bad')");
    if (kind == HF_ENGINE_POSTGRES) {
        hf_engine_end(d);
        report = rebuilt(address, (hf_rebuild_options){0});
    } else {
        (void)snprintf(path, sizeof(path), "%s.copy", address);
        hf_test_ok(hf_tool_backup(address, path, NULL, NULL, &err), &err, "copy");
        report = rebuilt(path, (hf_rebuild_options){0});
        copy_remove(path);
    }
    hf_kit_sql(d, "DELETE FROM run_label WHERE run = 999999");
    hf_kit_sql(d, "DROP INDEX n07");
    ck_assert_int_eq(report.runs, 3);
    ck_assert_int_eq(report.failed, 1);
    ck_assert_int_eq(report.rebuilt, 2);
    hf_kit_close(d);
}

/* ---- SQL */

typedef struct sql_seen {
    int rows;
    char first[256];
} sql_seen;

static bool sql_row(void *ctx, const char *const *names, const char *const *cells, size_t count)
{
    sql_seen *seen = ctx;

    ck_assert_uint_ge(count, 1);
    ck_assert_ptr_nonnull(names[0]);
    if (cells && !seen->rows++)
        (void)snprintf(seen->first, sizeof(seen->first), "%s", cells[0] ? cells[0] : "NULL");
    return true;
}

/* The names of a row's columns, as the document has them. */
static bool sql_names(void *ctx, const char *const *names, const char *const *cells, size_t count)
{
    char *text = ctx;
    size_t len = 0;

    (void)cells;
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, 512 - len, "%s%s", i ? ", " : "", names[i]);
    return true;
}

/* Columns are public interface: the document names those that there are, in their order. */
static void columns_check(const char *address, const char *view)
{
    char sql[96];
    char names[512] = "";
    char row[600];
    char line[1024];
    FILE *page = fopen(HF_TEST_DIR "/../docs/operate/sql.md", "rb");
    hf_err err = {0};
    bool found = false;

    ck_assert_ptr_nonnull(page);
    (void)snprintf(sql, sizeof(sql),
                   "select v.* from (select 1 as one) o left join %s v on 1 = 1 limit 1", view);
    hf_test_ok(hf_sql(address, NULL, sql, sql_names, names, &err), &err, sql);
    (void)snprintf(row, sizeof(row), "| `%s` |", names);
    while (fgets(line, sizeof(line), page))
        found |= strstr(line, view) && strstr(line, row);
    (void)fclose(page);
    ck_assert_msg(found, "the document does not name the columns of %s: %s", view, names);
}

/* The documented views answer the same on both databases; what writes, attaches, loops or never
   ends is refused or cut off. */
HF_BOTH_ENGINES(sql_reads_and_does_nothing_else)
{
    static const char *const views[] = {"v_runs",       "v_events",   "v_waits",
                                        "v_activities", "v_failures", "v_tasks"};
    static const char *const bad[] = {
        "DELETE FROM run",
        "UPDATE run SET status = 6",
        "select 1; delete from run",
        "select 1) q; delete from run; select (1",
        "ATTACH 'x.db' AS x",
        "PRAGMA journal_mode = DELETE",
        "with x as (delete from run returning key) select * from x",
        "select '",
        "select 1 -- comment",
        "select 1;; ",
        "VACUUM INTO 'x.db'",
        "explain select 1",
        "select load_extension('x')",
        "selection",
        "  ;",
        "",
    };
    hf_engine *d = hf_kit_open(kind, &app);
    const char *address = hf_test_place_address(hf_kit_place(d));
    hf_sql_options tight = {.size = sizeof(tight), .timeout_ms = 200};
    sql_seen seen = {0};
    hf_err err = {0};
    char text[128];

    order_start(d, "o", true, true);
    for (size_t i = 0; i < 6; i++) {
        (void)snprintf(text, sizeof(text), "select count(*) as n from %s", views[i]);
        seen = (sql_seen){0};
        hf_test_ok(hf_sql(address, NULL, text, sql_row, &seen, &err), &err, text);
        ck_assert_int_eq(seen.rows, 1);
    }
    seen = (sql_seen){0};
    hf_test_ok(hf_sql(address, NULL, "select status from v_runs where instance_id = 'o'", sql_row,
                      &seen, &err),
               &err, "ask");
    ck_assert_str_eq(seen.first, "waiting");
    seen = (sql_seen){0};
    hf_test_ok(hf_sql(address, NULL, "select failure_type from v_failures", sql_row, &seen, &err),
               &err, "ask");
    ck_assert_str_eq(seen.first, "card_declined");
    for (size_t i = 0; i < 6; i++)
        columns_check(address, views[i]);
    hf_kit_ok(d, hf_test_advance(d, 2000));
    hf_kit_ok(d, hf_test_drain(d));
    seen = (sql_seen){0};
    hf_test_ok(hf_sql(address, NULL, "select kind from v_waits", sql_row, &seen, &err), &err,
               "ask");
    ck_assert_int_eq(seen.rows, 1);
    ck_assert_str_eq(seen.first, "signal");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(hf_sql(address, NULL, bad[i], sql_row, &seen, &err) == HF_INVALID, "%s: %s",
                      bad[i], err.text);
    if (kind == HF_ENGINE_POSTGRES) {
        ck_assert_int_eq(
            hf_sql(address, NULL, "select * from run for update", sql_row, &seen, &err),
            HF_INVALID);
        ck_assert_int_eq(hf_sql(address, NULL, "select 1 as a, 2 as a", sql_row, &seen, &err),
                         HF_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, "a name of its own"));
    }
    ck_assert_int_eq(hf_sql(address, NULL, "Drop table run", sql_row, &seen, &err), HF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "begins with SELECT"));
    seen = (sql_seen){0};
    hf_test_ok(hf_sql(address, NULL, " Values (7) ; ", sql_row, &seen, &err), &err, "ask");
    ck_assert_str_eq(seen.first, "7");
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), 1);
    ck_assert_int_eq(
        hf_sql(address, &tight,
               "with recursive n(x) as (select 1 union all select x + 1 from n) select count(x) "
               "from n",
               sql_row, &seen, &err),
        HF_TIMEOUT);
    ck_assert_ptr_nonnull(strstr(err.text, "took longer than 200 ms"));
    tight = (hf_sql_options){.size = sizeof(tight), .rows_max = 10};
    seen = (sql_seen){0};
    ck_assert_int_eq(
        hf_sql(address, &tight,
               "with recursive n(x) as (select 1 union all select x + 1 from n where x "
               "< 1000) select x from n",
               sql_row, &seen, &err),
        HF_TOOBIG);
    ck_assert_int_eq(seen.rows, 10);
    seen = (sql_seen){0};
    ck_assert_int_eq(hf_sql(address, NULL,
                            kind == HF_ENGINE_SQLITE ? "select hex(zeroblob(100000000)) as x"
                                                     : "select repeat('x', 100000000) as x",
                            sql_row, &seen, &err),
                     HF_TOOBIG);
    ck_assert_int_eq(seen.rows, 0);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/view_tool", HF_BOTH(b191_rebuild_projections),
                 HF_BOTH(n07_a_rebuild_goes_on), HF_BOTH_SLOW(sql_reads_and_does_nothing_else, 60))
