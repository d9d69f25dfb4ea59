/* How the databases find the rows of a turn: by keys, whatever waits beside them. Plans are read,
   not times: they are those of empty tables, which a connection keeps while the tables grow. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "lib/engine.h"
#include "lib/world.h"

static hf_err err;

static void ok(hf_status st, const char *doing)
{
    hf_test_ok(st, &err, doing);
}

/* What a core asks on the path of a turn, and the pages of work that it looks through. */
static const hf_stmt reads[] = {
    HF_STMT_RUN_GET,       HF_STMT_RUN_LOAD,       HF_STMT_LINK_PARENT,     HF_STMT_HISTORY_READ,
    HF_STMT_ACTIVITY_READ, HF_STMT_TIMER_READ,     HF_STMT_INBOX_READ,      HF_STMT_COMMAND_OPEN,
    HF_STMT_TASK_PRIORITY, HF_STMT_BUCKET_GET,     HF_STMT_WORK_TASKS,      HF_STMT_WORK_INBOX,
    HF_STMT_WORK_TIMERS,   HF_STMT_WORK_DEADLINES, HF_STMT_WORK_ACTIVITIES, HF_STMT_LINK_OPEN,
    HF_STMT_RUN_OPEN,      HF_STMT_FOLD_LOAD,      HF_STMT_PROJECTION_GET,  HF_STMT_FOLD_HISTORY};

enum { READS = sizeof(reads) / sizeof(reads[0]), PARAMS_MAX = 64 };

/* The plan, a line after the other. */
static void plan_read(hf_db *db, const char *sql, int count, hf_buf *plan, size_t column)
{
    hf_db_value params[PARAMS_MAX];
    hf_db_cursor *cursor = NULL;
    bool row = true;

    ck_assert_int_le(count, PARAMS_MAX);
    for (int i = 0; i < count; i++)
        params[i] = hf_db_null(HF_DB_INT);
    hf_buf_clear(plan);
    ok(hf_db_query_text(db, sql, params, (size_t)count, &cursor, &err), sql);
    while (row) {
        ok(hf_db_step(cursor, &row, &err), "a line");
        if (row) {
            hf_buf_add_slice(plan, hf_db_column_bytes(cursor, column));
            hf_buf_add_text(plan, "\n");
        }
    }
    hf_db_end(cursor);
    hf_buf_add(plan, "", 1);
    ck_assert(hf_buf_ok(plan));
}

static int params_count(const char *sql)
{
    int most = 0;
    int number;

    for (const char *at = strchr(sql, '?'); at; at = strchr(at + 1, '?'))
        if (sscanf(at, "?%d", &number) == 1 && number > most)
            most = number;
    return most;
}

/* As a session plans it that has never seen a row. */
static void postgres_plan(hf_db *db, const char *name, const char *sql, hf_buf *plan)
{
    hf_buf text = {0};
    int count = params_count(sql);

    hf_buf_add_format(&text, "PREPARE plan_%s AS %s", name, sql);
    hf_buf_add(&text, "", 1);
    plan_read(db, text.ptr, 0, plan, 0);
    hf_buf_clear(&text);
    hf_buf_add_format(&text, "EXPLAIN EXECUTE plan_%s", name);
    for (int i = 0; i < count; i++)
        hf_buf_add_text(&text, i ? ", NULL" : "(NULL");
    hf_buf_add_text(&text, count ? ")" : "");
    hf_buf_add(&text, "", 1);
    ck_assert(hf_buf_ok(&text));
    plan_read(db, text.ptr, 0, plan, 0);
    hf_buf_clear(&text);
    hf_buf_add_format(&text, "DEALLOCATE plan_%s", name);
    hf_buf_add(&text, "", 1);
    {
        hf_buf none = {0};

        plan_read(db, text.ptr, 0, &none, 0);
        hf_buf_fini(&none);
    }
    hf_buf_fini(&text);
}

/* Whether an index is read from one end to the other. One that a minimum is taken from is not. */
static bool index_read_whole(const char *plan)
{
    const char *at = plan;

    while ((at = strstr(at, "Index "))) {
        const char *line = strchr(at, '\n');
        const char *next = line ? strchr(line + 1, '\n') : NULL;
        const char *said = strstr(at, "Scan ");

        if (said && line && said < line) {
            char under[256] = "";

            if (next)
                (void)snprintf(under, sizeof(under), "%.*s", (int)(next - line), line);
            if (!strstr(under, "Index Cond"))
                return true;
        }
        at = line ? line : at + 1;
    }
    return false;
}

/* What sweeps and retention remove is not found by the keys of a turn; they say how much. Tasks
   that workers could not do are all that the index of task_calm has. */
static bool swept(const char *name)
{
    return strncmp(name, "retire_", 7) == 0 || strcmp(name, "metric_prune") == 0 ||
           strcmp(name, "task_calm") == 0 || strcmp(name, "slot_clear") == 0 ||
           strcmp(name, "slot_renew") == 0;
}

/* No statement of a unit reads an index or a table as a whole, however few rows it was planned
   for: with a hundred thousand tasks that wait, each turn would look at all of them. */
