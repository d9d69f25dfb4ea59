/* test_console_bundle.c: bundles that are opened to be looked at, over real HTTP: their runs are
   shown as those of the store are, nothing of them enters it, nobody else sees them, there are not
   too many, and files that are no bundles are refused with what is wrong with them. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "lib/site.h"
#include "run_app.h"

#define OPEN   "/console/api/bundles"
#define READER "Authorization: Bearer tok-read\r\n"
#define ADMIN  "Authorization: Bearer tok-admin\r\n"

/* ---- helpers */

static void open_with(hf_site *site, hf_engine_kind kind)
{
    hf_site_open(site, kind, &run_app, (hf_server_options){0});
}

/* Waits until the run waits for a signal, and returns its id, which lives until the next. */
static const char *order_start(hf_site *site, const char *id, const char *input)
{
    static char run[64];
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + INT64_C(60000000);
    char path[256];
    hf_buf body = {0};
    hf_value head;

    hf_buf_add_format(&body, "{\"workflow_type\":\"order\",\"workflow_id\":\"%s\",\"input\":%s}",
                      id, input);
    (void)hf_site_expect(site, "POST", "/api/workflows", hf_buf_text(&body), 201);
    hf_buf_fini(&body);
    (void)snprintf(path, sizeof(path), "/console/api/runs/%s", id);
    do
        head = hf_site_expect(site, "GET", path, NULL, 200).body;
    while (strcmp(hf_str(head, "liveness_state", ""), "waiting_for_signal") != 0 &&
           hf_clock_mono_us(hf_clock_system()) < until_us);
    ck_assert_str_eq(hf_str(head, "liveness_state", ""), "waiting_for_signal");
    (void)snprintf(run, sizeof(run), "%s", hf_str(head, "run_id", ""));
    return run;
}

/* The bundle of a run as the server exports it. */
static void bundle_of(hf_site *site, const char *id, const char *run, const char *more, hf_buf *out)
{
    char path[256];
    hf_site_answer answer;

    (void)snprintf(path, sizeof(path), "/api/workflows/%s/runs/%s/history/export", id, run);
    answer = hf_site_ask(site, "GET", path, more, NULL);
    ck_assert_msg(answer.status == 200, "%s: %.300s", path, answer.text);
    hf_buf_clear(out);
    hf_buf_add_text(out, answer.text);
    ck_assert(hf_buf_ok(out));
}

/* Opens it; the id lives until the next. */
static const char *opened(hf_site *site, const char *more, const hf_buf *bundle)
{
    static char id[64];
    hf_site_answer answer = hf_site_ask(site, "POST", OPEN, more, hf_buf_text(bundle));

    ck_assert_msg(answer.status == 201, "%d: %.600s", answer.status, answer.text);
    (void)snprintf(id, sizeof(id), "%s", hf_str(answer.body, "bundle.id", ""));
    return id;
}

/* The text of a member of an answer, in `out`. */
static void member_keep(hf_site *site, const char *path, const char *member, hf_buf *out)
{
    hf_value value = hf_get(hf_site_expect(site, "GET", path, NULL, 200).body, member);

    ck_assert_msg(value != NULL, "%s has no %s", path, member);
    hf_buf_clear(out);
    hf_json_write_canonical(out, value);
    ck_assert(hf_buf_ok(out));
}

/* Says where they begin to differ. */
static void same_check(const char *what, const hf_buf *stored, const hf_buf *shown)
{
    size_t at = 0;

    while (at < stored->len && at < shown->len && hf_buf_text(stored)[at] == hf_buf_text(shown)[at])
        at++;
    ck_assert_msg(at == stored->len && at == shown->len, "%s differs at %zu:\n%.600s\n%.600s", what,
                  at, hf_buf_text(stored) + (at > 100 ? at - 100 : 0),
                  hf_buf_text(shown) + (at > 100 ? at - 100 : 0));
}

/* ---- what is shown */

