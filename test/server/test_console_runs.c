/* test_console_runs.c: the lists of the console over real HTTP: runs by a query line, why each
   stands where it stands, facets and counts, and what is refused. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/value.h"
#include "lib/handlers.h"
#include "lib/nap.h"
#include "lib/site.h"

#define CONSOLE "-X-Durable-Workflow-Control-Plane-Version\r\n"

static const hf_signal_def go[] = {{"go", NULL}, {0}};

static hf_value refuse(hf_act *a, hf_value in)
{
    (void)in;
    return hf_error_(a, true, "declined", "the card was declined");
}

static hf_value pay(hf_ctx *w, hf_value in)
{
    static const hf_ms wait[] = {3600000};

    return hf_activity(w, "charge", in, .max_attempts = 2, .backoff = wait, .backoff_n = 1);
}

static hf_value give_up(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_fail(w, "no_money", "nothing was left");
}

static const hf_app app = {
    .name = "lists",
    .workflows = (const hf_workflow_def[]){{.type = "order", .run = hf_wait_go, .signals = go},
                                           {.type = "parcel", .run = hf_wait_go, .signals = go},
                                           {.type = "brief", .run = hf_end_now},
                                           {.type = "pay", .run = pay},
                                           {.type = "give-up", .run = give_up},
                                           {0}},
    .activities = (const hf_activity_def[]){{.name = "charge", .run = refuse}, {0}}};

/* A query in an address: blanks and quotes as they are sent. */
static const char *escaped(const char *line)
{
    static char text[1024];
    size_t len = 0;

    for (; *line && len + 4 < sizeof(text); line++)
        if ((*line >= 'a' && *line <= 'z') || (*line >= 'A' && *line <= 'Z') ||
            (*line >= '0' && *line <= '9') || strchr("-.:*_", *line))
            text[len++] = *line;
        else
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%%%02X",
                                    (unsigned)(unsigned char)*line);
    text[len] = '\0';
    return text;
}

static hf_site_answer asked(hf_site *site, const char *query, const char *more, int status)
{
    char path[2300];
    char head[200];
    hf_site_answer answer;

    (void)snprintf(path, sizeof(path), "/console/api/runs?%s", query);
    (void)snprintf(head, sizeof(head), CONSOLE "%s", more);
    answer = hf_site_ask(site, "GET", path, head, NULL);
    ck_assert_msg(answer.status == status, "%s: %d instead of %d: %.600s", query, answer.status,
                  status, answer.text);
    return answer;
}

static void line_shows(hf_site *site, const char *line, const char *ids);

static void runs_make(hf_site *site)
{
    static const char *const bodies[] = {
        "{\"workflow_type\":\"order\",\"workflow_id\":\"o-1\",\"business_key\":\"b-1\",\"labels\":{"
        "\"region\":\"eu\"},\"search_attributes\":{\"amount\":5}}",
        "{\"workflow_type\":\"order\",\"workflow_id\":\"o-2\",\"labels\":{\"region\":\"us\"},"
        "\"search_attributes\":{\"amount\":50}}",
        "{\"workflow_type\":\"parcel\",\"workflow_id\":\"p-1\",\"task_queue\":\"slow lane\"}",
        "{\"workflow_type\":\"brief\",\"workflow_id\":\"b-1\"}",
        "{\"workflow_type\":\"pay\",\"workflow_id\":\"y-1\"}",
        "{\"workflow_type\":\"give-up\",\"workflow_id\":\"g-1\"}"};

    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        hf_site_expect(site, "POST", "/api/workflows", bodies[i], 201);
    hf_site_expect(site, "POST", "/api/workflows/o-2/terminate", "{\"reason\":\"enough\"}", 202);
    hf_site_expect(site, "POST", "/api/workflows/p-1/pause", "{}", 202);
    line_shows(site, "is:closed", "g-1 b-1 o-2");
    line_shows(site, "waiting:activity", "y-1");
}

/* The line must come to show these runs: what lists know of a run is folded a moment after its
 * commit. */
