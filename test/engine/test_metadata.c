/* Memo, search attributes, and all that a run hands on to the run that continues it, on both
   databases. */
#include <stdio.h>
#include <string.h>

#include "holdfast/host.h"
#include "lib/handlers.h"
#include "lib/kit.h"

/* Merges what each signal brings. */
static hf_value noted(hf_ctx *w, hf_value in)
{
    int64_t n = hf_int(in, "n", 1);

    for (int64_t i = 0; i < n; i++)
        hf_memo(w, hf_receive(w, "memo"));
    return NULL;
}

static hf_value tagged(hf_ctx *w, hf_value in)
{
    int64_t n = hf_int(in, "n", 1);

    for (int64_t i = 0; i < n; i++)
        hf_search_attributes(w, hf_receive(w, "tags"));
    return NULL;
}

/* A memo of `keys` entries of `bytes` each. */
static hf_value hoarder(hf_ctx *w, hf_value in)
{
    static char text[300000];
    size_t bytes = (size_t)hf_int(in, "bytes", 1);
    hf_value entries = NULL;

    memset(text, 'x', bytes);
    text[bytes] = '\0';
    for (int64_t i = 0; i < hf_int(in, "keys", 1); i++) {
        entries = hf_json(w, "{'key-%lld': %s}", (long long)i, text);
        if (hf_bool(in, "attributes", false))
            hf_search_attributes(w, entries);
        else
            hf_memo(w, entries);
    }
    return hf_json(w, "'kept'");
}

typedef struct tally {
    int64_t bonus;
} tally;

static hf_value add_bonus(hf_ctx *w, void *state, hf_value args)
{
    tally *t = state;

    t->bonus += hf_int(args, "by", 1);
    return hf_json(w, "{'bonus': %lld, 'run': %s}", (long long)t->bonus, hf_run_id(w));
}

static bool has_bonus(const void *state)
{
    return ((const tally *)state)->bonus > 0;
}

/* Reads one item in each run, four in all, then waits for a bonus. */
static hf_value relay(hf_ctx *w, hf_value in)
{
    hf_value item = hf_receive(w, "item");
    const char *seen = hf_str(in, "seen", "");
    char text[64];

    (void)snprintf(text, sizeof(text), "%s%s", seen, hf_str(item, "", "?"));
    if (strlen(text) == 1) {
        hf_memo(w, hf_json(w, "{'runs': 1, 'gone': null}"));
        hf_search_attributes(w, hf_json(w, "{'stage': 'second'}"));
    }
    if (strlen(text) < 4)
        hf_continue_as_new(w, hf_json(w, "{'seen': %s}", text));
    hf_wait(w, NULL, has_bonus);
    return hf_json(w, "%s", text);
}

/* Continues with two texts of half the size each. */
static hf_value oversize(hf_ctx *w, hf_value in)
{
    static char text[1200000];
    size_t half = (size_t)hf_int(in, "bytes", 0) / 2;
    hf_value part;

    if (half == 0)
        return NULL;
    memset(text, 'x', half);
    text[half] = '\0';
    part = hf_json(w, "%s", text);
    hf_continue_as_new(w, hf_json(w, "[%p, %p]", (const void *)part, (const void *)part));
}

/* Says how long its history is and whether it is enough, as it comes near the threshold. */
static hf_value diary(hf_ctx *w, hf_value in)
{
    static hf_future futures[333];
    char text[256] = "";

    (void)in;
    hf_sleep(w, 0);
    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 333; j++)
            futures[j] = hf_spawn_activity(w, "echo", hf_json(w, "%d", j));
        hf_join_all(w, futures, 333);
    }
    for (int i = 0; i < 3; i++) {
        size_t used = strlen(text);

        (void)snprintf(text + used, sizeof(text) - used, "%zu:%d ", hf_history_length(w),
                       hf_should_continue_as_new(w));
        if (i < 2)
            hf_activity(w, "echo", hf_json(w, "1"));
    }
    return hf_json(w, "%s", text);
}

/* Its history grows by large values until it is told to continue. */
static hf_value heavy(hf_ctx *w, hf_value in)
{
    static char text[200001];
    size_t before = 0;
    int n = 0;

    (void)in;
    memset(text, 'x', sizeof(text) - 1);
    while (!hf_should_continue_as_new(w) && n < 100) {
        before = hf_history_size(w);
        hf_activity(w, "echo", hf_json(w, "%s", text));
        n++;
    }
    return hf_json(w, "[%d, %zu, %zu]", n, before, hf_history_size(w));
}