START_TEST(units_find_rows_by_keys_on_postgres)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_db *db = NULL;
    hf_buf plan = {0};
    hf_world world;
    int seen = 0;

    ok(hf_world_open(&world, hf_test_place_address(place), NULL, &err), "open");
    ok(hf_test_place_dial(place, HF_DB_WRITE, NULL, 0, &db, &err), "dial");
    for (size_t i = 0; i < hf_stmt_texts_count; i++) {
        const hf_stmt_text *text = &hf_stmt_texts[i];
        const char *forms[] = {text->postgres, text->assured, text->lone};

        for (size_t form = 0; form < 3; form++) {
            bool of_rows = text->lone || (forms[form] && strstr(forms[form], "unnest("));

            if (!forms[form] || !of_rows || swept(text->name))
                continue;
            postgres_plan(db, text->name, forms[form], &plan);
            ck_assert_msg(!strstr(plan.ptr, "Seq Scan") && !index_read_whole(plan.ptr), "%s:\n%s",
                          text->name, plan.ptr);
            seen++;
        }
    }
    ck_assert_int_gt(seen, 50);
    hf_buf_fini(&plan);
    hf_db_close(db);
    hf_world_close(&world);
    hf_test_place_free(place);
}
END_TEST

/* The same for what is read on the way; pages come in the order of an index, so that the next one
   does not sort all that is behind it. */
START_TEST(turns_read_by_keys_on_postgres)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_db *db = NULL;
    hf_buf plan = {0};
    hf_world world;

    ok(hf_world_open(&world, hf_test_place_address(place), NULL, &err), "open");
    ok(hf_store_connect_by_key(world.store, &db, &err), "connect");
    for (size_t i = 0; i < READS; i++) {
        const hf_stmt_text *text = &hf_stmt_texts[reads[i]];

        postgres_plan(db, text->name, text->postgres, &plan);
        ck_assert_msg(!strstr(plan.ptr, "Seq Scan") && !index_read_whole(plan.ptr), "%s:\n%s",
                      text->name, plan.ptr);
        if (strncmp(text->name, "work_", 5) == 0)
            ck_assert_msg(!strstr(plan.ptr, "Sort"), "%s:\n%s", text->name, plan.ptr);
    }
    hf_buf_fini(&plan);
    hf_db_close(db);
    hf_world_close(&world);
    hf_test_place_free(place);
}
END_TEST

/* Whether a table is read from one end to the other. The keys that a statement is given are. */
static bool table_read_whole(const char *plan)
{
    static const char *const given[] = {"SCAN CONSTANT ROW", "SCAN json_each", "SCAN k\n",
                                        "SCAN c\n", "SCAN n\n"};

    for (const char *at = strstr(plan, "SCAN "); at; at = strstr(at + 1, "SCAN ")) {
        bool fine = false;

        for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
            fine |= strncmp(at, given[i], strlen(given[i])) == 0;
        if (!fine)
            return true;
    }
    return false;
}

static void sqlite_look(hf_db *db, const hf_stmt_text *text, hf_buf *plan)
{
    hf_buf sql = {0};

    hf_buf_add_format(&sql, "EXPLAIN QUERY PLAN %s", text->sqlite);
    hf_buf_add(&sql, "", 1);
    ck_assert(hf_buf_ok(&sql));
    plan_read(db, sql.ptr, params_count(text->sqlite), plan, 3);
    hf_buf_fini(&sql);
}

/* And on SQLite, for both. */
START_TEST(turns_find_rows_by_keys_on_sqlite)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_buf plan = {0};
    hf_world world;
    hf_db *db = NULL;
    int seen = 0;

    ok(hf_world_open(&world, hf_test_place_address(place), NULL, &err), "open");
    ok(hf_store_connect_by_key(world.store, &db, &err), "connect");
    for (size_t i = 0; i < hf_stmt_texts_count; i++) {
        const hf_stmt_text *text = &hf_stmt_texts[i];
        bool wanted = text->sqlite && text->postgres && strstr(text->postgres, "unnest(") &&
                      !swept(text->name);

        for (size_t at = 0; at < READS; at++)
            wanted |= reads[at] == (hf_stmt)i;
        if (!wanted)
            continue;
        sqlite_look(db, text, &plan);
        ck_assert_msg(!table_read_whole(plan.ptr), "%s:\n%s", text->name, plan.ptr);
        if (strncmp(text->name, "work_", 5) == 0)
            ck_assert_msg(!strstr(plan.ptr, "TEMP B-TREE"), "%s:\n%s", text->name, plan.ptr);
        seen++;
    }
    ck_assert_int_gt(seen, 50);
    hf_buf_fini(&plan);
    hf_db_close(db);
    hf_world_close(&world);
    hf_test_place_free(place);
}
END_TEST

HF_PG_SUITE_MAIN("store/plan", {units_find_rows_by_keys_on_postgres, 120},
                 {turns_read_by_keys_on_postgres, 60}, {turns_find_rows_by_keys_on_sqlite, 60})