static void line_shows(hf_site *site, const char *line, const char *ids)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + INT64_C(60000000);
    char query[1100];
    char found[128];

    (void)snprintf(query, sizeof(query), "q=%s", escaped(line));
    do {
        hf_value body = asked(site, query, "", 200).body;
        hf_value items = hf_get(body, "items");

        ck_assert_msg(hf_len(hf_get(body, "query.errors")) == 0, "%s: %s", line,
                      hf_str(body, "query.errors.0.message", ""));
        found[0] = '\0';
        for (size_t i = 0; i < hf_len(items); i++)
            (void)snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s",
                           i ? " " : "", hf_str(hf_at(items, i), "workflow_id", ""));
    } while (strcmp(found, ids) != 0 && hf_clock_mono_us(hf_clock_system()) < until_us);
    ck_assert_msg(strcmp(found, ids) == 0, "%s: \"%s\" instead of \"%s\"", line, found, ids);
}

/* What each line finds, newest first. */
HF_BOTH_ENGINES(a_line_finds_runs)
{
    static const char *const lines[][2] = {{"", "g-1 y-1 b-1 p-1 o-2 o-1"},
                                           {"o-", "o-2 o-1"},
                                           {"is:open type:order", "o-1"},
                                           {"type:*rd*", "o-2 o-1"},
                                           {"queue:\"slow lane\"", "p-1"},
                                           {"is:paused", "p-1"},
                                           {"is:failed", "g-1"},
                                           {"reason:terminated", "o-2"},
                                           {"key:b-1", "o-1"},
                                           {"label.region:eu", "o-1"},
                                           {"attr.amount>5", "o-2"},
                                           {"attr.amount>=5 attr.amount<50", "o-1"},
                                           {"started<1h is:completed", "b-1"},
                                           {"started>1h", ""},
                                           {"closed<1h is:terminated", "o-2"},
                                           {"id:o-1", "o-1"},
                                           {"id:%_", ""}};
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    runs_make(&site);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        line_shows(&site, lines[i][0], lines[i][1]);
    hf_site_close(&site);
}

static hf_value item_of(hf_value body, const char *id)
{
    hf_value items = hf_get(body, "items");

    for (size_t i = 0; i < hf_len(items); i++)
        if (strcmp(hf_str(hf_at(items, i), "workflow_id", ""), id) == 0)
            return hf_at(items, i);
    ck_abort_msg("no %s", id);
}

static void stands(hf_value body, const char *id, const char *glyph, const char *code,
                   const char *said)
{
    hf_value item = item_of(body, id);

    ck_assert_msg(strcmp(hf_str(item, "glyph", ""), glyph) == 0, "%s: %s", id,
                  hf_str(item, "glyph", ""));
    ck_assert_msg(strcmp(hf_str(item, "why.code", ""), code) == 0, "%s: %s", id,
                  hf_str(item, "why.code", ""));
    ck_assert_msg(strstr(hf_str(item, "why.text", ""), said) != NULL, "%s: %s", id,
                  hf_str(item, "why.text", ""));
    ck_assert_ptr_nonnull(hf_get(item, "why.next"));
    ck_assert_ptr_nonnull(hf_get(item, "why.subject"));
    ck_assert_ptr_null(hf_get(item, "why.liveness"));
}

/* Each row says why it stands where it stands, and has a sign for it; the last attempt of the
   activity failed an instant before the list is read. */
/* A page takes a tenth of a second for the reasons of its runs: a slow machine says some later. */
static bool all_say_why(hf_value body)
{
    hf_value items = hf_get(body, "items");

    for (size_t i = 0; i < hf_len(items); i++)
        if (!*hf_str(hf_at(items, i), "why.code", ""))
            return false;
    return true;
}