static hf_value old_name(hf_ctx *w, hf_value in)
{
    hf_receive(w, "item");
    hf_continue_as_new(w, in);
}

static hf_value new_name(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_receive(w, "item");
    if (hf_version(w, "renamed", HF_VERSION_DEFAULT, 1) == 1)
        return hf_json(w, "'new code'");
    hf_continue_as_new(w, in);
}

static const hf_signal_def items[] = {{"item", NULL}, {0}};
static const hf_signal_def memos[] = {{"memo", NULL}, {0}};
static const hf_signal_def tags[] = {{"tags", NULL}, {0}};
static const hf_update_def bonuses[] = {{"bonus", "by:int=1", add_bonus, NULL}, {0}};
static const hf_workflow_def workflows[] = {{.type = "noted", .run = noted, .signals = memos},
                                            {.type = "tagged", .run = tagged, .signals = tags},
                                            {.type = "hoarder", .run = hoarder},
                                            {.type = "relay",
                                             .run = relay,
                                             .state_size = sizeof(tally),
                                             .signals = items,
                                             .updates = bonuses},
                                            {.type = "oversize", .run = oversize},
                                            {.type = "diary", .run = diary},
                                            {.type = "heavy", .run = heavy},
                                            {0}};
static const hf_activity_def activities[] = {{.name = "echo", .run = hf_echo}, {0}};
static const hf_app app = {
    .name = "test", .build_id = "build-1", .workflows = workflows, .activities = activities};
static const hf_workflow_def old_workflows[] = {
    {.type = "old-name", .run = old_name, .signals = items}, {0}};
static const hf_app old_app = {.name = "test", .workflows = old_workflows};
static const hf_workflow_def new_workflows[] = {
    {.type = "new-name", .run = new_name, .revision = "2", .aliases = "old-name", .signals = items},
    {0}};
static const hf_app new_app = {.name = "test", .workflows = new_workflows};

static void failed_with_limit(hf_engine *d, const char *id, const char *limit)
{
    hf_value out = NULL;
    const hf_error *e = NULL;

    ck_assert_int_eq(hf_result(d, id, 0, &out, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "structural_limit");
    ck_assert_str_eq(hf_kit_said(d, id, "WorkflowFailed", 0, HF_KEY_STRUCTURAL_LIMIT_KIND), limit);
}

/* Entries are merged, null deletes, and each event carries the whole. */
HF_EVERY_WAY(b173_memo_and_attributes_merge)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "noted", hf_json(d, "{'n': 3}"), .id = "m",
                          .memo = "{\"z\": 1, \"a\": {\"b\": [1, 2]}}"));
    ck_assert_str_eq(hf_kit_said(d, "m", "WorkflowStarted", 0, HF_KEY_MEMO),
                     "{\"a\":{\"b\":[1,2]},\"z\":1}");
    hf_kit_ok(d, hf_signal(d, "m", "memo", hf_json(d, "{'c': 'x', 'z': null}")));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_said(d, "m", "MemoUpserted", 0, HF_KEY_MERGED),
                     "{\"a\":{\"b\":[1,2]},\"c\":\"x\"}");
    hf_kit_ok(d, hf_signal(d, "m", "memo", hf_json(d, "{'a': null, 'nothing': null}")));
    hf_kit_ok(d, hf_signal(d, "m", "memo", hf_json(d, "{'c': 2, 'd': 3}"))); /* in one turn */
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_said(d, "m", "MemoUpserted", 1, HF_KEY_MERGED), "{\"c\":\"x\"}");
    ck_assert_str_eq(hf_kit_said(d, "m", "MemoUpserted", 2, HF_KEY_MERGED), "{\"c\":2,\"d\":3}");
    ck_assert_str_eq(hf_kit_said(d, "m", "MemoUpserted", 2, HF_KEY_ENTRIES), "{\"c\":2,\"d\":3}");
    hf_kit_ok(d, hf_start(d, "tagged", hf_json(d, "{'n': 2}"), .id = "t"));
    hf_kit_ok(d, hf_signal(d, "t", "tags", hf_json(d, "{'region': 'eu', 'n': 1}")));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_signal(d, "t", "tags", hf_json(d, "{'n': null, 'list': ['a', 'b']}")));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_said(d, "t", "SearchAttributesUpserted", 1, HF_KEY_MERGED),
                     "{\"list\":[\"a\",\"b\"],\"region\":\"eu\"}");
    hf_kit_close(d);
}