/* Part by part the run of a bundle is what the run of the store is. */
HF_BOTH_ENGINES(shows_what_the_store_shows)
{
    static const struct {
        const char *part;
        const char *member;
    } parts[] = {{"", "arguments"},
                 {"", "visibility_labels"},
                 {"", "counts"},
                 {"", "history_event_count"},
                 {"", "history_size_bytes"},
                 {"", "status"},
                 {"", "workflow_id"},
                 {"", "run_id"},
                 {"", "started_by"},
                 {"", "memo"},
                 {"/events?limit=500", "events"},
                 {"/events?kinds=activity&q=NEEDLE", "events"},
                 {"/spans", "spans.bars"},
                 {"/spans", "spans.barriers"},
                 {"/commands", "commands"},
                 {"/commands", "signals"},
                 {"/activities", "activities"},
                 {"/failures", "failures"},
                 {"/steps/1", "bar"},
                 {"/steps/2", "activity"},
                 {"/steps/4", "events"},
                 {"/state", "memo"},
                 {"/state", "notes"},
                 {"/events?order=desc&limit=3", "events"},
                 {"/steps/2?at=9", "events"},
                 {"?at=9", "counts"}};
    hf_buf bundle = {0};
    hf_buf stored = {0};
    hf_buf shown = {0};
    hf_site site;
    char id[64];

    open_with(&site, kind);
    bundle_of(&site, "o-1", order_start(&site, "o-1", "{\"limit\":5}"), NULL, &bundle);
    (void)snprintf(id, sizeof(id), "%s", opened(&site, NULL, &bundle));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char path[256];

        (void)snprintf(path, sizeof(path), "/console/api/runs/o-1%s", parts[i].part);
        member_keep(&site, path, parts[i].member, &stored);
        (void)snprintf(path, sizeof(path), OPEN "/%s/run%s", id, parts[i].part);
        member_keep(&site, path, parts[i].member, &shown);
        same_check(path, &stored, &shown);
    }
    hf_buf_fini(&bundle);
    hf_buf_fini(&stored);
    hf_buf_fini(&shown);
    hf_site_close(&site);
}

/* What only a store knows is not made up; nothing can be done; relatives are those the file names.
 */
HF_BOTH_ENGINES(a_file_is_no_run_of_the_store)
{
    hf_buf bundle = {0};
    hf_site_answer answer;
    char path[256];
    hf_site site;
    hf_value head;
    char id[64];

    open_with(&site, kind);
    bundle_of(&site, "o-1", order_start(&site, "o-1", "{\"limit\":5}"), NULL, &bundle);
    hf_site_close(&site);
    open_with(&site, kind); /* a server that never saw the run */
    (void)snprintf(id, sizeof(id), "%s", opened(&site, NULL, &bundle));
    (void)snprintf(path, sizeof(path), OPEN "/%s/run", id);
    head = hf_site_expect(&site, "GET", path, NULL, 200).body;
    ck_assert_str_eq(hf_str(head, "workflow_id", ""), "o-1");
    ck_assert_str_eq(hf_str(head, "bundle", ""), id);
    ck_assert(!hf_bool(head, "is_now", true));
    ck_assert_str_eq(hf_str(head, "why.code", ""), "waiting_for_signal");
    ck_assert_uint_eq(hf_len(hf_get(head, "run_navigation.runs")), 1);
    ck_assert_uint_eq(hf_len(hf_get(head, "shell")), 0);
    for (const char *const *action =
             (const char *const[]){"signal", "update", "query", "cancel", "terminate", "pause",
                                   "resume", "repair", "archive", "fork", "reset", NULL};
         *action; action++) {
        (void)snprintf(path, sizeof(path), "actions.%s.reason", *action);
        ck_assert_msg(strcmp(hf_str(head, path, ""), "not_now") == 0, "%s: %s", *action,
                      hf_str(head, path, ""));
    }
    (void)snprintf(path, sizeof(path), OPEN "/%s/run/lineage", id);
    head = hf_site_expect(&site, "GET", path, NULL, 200).body;
    ck_assert_uint_eq(hf_len(hf_get(head, "nodes")), 2);
    ck_assert_str_eq(hf_str(head, "nodes.0.relation", ""), "self");
    ck_assert_str_eq(hf_str(head, "nodes.1.relation", ""), "child");
    ck_assert_str_eq(hf_str(head, "nodes.1.workflow_type", ""), "parcel");
    ck_assert_str_eq(hf_str(head, "nodes.1.glyph", ""), "completed");
    (void)snprintf(path, sizeof(path), OPEN "/%s/run/tasks", id);
    (void)hf_site_expect(&site, "GET", path, NULL, 200);
    (void)snprintf(path, sizeof(path), OPEN "/%s/run/steps/99", id);
    ck_assert_str_eq(hf_str(hf_site_expect(&site, "GET", path, NULL, 404).body, "reason", ""),
                     "step_not_found");
    /* the store has nothing of it, until it is asked for */
    answer = hf_site_expect(&site, "GET", "/console/api/runs?total=true", NULL, 200);
    ck_assert_int_eq(hf_int(answer.body, "total.n", -1), 0);
    answer = hf_site_expect(&site, "GET", "/console/api/imports", NULL, 200);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "imports")), 0);
    (void)snprintf(path, sizeof(path), OPEN "/%s/import", id);
    ck_assert_str_eq(hf_str(hf_site_expect(&site, "POST", path, "{}", 201).body, "workflow_id", ""),
                     "o-1");
    ck_assert(!hf_bool(hf_site_expect(&site, "POST", path, "{}", 200).body, "imported", true));
    answer = hf_site_expect(&site, "GET", "/console/api/imports", NULL, 200);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "imports")), 1);
    (void)snprintf(path, sizeof(path), OPEN "/%s", id);
    (void)hf_site_expect(&site, "DELETE", path, NULL, 204);
    (void)hf_site_expect(&site, "GET", path, NULL, 404);
    hf_buf_fini(&bundle);
    hf_site_close(&site);
}

