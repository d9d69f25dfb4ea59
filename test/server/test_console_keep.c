/* test_console_keep.c: preferences of whoever is logged in, and SQL, over real HTTP on both
   databases: what is kept for whom and how much, and that SQL reads views, within limits and for
   those alone who may see all namespaces. */
#include <stdio.h>
#include <string.h>

#include "base/value.h"
#include "lib/handlers.h"
#include "lib/site.h"

#define READER "Authorization: Bearer tok-read\r\n"
#define PERSON "Authorization: Bearer tok-operator\r\n"
#define ADMIN  "Authorization: Bearer tok-admin\r\n"
#define OTHER  "Authorization: Bearer tok-elsewhere\r\n"

static const hf_app app = {
    .name = "keep",
    .workflows = (const hf_workflow_def[]){
        {.type = "order", .run = hf_wait_go, .signals = (const hf_signal_def[]){{"go", NULL}, {0}}},
        {0}}};

static void site_open(hf_site *site, hf_engine_kind kind)
{
    hf_site_open(site, kind, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(site);
}

static hf_site_answer prefer(hf_site *site, const char *who, const char *surface, const char *body)
{
    char path[160];

    (void)snprintf(path, sizeof(path), "/console/api/me/preferences/%s", surface);
    return hf_site_ask(site, body ? "PUT" : "GET", path, who, body);
}

static void refused(hf_site_answer answer, int status, const char *reason)
{
    ck_assert_msg(answer.status == status, "%d: %s", answer.status, answer.text);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), reason);
}

/* What was put is what is got, by the one who put it and nobody else; null forgets it. */
HF_BOTH_ENGINES(preferences_are_ones_own)
{
    hf_site site;
    hf_site_answer answer;

    site_open(&site, kind);
    answer = prefer(&site, READER, "runs.list", NULL);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_int_eq(hf_value_kind_of(hf_get(answer.body, "value")), HF_VALUE_NULL);
    answer = prefer(&site, READER, "runs.list",
                    "{\"value\":{\"columns\":[\"a\",\"b\"],\"big\":12345678901}}");
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert_str_eq(hf_str(answer.body, "value.columns.1", ""), "b");
    ck_assert_str_ne(hf_str(answer.body, "updated_at", ""), "");
    answer = prefer(&site, READER, "runs.list", "{\"value\":{\"columns\":[]}}");
    answer = prefer(&site, READER, "runs.list", NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "value.columns")), 0);
    ck_assert_int_eq(hf_int(answer.body, "value.big", -1), -1);
    answer = prefer(&site, PERSON, "runs.list", NULL);
    ck_assert_int_eq(hf_value_kind_of(hf_get(answer.body, "value")), HF_VALUE_NULL);
    answer = prefer(&site, READER, "runs.list", "{\"value\":null}");
    ck_assert_int_eq(answer.status, 200);
    ck_assert_int_eq(hf_value_kind_of(hf_get(answer.body, "value")), HF_VALUE_NULL);
    hf_site_close(&site);
}

/* They are small, few, and of names that are words. */
HF_BOTH_ENGINES(preferences_are_bounded)
{
    char big[17000];
    hf_site site;

    site_open(&site, kind);
    refused(prefer(&site, READER, "Runs", NULL), 422, "validation_failed");
    refused(prefer(&site, READER, "a%20b", "{\"value\":{}}"), 422, "validation_failed");
    refused(prefer(&site, READER, "runs", "{}"), 422, "validation_failed");
    refused(prefer(&site, READER, "runs", "{\"value\":[1]}"), 422, "validation_failed");
    refused(prefer(&site, READER, "runs", "{\"value\":\"x\"}"), 422, "validation_failed");
    (void)snprintf(big, sizeof(big), "{\"value\":{\"a\":\"%0*d\"}}", 16384, 0);
    refused(prefer(&site, READER, "runs", big), 422, "validation_failed");
    for (int i = 0; i < 32; i++) {
        char surface[16];

        (void)snprintf(surface, sizeof(surface), "s-%d", i);
        ck_assert_int_eq(prefer(&site, READER, surface, "{\"value\":{}}").status, 200);
    }
    refused(prefer(&site, READER, "s-32", "{\"value\":{}}"), 409, "too_many_preferences");
    ck_assert_int_eq(prefer(&site, READER, "s-31", "{\"value\":{\"a\":1}}").status, 200);
    ck_assert_int_eq(prefer(&site, PERSON, "s-32", "{\"value\":{}}").status, 200);
    refused(prefer(&site, NULL, "runs", NULL), 401, "unauthenticated");
    hf_site_close(&site);
}

static hf_site_answer ask_sql(hf_site *site, const char *who, const char *sql)
{
    char body[512];

    (void)snprintf(body, sizeof(body), "{\"sql\":\"%s\"}", sql);
    return hf_site_ask(site, "POST", "/console/api/sql", who, body);
}