/* A list of one text of so many times those bytes. */
static hf_value list_of(hf_engine *d, const char *bytes, size_t count)
{
    static char text[1024];

    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        (void)strncat(text, bytes, sizeof(text) - strlen(text) - 1);
    return hf_json(d, "{'list': [%s]}", text);
}

/* What breaks a size limit fails the run before anything of the turn is written. */
HF_EVERY_WAY(b173_metadata_size_limits)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;
    const hf_error *e = NULL;

    hf_kit_ok(d, hf_start(d, "hoarder", hf_json(d, "{'keys': 100}"), .id = "keys"));
    hf_kit_ok(d, hf_start(d, "hoarder", hf_json(d, "{'keys': 101}"), .id = "keys-over"));
    hf_kit_ok(d, hf_start(d, "hoarder", hf_json(d, "{'bytes': 10238}"), .id = "entry"));
    hf_kit_ok(d, hf_start(d, "hoarder", hf_json(d, "{'bytes': 10239}"), .id = "entry-over"));
    hf_kit_ok(d, hf_start(d, "hoarder", hf_json(d, "{'keys': 6, 'bytes': 10000}"), .id = "total"));
    hf_kit_ok(
        d, hf_start(d, "hoarder", hf_json(d, "{'keys': 7, 'bytes': 10000}"), .id = "total-over"));
    hf_kit_ok(d,
              hf_start(d, "hoarder", hf_json(d, "{'keys': 20, 'bytes': 2030, 'attributes': true}"),
                       .id = "tags"));
    hf_kit_ok(d,
              hf_start(d, "hoarder", hf_json(d, "{'keys': 20, 'bytes': 2040, 'attributes': true}"),
                       .id = "tags-over"));
    hf_kit_ok(d, hf_start(d, "hoarder", hf_json(d, "{'bytes': 2049, 'attributes': true}"),
                          .id = "tag-over"));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "keys"), "\"kept\"");
    failed_with_limit(d, "keys-over", "memo_keys");
    ck_assert_int_eq(hf_test_count(d, "keys-over", "MemoUpserted"), 0);
    ck_assert_str_eq(hf_kit_result(d, "entry"), "\"kept\"");
    failed_with_limit(d, "entry-over", "memo_entry_bytes");
    ck_assert_str_eq(hf_kit_result(d, "total"), "\"kept\"");
    failed_with_limit(d, "total-over", "memo_total_bytes");
    ck_assert_str_eq(hf_kit_result(d, "tags"), "\"kept\"");
    failed_with_limit(d, "tags-over", "search_attribute_size_bytes");
    failed_with_limit(d, "tag-over", "search_attribute_string_length");
    hf_kit_ok(d, hf_start(d, "tagged", NULL, .id = "listed"));
    hf_kit_ok(d, hf_signal(d, "listed", "tags", list_of(d, "\xc3\xa9", 255)));
    hf_kit_ok(d, hf_start(d, "tagged", NULL, .id = "listed-over"));
    hf_kit_ok(d, hf_signal(d, "listed-over", "tags", list_of(d, "x", 256)));
    hf_kit_settle(d);
    ck_assert_int_eq(hf_test_count(d, "listed", "SearchAttributesUpserted"), 1);
    ck_assert_str_eq(hf_test_status(d, "listed"), "completed");
    failed_with_limit(d, "listed-over", "search_attribute_keyword_length");
    ck_assert_int_eq(hf_test_count(d, "listed-over", "SearchAttributesUpserted"), 0);
    hf_kit_ok(d, hf_start(d, "tagged", NULL, .id = "bad"));
    hf_kit_ok(d, hf_signal(d, "bad", "tags", hf_json(d, "{'no spaces': 1}")));
    hf_kit_settle(d);
    ck_assert_int_eq(hf_result(d, "bad", 0, &out, &e), HF_ERROR);
    ck_assert_str_eq(e->type, "invalid_metadata");
    hf_kit_close(d);
}

/* A text of an attribute that is registered as a keyword has at most 255 characters, at the start
   and later; any other has 2,048. */