/* A run that is kept already is not kept with another content. */
HF_BOTH_ENGINES(another_content_is_not_kept)
{
    hf_buf bundle = {0};
    char path[256];
    hf_site site;
    char run[64];

    open_with(&site, kind);
    (void)snprintf(run, sizeof(run), "%s", order_start(&site, "o-1", "1"));
    bundle_of(&site, "o-1", run, NULL, &bundle);
    (void)snprintf(path, sizeof(path), OPEN "/%s/import", opened(&site, NULL, &bundle));
    (void)hf_site_expect(&site, "POST", path, "{}", 201);
    (void)hf_site_expect(&site, "POST", "/api/workflows/o-1/cancel", "{}", 202);
    bundle_of(&site, "o-1", run, NULL, &bundle);
    (void)snprintf(path, sizeof(path), OPEN "/%s/import", opened(&site, NULL, &bundle));
    ck_assert_str_eq(hf_str(hf_site_expect(&site, "POST", path, "{}", 409).body, "reason", ""),
                     "run_exists");
    hf_buf_fini(&bundle);
    hf_site_close(&site);
}

/* ---- what is refused */

static void refused(hf_site *site, const char *text, int status, const char *reason)
{
    hf_site_answer answer = hf_site_ask(site, "POST", OPEN, NULL, text);

    ck_assert_msg(answer.status == status && strcmp(hf_str(answer.body, "reason", ""), reason) == 0,
                  "%d %s instead of %d %s: %.400s", answer.status,
                  hf_str(answer.body, "reason", ""), status, reason, answer.text);
    if (status == 422)
        ck_assert_msg(hf_len(hf_get(answer.body, "validation_errors.bundle")) == 1, "%.300s",
                      answer.text);
}

/* The text with the first `from` replaced, which is as long as `to` or longer by what is cut. */
static void replaced(const hf_buf *bundle, const char *from, const char *to, hf_buf *out)
{
    const char *at = strstr(hf_buf_text(bundle), from);

    ck_assert_msg(at != NULL, "the bundle has no %s", from);
    hf_buf_clear(out);
    hf_buf_add(out, hf_buf_text(bundle), (size_t)(at - hf_buf_text(bundle)));
    hf_buf_add_text(out, to);
    hf_buf_add_text(out, at + strlen(from));
    ck_assert(hf_buf_ok(out));
}

/* What is no bundle, is cut off, was changed, is newer or too big is refused with the reason, and
   costs nothing. */
HF_BOTH_ENGINES(files_that_are_no_bundles_are_refused)
{
    static const char *const nothing[] = {
        "",
        "[]",
        "7",
        "null",
        "{}",
        "{\"schema\":7}",
        "{\"schema\":\"other\"}",
        "\xff\xfe",
        "{{",
        "{\"schema\":\"durable-workflow.v2.history-export\",\"schema_version\":1}"};
    hf_buf bundle = {0};
    hf_buf changed = {0};
    hf_site_answer answer;
    hf_site site;

    open_with(&site, kind);
    bundle_of(&site, "o-1", order_start(&site, "o-1", "{\"limit\":5}"), NULL, &bundle);
    for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
        refused(&site, nothing[i], 422, "bundle_unreadable");
    for (size_t cut = 1; cut < bundle.len; cut += bundle.len / 7 + 1) {
        hf_buf_clear(&changed);
        hf_buf_add(&changed, hf_buf_text(&bundle), cut);
        refused(&site, hf_buf_text(&changed), 422, "bundle_unreadable");
    }
    replaced(&bundle, "\"sequence\":2,", "\"sequence\":3,", &changed);
    refused(&site, hf_buf_text(&changed), 422, "bundle_damaged");
    replaced(&bundle, "\"o-1\"", "\"o-2\"", &changed);
    refused(&site, hf_buf_text(&changed), 422, "bundle_damaged");
    replaced(&bundle, "\"schema_version\":1", "\"schema_version\":2", &changed);
    refused(&site, hf_buf_text(&changed), 422, "bundle_newer");
    replaced(&bundle, "\"format\":1", "\"format\":9", &changed);
    refused(&site, hf_buf_text(&changed), 422, "bundle_newer");
    answer = hf_site_ask(&site, "POST", OPEN,
                         "Content-Type: application/json\r\n"
                         "Content-Length: 40000000\r\n",
                         NULL);
    ck_assert_int_eq(answer.status, 413);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "payload_too_large");
    answer = hf_site_ask(&site, "POST", OPEN, "Content-Type: text/plain\r\n-Content-Type\r\n",
                         hf_buf_text(&bundle));
    ck_assert_int_eq(answer.status, 415);
    answer = hf_site_expect(&site, "GET", OPEN, NULL, 200);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "bundles")), 0);
    hf_buf_fini(&bundle);
    hf_buf_fini(&changed);
    hf_site_close(&site);
}