/* The views and their columns; rows as texts and nulls, cut where asked. */
HF_BOTH_ENGINES(sql_asks_the_views)
{
    hf_site site;
    hf_site_answer answer;

    site_open(&site, kind);
    answer = hf_site_ask(&site, "GET", "/console/api/sql/schema", ADMIN, NULL);
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "views")), 6);
    ck_assert_str_eq(hf_str(answer.body, "views.0.name", ""), "v_runs");
    ck_assert_str_eq(hf_str(answer.body, "views.0.columns.1", ""), "namespace");
    ck_assert_str_eq(hf_str(answer.body, "views.5.columns.0", ""), "task");
    ck_assert_str_eq(hf_str(answer.body, "store", ""),
                     kind == HF_ENGINE_SQLITE ? "sqlite" : "postgres");
    for (int i = 0; i < 3; i++) {
        char body[96];

        (void)snprintf(body, sizeof(body), "{\"workflow_type\":\"order\",\"workflow_id\":\"o-%d\"}",
                       i);
        ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows", ADMIN, body).status, 201);
    }
    answer =
        ask_sql(&site, ADMIN,
                "select instance_id, closed_us as \\\"end\\\" from v_runs order by instance_id;");
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert_str_eq(hf_str(answer.body, "columns.0", ""), "instance_id");
    ck_assert_str_eq(hf_str(answer.body, "columns.1", ""), "end");
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "rows")), 3);
    ck_assert_str_eq(hf_str(answer.body, "rows.2.0", ""), "o-2");
    ck_assert_int_eq(hf_value_kind_of(hf_get(answer.body, "rows.0.1")), HF_VALUE_NULL);
    ck_assert(!hf_bool(answer.body, "cut", true));
    answer = hf_site_ask(&site, "POST", "/console/api/sql", ADMIN,
                         "{\"sql\":\"select instance_id from v_runs\",\"limit\":2}");
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "rows")), 2);
    ck_assert(hf_bool(answer.body, "cut", false));
    answer = ask_sql(
        &site, ADMIN,
        "with t as (select count(*) as n from v_runs where status in ('waiting', 'running', "
        "'pending')) select coalesce(n, 0) as n, 'it''s (a) pg_text' as c from t");
    ck_assert_msg(answer.status == 200, "%s", answer.text);
    ck_assert_str_eq(hf_str(answer.body, "rows.0.0", ""), "3");
    hf_site_close(&site);
}

/* Whatever does not read views is refused, however it is spelt. */
HF_BOTH_ENGINES(sql_reads_and_no_more)
{
    static const char *const bad[] = {"delete from run",
                                      "select 1; select 2",
                                      "select * from v_runs -- all",
                                      "select pg_sleep(1)",
                                      "select PG_Terminate_Backend(1)",
                                      "select * from \\\"pg_catalog\\\".\\\"pg_class\\\"",
                                      "select * from information_schema.tables",
                                      "select * from sqlite_master",
                                      "select load_extension ('x')",
                                      "select randomblob(1000000000)",
                                      "select hex(zeroblob(100))",
                                      "select \\\"pg_read_file\\\"('/etc/passwd')",
                                      "select `load_extension`('x')",
                                      "select [load_extension]('x')",
                                      "select query_to_xml('select 1', true, true, '')",
                                      "select set_config('a.b', 'c', false)",
                                      "select nothing from v_runs",
                                      "select 1 from v_runs for update",
                                      ""};
    hf_site site;

    site_open(&site, kind);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_site_answer answer = ask_sql(&site, ADMIN, bad[i]);

        ck_assert_msg(answer.status == 422, "%s: %d %s", bad[i], answer.status, answer.text);
        ck_assert_msg(hf_get(answer.body, "validation_errors.sql") != NULL, "%s: %s", bad[i],
                      answer.text);
    }
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/console/api/sql", ADMIN,
                                 "{\"sql\":\"select 1 as a\",\"limit\":1001}")
                         .status,
                     422);
    refused(ask_sql(&site, ADMIN,
                    "with recursive n as (select 'xxxxxxxx' as x, 1 as i union all select x || x, "
                    "i + 1 from n where i < 20) select x from n"),
            413, "payload_too_large");
    refused(ask_sql(&site, ADMIN, "with recursive n(i) as (select 1) select i from n"), 422,
            "validation_failed");
    refused(
        ask_sql(&site, ADMIN,
                "with recursive n as (select 1 as i union all select i + 1 from n) select count(i) "
                "as c from n"),
        422, "sql_timeout");
    hf_site_close(&site);
}

/* The views show every namespace, so that only an admin of all of them asks. */
START_TEST(sql_is_for_those_who_see_everything)
{
    static const char sql[] = "select 1 as a";
    hf_site site;

    site_open(&site, HF_ENGINE_SQLITE);
    refused(ask_sql(&site, READER, sql), 403, "forbidden");
    refused(ask_sql(&site, PERSON, sql), 403, "forbidden");
    refused(ask_sql(&site, OTHER, sql), 403, "forbidden");
    refused(hf_site_ask(&site, "GET", "/console/api/sql/schema", OTHER, NULL), 403, "forbidden");
    refused(hf_site_ask(&site, "GET", "/console/api/sql/schema", PERSON, NULL), 403, "forbidden");
    ck_assert_int_eq(ask_sql(&site, ADMIN, sql).status, 200);
    hf_site_close(&site);
}
END_TEST

HF_PG_SUITE_MAIN("server/console_keep", HF_BOTH(preferences_are_ones_own),
                 HF_BOTH(preferences_are_bounded), HF_BOTH(sql_asks_the_views),
                 HF_BOTH(sql_reads_and_no_more), {sql_is_for_those_who_see_everything, 0})