HF_BOTH_ENGINES(rows_say_why)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + INT64_C(60000000);
    hf_site site;
    hf_value body;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    runs_make(&site);
    do {
        body = asked(&site, "limit=200", "", 200).body;
    } while ((strcmp(hf_str(item_of(body, "y-1"), "glyph", ""), "retrying") != 0 ||
              !all_say_why(body)) &&
             hf_clock_mono_us(hf_clock_system()) < until_us);
    stands(body, "o-1", "waiting", "waiting_for_signal", "Waiting for signal go");
    stands(body, "o-2", "terminated", "closed_terminated", "enough");
    stands(body, "p-1", "paused", "paused", "Paused since");
    stands(body, "b-1", "completed", "closed_completed", "Completed ");
    stands(body, "y-1", "retrying", "retrying_activity", "the card was declined");
    stands(body, "g-1", "failed", "closed_failed", "nothing was left");
    ck_assert_str_eq(hf_str(body, "namespace", ""), "default");
    ck_assert_ptr_nonnull(hf_get(item_of(body, "o-1"), "queue"));
    hf_site_close(&site);
}

/* Pages follow each other without gap or repetition; counts and facets are those of all that match.
 */
HF_BOTH_ENGINES(pages_and_counts)
{
    char query[300];
    char seen[64] = "";
    hf_site site;
    hf_site_answer answer;
    const char *cursor = "";

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    runs_make(&site);
    for (size_t pages = 0; cursor && pages < 9; pages++) {
        (void)snprintf(query, sizeof(query), "limit=2%s%s", cursor[0] ? "&cursor=" : "",
                       escaped(cursor));
        answer = asked(&site, query, "", 200);
        ck_assert_uint_eq(hf_len(hf_get(answer.body, "items")), 2);
        for (size_t i = 0; i < 2; i++)
            (void)snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%s ",
                           hf_str(hf_at(hf_get(answer.body, "items"), i), "workflow_id", ""));
        cursor = hf_str(answer.body, "cursor", NULL);
    }
    ck_assert_str_eq(seen, "g-1 y-1 b-1 p-1 o-2 o-1 ");
    answer = asked(&site, "q=is:open&limit=1&total=true&facets=status,workflow_type,label:region",
                   "", 200);
    ck_assert_int_eq(hf_int(answer.body, "total.n", 0), 3);
    ck_assert(hf_bool(answer.body, "total.exact", false));
    ck_assert_str_eq(hf_str(answer.body, "facets.status.values.0.value", ""), "waiting");
    ck_assert_int_eq(
        hf_int(answer.body, "facets.status.values.0.n", 0) + /* or y-1 is being tried */
            hf_int(answer.body, "facets.status.values.1.n", 0),
        3);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "facets.workflow_type.values")), 3);
    ck_assert(hf_bool(answer.body, "facets.workflow_type.exact", false));
    answer = asked(&site, "q=-is:open&hist=true", "", 200);
    ck_assert(hf_bool(answer.body, "hist.exact", false));
    ck_assert_int_ge(hf_int(answer.body, "hist.step_seconds", 0), 1);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "hist.open")),
                      hf_len(hf_get(answer.body, "hist.failed")));
    answer = asked(&site, "", "", 200);
    ck_assert_int_eq(hf_value_kind_of(hf_get(answer.body, "hist")), HF_VALUE_NULL);
    ck_assert_int_eq(hf_value_kind_of(hf_get(answer.body, "total")), HF_VALUE_NULL);
    ck_assert_uint_eq(hf_len(hf_get(answer.body, "facets")), 0);
    hf_site_close(&site);
}

/* A word that is not understood is told, and the rest is asked; what cannot be asked at all is
 * refused. */