/* Names and ids are texts, whatever is in them; a payload of megabytes is shown as far as others
   are. */
HF_BOTH_ENGINES(hostile_and_big_bundles)
{
    enum { BIG = 600000 };
    hf_buf input = {0};
    hf_buf bundle = {0};
    hf_site_answer answer;
    char path[512];
    hf_site site;
    char id[64];

    open_with(&site, kind);
    hf_buf_add_text(&input, "{\"text\":\"");
    for (int i = 0; i < BIG; i++)
        hf_buf_add_byte(&input, 'x');
    hf_buf_add_text(&input, "\",\"html\":\"<script>alert(1)</script>\"}");
    bundle_of(&site, "o-1", order_start(&site, "o-1", hf_buf_text(&input)), NULL, &bundle);
    ck_assert_uint_gt(bundle.len, 10U << 20);
    (void)snprintf(path, sizeof(path),
                   OPEN "?name=%%3Cimg%%20src%%3Dx%%3E%%22%%E2%%80%%AE%%2F..%%2F%%F0%%9F%%98%%80");
    answer = hf_site_ask(&site, "POST", path, NULL, hf_buf_text(&bundle));
    ck_assert_msg(answer.status == 201, "%.300s", answer.text);
    ck_assert_str_eq(hf_str(answer.body, "bundle.name", ""),
                     "<img src=x>\"\xe2\x80\xae/../\xf0\x9f\x98\x80");
    (void)snprintf(id, sizeof(id), "%s", hf_str(answer.body, "bundle.id", ""));
    ck_assert_ptr_null(strstr(answer.text, "<script>"));
    (void)snprintf(path, sizeof(path), OPEN "/%s/run/events?limit=1000", id);
    answer = hf_site_expect(&site, "GET", path, NULL, 200);
    ck_assert_uint_lt(strlen(answer.text), 2U << 20);
    (void)snprintf(path, sizeof(path), OPEN "/%s/run", id);
    answer = hf_site_expect(&site, "GET", path, NULL, 200);
    ck_assert(hf_bool(answer.body, "arguments.cut", false));
    ck_assert_int_gt(hf_int(answer.body, "arguments.bytes", 0), BIG);
    for (int64_t from = 0, to = 0; from < BIG; from = to) {
        (void)snprintf(path, sizeof(path),
                       OPEN "/%s/run/payloads?event=2&key=arguments&from=%lld&limit=250000", id,
                       (long long)from);
        answer = hf_site_expect(&site, "GET", path, NULL, 200);
        to = hf_int(answer.body, "to", 0);
        ck_assert_int_gt(to, from);
        ck_assert_int_eq(hf_int(answer.body, "size", 0), (int64_t)input.len);
        ck_assert_int_eq(memcmp(hf_str(answer.body, "text", ""), hf_buf_text(&input) + from,
                                (size_t)(to - from)),
                         0);
    }
    (void)snprintf(path, sizeof(path), "/console/api/runs/o-1/payloads?event=2&key=none");
    answer = hf_site_expect(&site, "GET", path, NULL, 404);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "payload_not_found");
    memset(path, 'n', sizeof(path));
    memcpy(path, OPEN "?name=", strlen(OPEN "?name="));
    path[400] = '\0';
    answer = hf_site_expect(&site, "POST", path, "{}", 422);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "validation_errors.name")), 1);
    hf_buf_fini(&input);
    hf_buf_fini(&bundle);
    hf_site_close(&site);
}

