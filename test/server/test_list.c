/* test_list.c: lists of runs over real HTTP: every filter of the engine can be asked for by its
   name, does what it does in C, and is in the OpenAPI document; labels, search attributes, views,
   facets and totals too. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/value.h"
#include "holdfast/view.h"
#include "lib/handlers.h"
#include "lib/site.h"

static const hf_signal_def go[] = {{"go", NULL}, {0}};
static const hf_app app = {
    .name = "lists",
    .workflows = (const hf_workflow_def[]){{.type = "order", .run = hf_wait_go, .signals = go},
                                           {.type = "parcel", .run = hf_wait_go, .signals = go},
                                           {0}}};

static hf_site_answer list_get(hf_site *site, const char *query, int status)
{
    char path[512];
    hf_site_answer answer;

    (void)snprintf(path, sizeof(path), "/api/workflows?%s", query);
    answer = hf_site_ask(site, "GET", path, NULL, NULL);
    ck_assert_msg(answer.status == status, "%s: %d instead of %d: %.400s", query, answer.status,
                  status, answer.text);
    return answer;
}

static void runs_make(hf_site *site)
{
    static const char *const bodies[] = {
        "{\"workflow_type\":\"order\",\"workflow_id\":\"o-1\",\"business_key\":\"b-1\",\"labels\":{"
        "\"region\":\"eu\"},\"search_attributes\":{\"amount\":5}}",
        "{\"workflow_type\":\"order\",\"workflow_id\":\"o-2\",\"labels\":{\"region\":\"us\"},"
        "\"search_attributes\":{\"amount\":50}}",
        "{\"workflow_type\":\"parcel\",\"workflow_id\":\"p-1\",\"task_queue\":\"slow\"}"};

    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        ck_assert_int_eq(hf_site_ask(site, "POST", "/api/workflows", NULL, bodies[i]).status, 201);
    ck_assert_int_eq(hf_site_ask(site, "POST", "/api/workflows/o-2/terminate", NULL, "{}").status,
                     202);
}

/* The list must come to have these ids: labels and attributes are folded a moment after the commit.
 */
static void list_shows(hf_site *site, const char *query, const char *ids)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + INT64_C(60000000);
    char found[64];

    do {
        hf_value runs = hf_get(list_get(site, query, 200).body, "workflows");

        found[0] = '\0';
        for (size_t i = 0; i < hf_len(runs); i++)
            (void)snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s",
                           i ? " " : "", hf_str(hf_at(runs, i), "workflow_id", ""));
    } while (strcmp(found, ids) != 0 && hf_clock_mono_us(hf_clock_system()) < until_us);
    ck_assert_msg(strcmp(found, ids) == 0, "%s: \"%s\" instead of \"%s\"", query, found, ids);
}

/* What each query finds: ids in the order of the list, oldest last. */
HF_BOTH_ENGINES(filters_are_parameters)
{
    static const struct {
        const char *query;
        const char *found;
    } rows[] = {
        {"", "p-1 o-2 o-1"},
        {"status=running", "p-1 o-1"},
        {"run_status=terminated", "o-2"},
        {"status_bucket=running&workflow_type=order", "o-1"},
        {"workflow_type=parcel", "p-1"},
        {"query=o-", "o-2 o-1"},
        {"order=oldest", "o-1 o-2 p-1"},
        {"order=newest&workflow_type=order", "o-2 o-1"},
        {"q=-type:order", "p-1"},
        {"q=-is:terminated+-label.region:eu", "p-1"},
        {"q=-is:open&workflow_type=order", "o-2"},
        {"instance_id=o-1", "o-1"},
        {"instance_id_contains=-1", "p-1 o-1"},
        {"workflow_type_contains=arc", "p-1"},
        {"business_key=b-1", "o-1"},
        {"business_key_contains=b", "o-1"},
        {"queue=slow", "p-1"},
        {"is_terminal=true", "o-2"},
        {"is_current_run=true&is_terminal=false", "p-1 o-1"},
        {"archived=true", ""},
        {"closed_reason=terminated", "o-2"},
        {"repair_attention=true", ""},
        {"task_problem=true", ""},
        {"continue_as_new_recommended=true", ""},
        {"failure=none", ""},
        {"connection=x", ""},
        {"started_from=2000-01-01T00:00:00Z&started_to=2001-01-01T00:00:00Z", ""},
        {"closed_from=2000-01-01T00:00:00Z", "o-2"},
        {"label%5Bregion%5D=eu", "o-1"},
        {"label[region]=us", "o-2"},
        {"search_attribute[amount]=5", "o-1"},
        {"search_attribute[amount][gte]=6", "o-2"},
        {"search_attribute[amount][gt]=4&search_attribute[amount][lt]=6", "o-1"},
    };
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    runs_make(&site);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        list_shows(&site, rows[i].query, rows[i].found);
    hf_site_close(&site);
}

/* What cannot be is refused with the field's name; nothing is left out in silence. */
HF_BOTH_ENGINES(bad_filters_are_refused)
{
    static const char *const bad[] = {"liveness_state=strange",
                                      "is_terminal=maybe",
                                      "started_from=soon",
                                      "workflow_type=a&workflow_type=b",
                                      "label[bad%20name]=x",
                                      "search_attribute[n][near]=1",
                                      "status=strange",
                                      "page_size=0",
                                      "facets=strange",
                                      "order=sideways",
                                      "q=tpye:x"};
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_site_answer answer = list_get(&site, bad[i], 422);

        ck_assert_str_eq(hf_str(answer.body, "reason", ""), "validation_failed");
    }
    ck_assert_int_eq(list_get(&site, "view=none", 404).status, 404);
    ck_assert_int_eq(list_get(&site, "next_page_token=x", 400).status, 400);
    hf_site_close(&site);
}