HF_EVERY_WAY(b173_registered_keywords_are_short)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;
    char over[300];
    char attributes[400];

    memset(over, 'x', 256);
    over[256] = '\0';
    hf_kit_ok(d, hf_attribute_create(d, "city", "keyword"));
    hf_kit_ok(d, hf_attribute_create(d, "story", "string"));
    (void)snprintf(attributes, sizeof(attributes), "{\"city\":\"%s\"}", over);
    ck_assert_int_eq(hf_start(d, "tagged", NULL, .id = "s", .search_attributes = attributes),
                     HF_INVALID);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "search_attribute_keyword_length"));
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM instance"), 0);
    (void)snprintf(attributes, sizeof(attributes), "{\"story\":\"%s\",\"free\":\"x\"}", over);
    hf_kit_ok(d, hf_start(d, "tagged", NULL, .id = "s", .search_attributes = attributes));
    hf_kit_ok(d, hf_signal(d, "s", "tags", hf_json(d, "{'free': %s, 'city': %s}", over, over + 1)));
    hf_kit_ok(d, hf_start(d, "tagged", NULL, .id = "over"));
    hf_kit_ok(d, hf_signal(d, "over", "tags", hf_json(d, "{'city': %s}", over)));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_result(d, "s", 0, &out, NULL));
    failed_with_limit(d, "over", "search_attribute_keyword_length");
    ck_assert_int_eq(hf_test_count(d, "over", "SearchAttributesUpserted"), 0);
    hf_kit_close(d);
}

/* The next run inherits what the contract names, and every message that was not read. */
HF_EVERY_WAY(b174_continue_as_new_inherits)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;
    char run[32];

    hf_kit_ok(d, hf_start(d, "relay", NULL, .id = "r", .business_key = "order 7",
                          .labels = "{\"team\": \" blue \", \"none\": null}",
                          .memo = "{\"gone\": 1, \"kept\": true}", .queue = "special",
                          .execution_timeout = hf_hours(5), .run_timeout = hf_hours(1)));
    hf_kit_skip(d, 1000);
    hf_kit_ok(d, hf_signal(d, "r", "item", hf_json(d, "'a'")));
    hf_kit_ok(d, hf_signal(d, "r", "item", hf_json(d, "'b'")));
    hf_kit_ok(d, hf_signal(d, "r", "item", hf_json(d, "'c'")));
    for (int i = 0; i < 4; i++)
        hf_kit_settle(d);
    ck_assert_int_eq(hf_kit_number(d, "SELECT run_count FROM instance"), 4);
    ck_assert_str_eq(hf_kit_said(d, "r", "WorkflowStarted", 0, HF_KEY_BUSINESS_KEY), "order 7");
    ck_assert_str_eq(hf_kit_said(d, "r", "WorkflowStarted", 0, HF_KEY_VISIBILITY_LABELS),
                     "{\"team\":\"blue\"}");
    ck_assert_str_eq(hf_kit_said(d, "r", "WorkflowStarted", 0, HF_KEY_MEMO),
                     "{\"kept\":true,\"runs\":1}");
    ck_assert_str_eq(hf_kit_said(d, "r", "WorkflowStarted", 0, HF_KEY_SEARCH_ATTRIBUTES),
                     "{\"stage\":\"second\"}");
    ck_assert_str_eq(hf_kit_said(d, "r", "WorkflowStarted", 0, HF_KEY_COMPATIBILITY), "build-1");
    (void)snprintf(run, sizeof(run), "%s",
                   hf_kit_said(d, "r", "WorkflowStarted", 0, HF_KEY_CONTINUED_FROM_RUN_ID));
    ck_assert_uint_eq(strlen(run), 26);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run WHERE queue = 'special'"), 4);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(DISTINCT execution_deadline_us) FROM run"), 1);
    ck_assert_int_eq(hf_kit_number(d, "SELECT min(run_deadline_us - created_us) FROM run"),
                     INT64_C(3600000000));
    ck_assert_int_eq(
        hf_kit_number(d, "SELECT message_cursor FROM run ORDER BY number DESC LIMIT 1"), 3);
    ck_assert_int_eq(hf_test_count(d, "r", "SignalReceived"), 0);
    hf_kit_ok(d, hf_signal(d, "r", "item", hf_json(d, "'d'")));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_update(d, "r", "bonus", NULL, hf_seconds(1), &out));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "r"), "\"abcd\"");
    hf_kit_close(d);
}

/* An update that is there when the run continues is applied before it does. */
HF_EVERY_WAY(b080_update_comes_before_the_next_run)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_ok(d, hf_set(d, "update_behind_signal", "queue"));
    hf_kit_ok(d, hf_start(d, "relay", hf_json(d, "{'seen': 'ab'}"), .id = "r"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_signal(d, "r", "item", hf_json(d, "'c'")));
    hf_kit_ok(d, hf_update(d, "r", "bonus", hf_json(d, "{'by': 5}"), hf_seconds(1), &out));
    ck_assert_int_eq(hf_int(out, "bonus", 0), 5);
    ck_assert_int_eq(hf_kit_number(d, "SELECT run_count FROM instance"), 2);
    ck_assert_int_eq(hf_test_count(d, "r", "UpdateAccepted"), 0);
    hf_kit_ok(d, hf_cancel(d, "r", NULL));
    hf_kit_close(d);
}