START_TEST(what_is_not_understood)
{
    static const struct {
        const char *query;
        int status;
    } bad[] = {{"limit=0", 422},       {"limit=201", 422},
               {"limit=x", 422},       {"cursor=nonsense", 422},
               {"facets=colour", 422}, {"view=nothing", 404},
               {"qq=1", 422},          {"q=a&q=b", 422},
               {"q=%FF", 400},         {"q=%00", 400},
               {"total=maybe", 422},   {"hist=perhaps", 422},
               {"order=sideways", 422}};
    static char line[2200] = "q=";
    hf_site site;
    hf_value body;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    runs_make(&site);
    body = asked(&site, "q=tpye:x+is:failed+started:1h", "", 200).body;
    ck_assert_uint_eq(hf_len(hf_get(body, "items")), 1);
    ck_assert_uint_eq(hf_len(hf_get(body, "query.errors")), 2);
    ck_assert_uint_eq(hf_len(hf_get(body, "query.tokens")), 3);
    ck_assert_int_eq(hf_int(body, "query.errors.1.start", 0), 17);
    ck_assert_str_eq(hf_str(body, "query.tokens.0.error", ""),
                     hf_str(body, "query.errors.0.message", "?"));
    ck_assert_str_eq(hf_str(body, "query.filters.status", ""), "failed");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        asked(&site, bad[i].query, "", bad[i].status);
    memset(line + 2, 'a', 2001);
    asked(&site, line, "", 422);
    hf_site_close(&site);
}
END_TEST

/* Names that look like something else are found and shown as they are. */
HF_BOTH_ENGINES(hostile_names)
{
    static const char *const ids[] = {"<script>alert(1)</script>", "a'; DROP TABLE run; --",
                                      "is:open", "\xE2\x80\xAE\xF0\x9F\x92\xA5", "100%_*"};
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        char body[300];
        char query[400];
        char quoted[200];
        hf_site_answer answer;

        (void)snprintf(body, sizeof(body), "{\"workflow_type\":\"brief\",\"workflow_id\":\"%s\"}",
                       ids[i]);
        answer = hf_site_ask(&site, "POST", "/api/workflows", NULL, body);
        if (answer.status == 422)
            continue; /* not every one of them may be an id */
        ck_assert_int_eq(answer.status, 201);
        (void)snprintf(quoted, sizeof(quoted), "id:\"%s\"", ids[i]);
        (void)snprintf(query, sizeof(query), "q=%s", escaped(quoted));
        answer = asked(&site, query, "", 200);
        ck_assert_msg(hf_len(hf_get(answer.body, "items")) == 1, "%s: %s", ids[i], answer.text);
        ck_assert_str_eq(hf_str(answer.body, "items.0.workflow_id", ""), ids[i]);
    }
    hf_site_close(&site);
}

/* Readers see it, workers and strangers do not, and no namespace sees another. */
START_TEST(who_sees_the_list)
{
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/namespaces",
                                 "Authorization: Bearer tok-admin\r\n", "{\"name\":\"elsewhere\"}")
                         .status,
                     201);
    hf_site_tokens(&site); /* the store has none of them */
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows",
                                 "Authorization: Bearer tok-operator\r\n",
                                 "{\"workflow_type\":\"order\",\"workflow_id\":\"o-1\"}")
                         .status,
                     201);
    asked(&site, "", "", 401);
    asked(&site, "", "Authorization: Bearer tok-worker\r\n", 403);
    ck_assert_uint_eq(
        hf_len(hf_get(asked(&site, "", "Authorization: Bearer tok-read\r\n", 200).body, "items")),
        1);
    asked(&site, "", "Authorization: Bearer tok-elsewhere\r\n", 404);
    ck_assert_uint_eq(hf_len(hf_get(asked(&site, "namespace=elsewhere",
                                          "Authorization: Bearer tok-elsewhere\r\n", 200)
                                        .body,
                                    "items")),
                      0);
    hf_site_close(&site);
}
END_TEST

/* ---- going on */

/* The texts and numbers of what is proposed: "type:order 2, ...", and where it would stand. */
static const char *proposed(hf_site *site, const char *line, const char *at)
{
    static char out[2000];
    char path[1200];
    hf_value body;

    (void)snprintf(path, sizeof(path), "/console/api/query/suggest?q=%s%s", escaped(line), at);
    body = hf_site_expect(site, "GET", path, NULL, 200).body;
    (void)snprintf(out, sizeof(out), "%d-%d", (int)hf_int(body, "start", -1),
                   (int)hf_int(body, "end", -1));
    for (size_t i = 0; i < hf_len(hf_get(body, "suggestions")); i++) {
        hf_value one = hf_at(hf_get(body, "suggestions"), i);

        (void)snprintf(out + strlen(out), sizeof(out) - strlen(out), " %s %d",
                       hf_str(one, "text", "?"), (int)hf_int(one, "n", -1));
    }
    return out;
}