/* A filter that nobody knows, one that is written wrongly, and one that is given twice or in two
   ways: no list is longer than it was asked to be. */
HF_BOTH_ENGINES(n08_filters_that_are_not_understood)
{
    static const char *const bad[] = {"label=team",
                                      "labels[team]=red",
                                      "label[team=red",
                                      "label[]=red",
                                      "label[a][gte]=1",
                                      "label[a]=1&label%5Ba%5D=2",
                                      "search_attribute=x",
                                      "search_attribute[a][gte=1",
                                      "search_attribute[a]=1&search_attribute[a][gte]=2",
                                      "workflow_typ=x",
                                      "query=o&instance_id_contains=p",
                                      "status=running&status=running",
                                      "namespace=default&namespace=other",
                                      "total=maybe"};
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_site_answer answer = list_get(&site, bad[i], 422);

        ck_assert_str_eq(hf_str(answer.body, "reason", ""), "validation_failed");
    }
    ck_assert_int_eq(list_get(&site, "", 200).status, 200);
    ck_assert_int_eq(list_get(&site, "namespace=default&total=yes&status=", 200).status, 200);
    hf_site_close(&site);
}

/* Facets, totals and views come with the page that asked for them. */
HF_BOTH_ENGINES(lists_have_extras)
{
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    runs_make(&site);
    answer = list_get(&site, "facets=workflow_type,queue&total=true&page_size=1", 200);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "workflows")), 1);
    ck_assert_ptr_nonnull(hf_get(answer.body, "facets.workflow_type"));
    ck_assert_ptr_nonnull(hf_get(answer.body, "facets.queue"));
    ck_assert_msg(strstr(answer.text, "\"total\":{") != NULL, "%s", answer.text);
    ck_assert_int_eq(hf_int(answer.body, "visibility_filters.version", 0), 6);
    hf_site_close(&site);
}

/* Every field that the engine filters by is a parameter of the document, and of the list. */
START_TEST(no_filter_is_missing)
{
    hf_site site;
    hf_site_answer answer;
    hf_value known = NULL;
    hf_value parameters;
    hf_mem *mem = hf_mem_new();
    hf_value fields;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    ck_assert_int_eq(hf_list_filters(site.engine, mem, &known), HF_OK);
    fields = hf_get(known, "fields");
    answer = hf_site_ask(&site, "GET", "/api/openapi.json", NULL, NULL);
    parameters = hf_get(hf_value_find(hf_get(answer.body, "paths"), HF_SLICE("/api/workflows")),
                        "get.parameters");
    ck_assert_uint_gt(hf_len(fields), 20);
    for (size_t i = 0; i < hf_len(fields); i++) {
        hf_slice name;
        hf_value item;
        bool there = false;

        ck_assert(hf_value_member(fields, i, &name, &item));
        if (hf_slice_equal(name, HF_SLICE("namespace")))
            continue; /* the request's */
        if (hf_slice_equal(name, HF_SLICE("status")))
            name = HF_SLICE("run_status"); /* status is the published bucket */
        for (size_t j = 0; j < hf_len(parameters); j++)
            there |= hf_slice_equal(hf_slice_of(hf_str(hf_at(parameters, j), "name", "")), name) &&
                     strcmp(hf_str(hf_at(parameters, j), "in", ""), "query") == 0;
        ck_assert_msg(there, "%.*s", (int)name.len, name.ptr);
    }
    hf_site_close(&site);
    hf_mem_free(mem);
}
END_TEST

static void script(const hf_site *site, const char *sql)
{
    hf_db *db = NULL;
    hf_err err = {0};

    hf_test_ok(hf_test_place_dial(site->place, HF_DB_WRITE, NULL, 0, &db, &err), &err, "connect");
    hf_test_ok(hf_db_script(db, sql, &err), &err, sql);
    hf_db_close(db);
}

/* What the store says about itself is nobody's business who asks over HTTP. */
START_TEST(n43_failures_of_the_store_stay_inside)
{
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, HF_ENGINE_POSTGRES, &app, (hf_server_options){0});
    script(&site, "ALTER TABLE saved_view RENAME TO hidden");
    answer = hf_site_ask(&site, "GET", "/api/views", NULL, NULL);
    ck_assert_int_eq(answer.status, 500);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "server_error");
    ck_assert_msg(!strstr(answer.text, "view"), "%s", answer.text);
    ck_assert_msg(!strstr(answer.text, "relation"), "%s", answer.text);
    script(&site, "ALTER TABLE hidden RENAME TO saved_view");
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/api/views", NULL, NULL).status, 200);
    hf_site_close(&site);
}
END_TEST

HF_PG_SUITE_MAIN("server/list", HF_BOTH(filters_are_parameters), HF_BOTH(bad_filters_are_refused),
                 HF_BOTH(n08_filters_that_are_not_understood), HF_BOTH(lists_have_extras),
                 {no_filter_is_missing, 0}, {n43_failures_of_the_store_stay_inside, 0})