/* A run that closes answers the updates it will not apply. */
HF_EVERY_WAY(b077_closed_run_answers_updates)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;

    hf_kit_ok(d, hf_start(d, "noted", NULL, .id = "m"));
    hf_kit_ok(d, hf_start(d, "relay", hf_json(d, "{'seen': 'abc'}"), .id = "r"));
    hf_kit_settle(d);
    hf_kit_ok(d, hf_update(d, "r", "bonus", NULL, hf_seconds(1), &out));
    hf_kit_ok(d, hf_cancel(d, "r", "enough"));
    ck_assert_int_eq(hf_test_count(d, "r", "UpdateCompleted"), 1);
    hf_kit_close(d);
}

/* Arguments that are too big fail the run before there is another. */
HF_EVERY_WAY(b174_oversize_arguments_fail_the_run)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_start(d, "oversize", hf_json(d, "{'bytes': 2097144}"), .id = "fits"));
    hf_kit_ok(d, hf_start(d, "oversize", hf_json(d, "{'bytes': 2097150}"), .id = "over"));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_test_status(d, "fits"), "completed");
    failed_with_limit(d, "over", "payload_size_bytes");
    ck_assert_int_eq(hf_kit_number(d, "SELECT run_count FROM instance WHERE id = 'over'"), 1);
    hf_kit_close(d);
}

/* A renamed definition takes over at the next run, with its own fingerprint. */
HF_EVERY_WAY(b175_renamed_definition_takes_over)
{
    hf_engine *d = hf_kit_open(kind, &old_app);
    char fingerprint[128];

    hf_kit_ok(d, hf_start(d, "old-name", NULL, .id = "r"));
    hf_kit_settle(d);
    (void)snprintf(
        fingerprint, sizeof(fingerprint), "%s",
        hf_kit_said(d, "r", "WorkflowStarted", 0, HF_KEY_WORKFLOW_DEFINITION_FINGERPRINT));
    d = hf_kit_reopen(d, &new_app);
    hf_kit_ok(d, hf_signal(d, "r", "item", NULL));
    hf_kit_settle(d);
    ck_assert_int_eq(hf_kit_number(d, "SELECT run_count FROM instance"), 2);
    ck_assert_str_ne(
        hf_kit_said(d, "r", "WorkflowStarted", 0, HF_KEY_WORKFLOW_DEFINITION_FINGERPRINT),
        fingerprint);
    hf_kit_ok(d, hf_signal(d, "r", "item", NULL));
    hf_kit_settle(d);
    ck_assert_str_eq(hf_kit_result(d, "r"), "\"new code\"");
    hf_kit_close(d);
}

/* A run is told to continue at exactly the event the threshold names, and by size. */
HF_EVERY_WAY(b176_history_budget_at_its_thresholds)
{
    hf_engine *d = hf_kit_open(kind, &app);
    hf_value out = NULL;
    int64_t n;

    hf_kit_ok(d, hf_start(d, "diary", NULL, .id = "events"));
    hf_kit_ok(d, hf_start(d, "heavy", NULL, .id = "bytes"));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_kit_result(d, "events"), "\"9994:0 9997:0 10000:1 \"");
    hf_kit_ok(d, hf_result(d, "bytes", 0, &out, NULL));
    n = hf_int(out, "0", 0);
    ck_assert_int_lt(hf_int(out, "1", 0), 5242880);
    ck_assert_int_ge(hf_int(out, "2", 0), 5242880);
    ck_assert_int_ge(n, 5242880 / 400200);
    ck_assert_int_le(n, 5242880 / 400000 + 1);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/metadata", HF_WAYS(b173_memo_and_attributes_merge),
                 HF_WAYS(b173_metadata_size_limits), HF_WAYS(b173_registered_keywords_are_short),
                 HF_WAYS(b174_continue_as_new_inherits),
                 HF_WAYS(b080_update_comes_before_the_next_run),
                 HF_WAYS(b077_closed_run_answers_updates),
                 HF_WAYS(b174_oversize_arguments_fail_the_run),
                 HF_WAYS(b175_renamed_definition_takes_over),
                 HF_WAYS_SLOW(b176_history_budget_at_its_thresholds, 120))