/* A line goes on with words of the grammar and values of the runs that the other words ask for,
   each with how many there are. */
HF_BOTH_ENGINES(a_line_goes_on)
{
    hf_site site;

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    runs_make(&site);
    ck_assert_str_eq(proposed(&site, "type:RD", ""), "0-7 type:order 2");
    ck_assert_str_eq(proposed(&site, "type:ord is:open", "&at=8"), "0-8 type:order 1");
    ck_assert_str_eq(proposed(&site, "type:order label.region:", ""),
                     "11-24 label.region:eu 1 label.region:us 1");
    ck_assert_str_eq(proposed(&site, "queue:", ""), "0-6 queue:default 5 queue:\"slow lane\" 1");
    ck_assert_str_eq(proposed(&site, "type:order is:cl", ""), "11-16 is:closed 1");
    ck_assert_str_eq(proposed(&site, "started", ""), "0-7 started< -1 started> -1");
    ck_assert_str_eq(proposed(&site, "type:nobody", ""), "0-11");
    hf_site_expect(&site, "GET", "/console/api/query/suggest?q=is&at=-1", NULL, 422);
    hf_site_expect(&site, "GET", "/console/api/query/suggest?q=is&at=x", NULL, 422);
    hf_site_close(&site);
}

/* ---- kept lists */

#define VIEWS "/console/api/views"

static hf_site_answer as(hf_site *site, const char *who, const char *method, const char *path,
                         const char *body, int status)
{
    char head[200];
    hf_site_answer answer;

    (void)snprintf(head, sizeof(head), CONSOLE "Authorization: Bearer tok-%s\r\n", who);
    answer = hf_site_ask(site, method, path, head, body);
    ck_assert_msg(answer.status == status, "%s %s as %s: %d instead of %d: %.600s", method, path,
                  who, answer.status, status, answer.text);
    return answer;
}

/* The view of that name in the list of who looks; NULL: it is not there. */
static hf_value view_of(hf_site *site, const char *who, const char *name)
{
    hf_value views = hf_get(as(site, who, "GET", VIEWS, NULL, 200).body, "views");

    ck_assert(hf_bool(hf_at(views, 0), "system", false));
    for (size_t i = 0; i < hf_len(views); i++)
        if (strcmp(hf_str(hf_at(views, i), "name", ""), name) == 0)
            return hf_at(views, i);
    return NULL;
}

/* A view is whoever's saved it: found by them, by others when it is shared, and forgotten by its
   owner or an admin. */