/* ---- whose they are */

/* A reader may open files, sees no others', and changes nothing; one of another namespace, too; a
   worker may not; who was revoked leaves nothing behind. */
HF_BOTH_ENGINES(everybody_sees_their_own)
{
    hf_buf bundle = {0};
    hf_site_answer answer;
    char path[256];
    hf_site site;
    char run[64];
    char id[64];

    hf_site_open(&site, kind, &run_app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    answer = hf_site_ask(&site, "POST", "/api/workflows", ADMIN,
                         "{\"workflow_type\":\"parcel\",\"workflow_id\":\"p\"}");
    (void)snprintf(run, sizeof(run), "%s", hf_str(answer.body, "run_id", ""));
    bundle_of(&site, "p", run, ADMIN, &bundle);
    ck_assert_int_eq(hf_site_ask(&site, "POST", OPEN, NULL, hf_buf_text(&bundle)).status, 401);
    ck_assert_int_eq(hf_site_ask(&site, "POST", OPEN, "Authorization: Bearer tok-worker\r\n",
                                 hf_buf_text(&bundle))
                         .status,
                     403);
    (void)snprintf(id, sizeof(id), "%s", opened(&site, READER, &bundle));
    (void)snprintf(path, sizeof(path), OPEN "/%s/run", id);
    ck_assert_int_eq(hf_site_ask(&site, "GET", path, READER, NULL).status, 200);
    ck_assert_int_eq(hf_site_ask(&site, "GET", path, ADMIN, NULL).status, 404);
    ck_assert_int_eq(
        hf_site_ask(&site, "GET", path, "Authorization: Bearer tok-elsewhere\r\n", NULL).status,
        404);
    ck_assert_uint_eq(hf_len(hf_get(hf_site_ask(&site, "GET", OPEN, ADMIN, NULL).body, "bundles")),
                      0);
    (void)snprintf(path, sizeof(path), OPEN "/%s/import", id);
    answer = hf_site_ask(&site, "POST", path, READER, "{}");
    ck_assert_msg(answer.status == 403, "%s", answer.text);
    ck_assert_int_eq(hf_site_ask(&site, "POST", path, ADMIN, "{}").status, 404);
    (void)snprintf(path, sizeof(path), OPEN "/%s", id);
    ck_assert_int_eq(hf_site_ask(&site, "DELETE", path, ADMIN, NULL).status, 404);
    ck_assert_int_eq(hf_site_ask(&site, "DELETE", path, READER, NULL).status, 204);
    answer = hf_site_ask(&site, "GET", "/console/api/imports", READER, NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "imports")), 0);
    hf_buf_fini(&bundle);
    hf_site_close(&site);
}

/* Eight at a time; who closes one may open another. */
HF_BOTH_ENGINES(there_are_not_too_many)
{
    hf_buf bundle = {0};
    hf_site_answer answer;
    char path[256];
    hf_site site;
    char first[64] = "";

    open_with(&site, kind);
    bundle_of(&site, "o-1", order_start(&site, "o-1", "1"), NULL, &bundle);
    for (int i = 0; i < 8; i++) {
        const char *id = opened(&site, NULL, &bundle);

        if (!*first)
            (void)snprintf(first, sizeof(first), "%s", id);
    }
    refused(&site, hf_buf_text(&bundle), 409, "too_many_bundles");
    answer = hf_site_expect(&site, "GET", OPEN, NULL, 200);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "bundles")), 8);
    ck_assert_int_eq(hf_int(answer.body, "limits.bundles", 0), 8);
    ck_assert_str_eq(hf_str(answer.body, "bundles.7.id", ""), first);
    ck_assert_str_eq(hf_str(answer.body, "bundles.0.verification.checksum", ""), "ok");
    (void)snprintf(path, sizeof(path), OPEN "/%s", first);
    (void)hf_site_expect(&site, "DELETE", path, NULL, 204);
    (void)opened(&site, NULL, &bundle);
    hf_buf_fini(&bundle);
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/console_bundle", HF_BOTH_SLOW(shows_what_the_store_shows, 60),
                 HF_BOTH_SLOW(a_file_is_no_run_of_the_store, 60),
                 HF_BOTH_SLOW(another_content_is_not_kept, 60),
                 HF_BOTH_SLOW(files_that_are_no_bundles_are_refused, 60),
                 HF_BOTH_SLOW(hostile_and_big_bundles, 120), HF_BOTH(everybody_sees_their_own),
                 HF_BOTH_SLOW(there_are_not_too_many, 60))