HF_BOTH_ENGINES(views_have_owners)
{
    hf_site site;
    hf_value view;
    char body[300];
    char path[200];
    char id[64];

    hf_site_open(&site, kind, &app, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    hf_site_tokens(&site);
    hf_site_ask(&site, "POST", "/api/workflows", "Authorization: Bearer tok-operator\r\n",
                "{\"workflow_type\":\"order\",\"workflow_id\":\"o-1\"}");
    view = as(&site, "operator", "PUT", VIEWS,
              "{\"name\":\"mine\",\"q\":\"type:order started<1h\"}", 201)
               .body;
    (void)snprintf(id, sizeof(id), "%s", hf_str(view, "id", ""));
    ck_assert_str_eq(hf_str(view, "q", ""), "type:order started<1h");
    ck_assert_str_eq(hf_str(view, "filters.q", ""), "type:order started<1h"); /* no moment in it */
    ck_assert_str_eq(hf_str(view, "owner", ""), "tok-operator");
    ck_assert_int_eq(hf_value_kind_of(hf_get(view, "bucket")), HF_VALUE_NULL);
    ck_assert(!hf_bool(view, "shared", true) && hf_bool(view, "yours", false));
    while (hf_int(view_of(&site, "operator", "mine"), "count.n", -1) != 1) /* folded, and counted */
        hf_nap_ms(5);
    ck_assert_ptr_null(view_of(&site, "admin", "mine"));
    (void)snprintf(path, sizeof(path), "view=%s", id);
    asked(&site, path, "Authorization: Bearer tok-admin\r\n", 404);
    ck_assert_uint_eq(
        hf_len(hf_get(asked(&site, path, "Authorization: Bearer tok-operator\r\n", 200).body,
                      "items")),
        1);
    as(&site, "operator", "PUT", VIEWS, "{\"name\":\"mine\",\"q\":\"is:open\"}", 409);
    as(&site, "operator", "PUT", VIEWS, "{\"name\":\"bad\",\"q\":\"tpye:x\"}", 422);
    as(&site, "read", "PUT", VIEWS, "{\"name\":\"bad\",\"q\":\"is:open\"}", 403);

    /* The name stands in nobody's way; shared, it is there once. */
    view = as(&site, "admin", "PUT", VIEWS, "{\"name\":\"mine\",\"q\":\"is:open\"}", 201).body;
    (void)snprintf(path, sizeof(path), VIEWS "/%s", hf_str(view, "id", ""));
    ck_assert_str_eq(hf_str(view_of(&site, "admin", "mine"), "q", ""), "is:open");
    ck_assert_str_ne(hf_str(view_of(&site, "operator", "mine"), "q", ""), "is:open");
    as(&site, "admin", "DELETE", path, NULL, 204);
    ck_assert_ptr_nonnull(view_of(&site, "operator", "mine"));

    /* Changed by its owner, it is everybody's to see, and nobody else's to change. */
    (void)snprintf(body, sizeof(body),
                   "{\"id\":\"%s\",\"name\":\"all\",\"q\":\"type:order\",\"shared\":true}", id);
    (void)snprintf(path, sizeof(path), VIEWS "/%s", id);
    as(&site, "admin", "PUT", VIEWS, body, 404);
    as(&site, "admin", "DELETE", path, NULL, 404);
    as(&site, "operator", "PUT", VIEWS, body, 200);
    ck_assert(!hf_bool(view_of(&site, "read", "all"), "yours", true));
    ck_assert(hf_bool(view_of(&site, "admin", "all"), "yours", false));
    as(&site, "admin", "PUT", VIEWS, "{\"name\":\"all\",\"q\":\"is:open\",\"shared\":true}", 409);
    as(&site, "read", "DELETE", path, NULL, 403);
    as(&site, "admin", "DELETE", path, NULL, 204);
    ck_assert_ptr_null(view_of(&site, "operator", "all"));
    as(&site, "operator", "DELETE", VIEWS "/system:running", NULL, 403);

    /* What an admin has is not an operator's to forget; what programs keep is everybody's. */
    view =
        as(&site, "admin", "PUT", VIEWS, "{\"name\":\"a\",\"q\":\"is:open\",\"shared\":true}", 201)
            .body;
    (void)snprintf(path, sizeof(path), VIEWS "/%s", hf_str(view, "id", ""));
    as(&site, "operator", "DELETE", path, NULL, 403);
    hf_site_ask(&site, "POST", "/api/views", "Authorization: Bearer tok-operator\r\n",
                "{\"name\":\"b\",\"bucket\":\"running\",\"shared\":true}");
    view = view_of(&site, "operator", "b");
    (void)snprintf(path, sizeof(path), VIEWS "/%s", hf_str(view, "id", ""));
    as(&site, "operator", "DELETE", path, NULL, 204);
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/console_runs", HF_BOTH(a_line_finds_runs), HF_BOTH(rows_say_why),
                 HF_BOTH(pages_and_counts), {what_is_not_understood, 0}, HF_BOTH(hostile_names),
                 {who_sees_the_list, 0}, HF_BOTH(a_line_goes_on), HF_BOTH(views_have_owners))
