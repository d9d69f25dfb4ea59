/* Structural limits and values that cannot be recorded, through holdfast.h and worker.h on both
   databases: each limit just below, at and above its threshold, what operators are told on the way
   there, and that nothing of a turn that went too far is written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "holdfast/worker.h"
#include "lib/handlers.h"
#include "lib/kit.h"

/* ---- the application */

/* Opens so many activities that nobody takes, in two turns, and waits. */
static hf_value crowd(hf_ctx *w, hf_value in)
{
    int64_t first = hf_int(in, "first", 0);
    int64_t second = hf_int(in, "second", 0);
    const char *name = hf_bool(in, "work", false) ? "echo" : "nobody's";

    for (int64_t i = 0; i < first; i++)
        (void)hf_spawn_activity(w, name, in);
    if (second)
        hf_receive(w, "more");
    for (int64_t i = 0; i < second; i++)
        (void)hf_spawn_activity(w, "nobody's", in);
    hf_receive(w, "go");
    return in;
}

/* Marks write one event each. */
static hf_value marks(hf_ctx *w, hf_value in)
{
    for (int64_t i = 0; i < hf_int(in, "n", 0); i++)
        hf_memo(w, hf_json(w, "{'at': %d}", (int)i));
    hf_receive(w, "go");
    return in;
}

/* A string of so many bytes as JSON. */
static hf_value text_of(hf_mem *mem, int64_t bytes)
{
    char *text = calloc(1, (size_t)bytes + 1);
    hf_value value;

    ck_assert_ptr_nonnull(text);
    memset(text, 'x', bytes < 2 ? 0 : (size_t)bytes - 2);
    value = hf_json(mem, "%s", text);
    free(text);
    return value;
}

/* So many entries of that size. */
static hf_value notes(hf_ctx *w, hf_value in)
{
    hf_value big = text_of(hf_mem_of_ctx(w), hf_int(in, "bytes", 0));

    for (int64_t i = 0; i < hf_int(in, "n", 0); i++) {
        hf_value entry = hf_json(w, "{'note-%d': %p}", (int)i, (const void *)big);

        if (hf_bool(in, "tags", false))
            hf_search_attributes(w, entry);
        else
            hf_memo(w, entry);
    }
    hf_receive(w, "go");
    return NULL;
}

/* Fails and is tried again for ever. */
static hf_value stubborn(hf_ctx *w, hf_value in)
{
    static const hf_ms backoff[] = {1000};

    return hf_activity(w, "fails", in, .max_attempts = -1, .backoff = backoff, .backoff_n = 1);
}

static hf_value fails(hf_act *a, hf_value in)
{
    (void)in;
    return hf_retry(a, "down", "not today");
}

static hf_value side(hf_mem *mem, void *arg)
{
    return text_of(mem, *(int64_t *)arg);
}

/* One value of that size, handed over in one of the ways there are. */
static hf_value heavy(hf_ctx *w, hf_value in)
{
    int64_t bytes = hf_int(in, "bytes", 0);
    const char *how = hf_str(in, "how", "the next run");
    hf_value big = text_of(hf_mem_of_ctx(w), bytes);

    if (strcmp(how, "input") == 0)
        (void)hf_spawn_activity(w, "nobody's", big);
    if (strcmp(how, "child") == 0)
        (void)hf_spawn_child(w, "kid", big);
    if (strcmp(how, "side") == 0)
        (void)hf_side_effect(w, "big", side, &bytes);
    if (strcmp(how, "next") == 0)
        hf_continue_as_new(w, big);
    if (strcmp(how, "result") == 0)
        return big;
    return hf_json(w, "'done'");
}

static hf_value kid(hf_ctx *w, hf_value in)
{
    hf_receive(w, "go");
    return in;
}

/* Values that are none. */
static hf_value broken_value(hf_mem *mem, const char *what)
{
    if (strcmp(what, "utf8") == 0)
        return hf_json(mem, "{'name': %s}", "caf\xe9");
    if (strcmp(what, "text") == 0)
        return hf_json(mem, "{'a': }");
    if (strcmp(what, "number") == 0)
        return hf_json(mem, "%f", (double)NAN);
    if (strcmp(what, "nested") == 0)
        return hf_json(mem, "[1, %p]", (const void *)hf_json(mem, "\xff"));
    return text_of(mem, INT64_C(3) * 1024 * 1024);
}

static hf_value broken(hf_ctx *w, hf_value in)
{
    hf_value value = broken_value(hf_mem_of_ctx(w), hf_str(in, "what", ""));

    hf_note(w, "this is not written");
    if (hf_bool(in, "result", false))
        return value;
    return hf_activity(w, "echo", value);
}

static hf_value breaks(hf_act *a, hf_value in)
{
    return broken_value(hf_mem_of_act(a), hf_str(in, "what", ""));
}

static hf_value caller(hf_ctx *w, hf_value in)
{
    const hf_error *e = NULL;

    (void)hf_activity(w, "breaks", in, .max_attempts = 3, .err = &e);
    return hf_json(w, "{'type': %s}", e ? e->type : "none");
}

static const hf_signal_def signals[] = {{.name = "go"}, {.name = "more"}, {0}};
static const hf_activity_def activities[] = {
    {"echo", .run = hf_echo}, {"breaks", .run = breaks}, {"fails", .run = fails}, {0}};
static const hf_workflow_def workflows[] = {{.type = "crowd", .run = crowd, .signals = signals},
                                            {.type = "marks", .run = marks, .signals = signals},
                                            {.type = "kid", .run = kid, .signals = signals},
                                            {.type = "heavy", .run = heavy},
                                            {.type = "stubborn", .run = stubborn},
                                            {.type = "notes", .run = notes, .signals = signals},
                                            {.type = "broken", .run = broken},
                                            {.type = "caller", .run = caller},
                                            {0}};
static const hf_app app = {.name = "limits", .activities = activities, .workflows = workflows};

/* ---- what operators are told */

typedef struct told {
    int count;
    char limit[64];
    int64_t value;
} told;

static void told_take(const hf_log_entry *entry, void *ctx)
{
    told *t = ctx;

    if (strcmp(entry->message, "a run comes near a structural limit") != 0)
        return;
    t->count++;
    for (size_t i = 0; i < entry->field_count; i++) {
        const hf_log_field *field = &entry->fields[i];

        if (strcmp(field->key, "limit") == 0)
            (void)snprintf(t->limit, sizeof(t->limit), "%.*s", (int)field->text.len,
                           field->text.ptr);
        if (strcmp(field->key, "value") == 0)
            t->value = field->number;
    }
}

/* ---- helpers */

/* The run failed with that limit, and nothing else of the turn was written. */
static void tripped(hf_engine *d, const char *id, const char *limit, const char *value,
                    const char *configured)
{
    ck_assert_str_eq(hf_test_status(d, id), "failed");
    ck_assert_str_eq(hf_kit_said(d, id, "WorkflowFailed", 0, HF_KEY_FAILURE_CATEGORY),
                     "structural_limit");
    ck_assert_str_eq(hf_kit_said(d, id, "WorkflowFailed", 0, HF_KEY_STRUCTURAL_LIMIT_KIND), limit);
    ck_assert_str_eq(hf_kit_said(d, id, "WorkflowFailed", 0, HF_KEY_STRUCTURAL_LIMIT_VALUE), value);
    ck_assert_str_eq(hf_kit_said(d, id, "WorkflowFailed", 0, HF_KEY_STRUCTURAL_LIMIT_CONFIGURED),
                     configured);
}

/* ---- the cases */

/* As many activities as allowed may be open, in one turn or over several; one more fails the run
   before any of its turn is scheduled. What was closed makes room. */
HF_BOTH_ENGINES(pending_activities_at_the_threshold)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_set(d, "pending_activity_count", "5"));
    hf_kit_begin(d, "crowd", "below", hf_json(d, "{'first': 4}"));
    hf_kit_begin(d, "crowd", "at", hf_json(d, "{'first': 5}"));
    hf_kit_begin(d, "crowd", "above", hf_json(d, "{'first': 6}"));
    ck_assert_int_eq(hf_test_count(d, "below", "ActivityScheduled"), 4);
    ck_assert_int_eq(hf_test_count(d, "at", "ActivityScheduled"), 5);
    tripped(d, "above", "pending_activity_count", "5", "5");
    ck_assert_int_eq(hf_test_count(d, "above", "ActivityScheduled"), 0);
    hf_kit_begin(d, "crowd", "later", hf_json(d, "{'first': 3, 'second': 3}"));
    hf_kit_begin(d, "crowd", "freed", hf_json(d, "{'first': 3, 'second': 5, 'work': true}"));
    hf_kit_ok(d, hf_signal(d, "later", "more", NULL));
    hf_kit_ok(d, hf_signal(d, "freed", "more", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    tripped(d, "later", "pending_activity_count", "5", "5");
    ck_assert_int_eq(hf_test_count(d, "later", "ActivityScheduled"), 3);
    ck_assert_str_eq(hf_test_status(d, "freed"), "waiting signal:go");
    ck_assert_int_eq(hf_test_count(d, "freed", "ActivityScheduled"), 8);
    hf_kit_close(d);
}

/* 0 takes a limit away. */
HF_BOTH_ENGINES(limits_can_be_taken_away)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_set(d, "command_batch_size", "0"));
    hf_kit_ok(d, hf_set(d, "pending_activity_count", "0"));
    ck_assert_int_eq(hf_set(d, "warning_threshold_percent", "101"), HF_INVALID);
    ck_assert_int_eq(hf_set(d, "memo_size_bytes", "1"), HF_INVALID);
    hf_kit_begin(d, "crowd", "a", hf_json(d, "{'first': 1001}"));
    ck_assert_int_eq(hf_test_count(d, "a", "ActivityScheduled"), 1001);
    hf_kit_close(d);
}

/* A turn has as many decisions as a batch may have. The wait at its end is one of them. */
HF_BOTH_ENGINES(command_batch_at_the_threshold)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_set(d, "command_batch_size", "6"));
    hf_kit_begin(d, "crowd", "below", hf_json(d, "{'first': 4}"));
    hf_kit_begin(d, "crowd", "at", hf_json(d, "{'first': 5}"));
    hf_kit_begin(d, "crowd", "above", hf_json(d, "{'first': 6}"));
    ck_assert_str_eq(hf_test_status(d, "below"), "waiting signal:go");
    ck_assert_str_eq(hf_test_status(d, "at"), "waiting signal:go");
    tripped(d, "above", "command_batch_size", "7", "6");
    ck_assert_int_eq(hf_test_count(d, "above", "ActivityScheduled"), 0);
    hf_kit_close(d);
}

/* A turn writes as many events as a transaction may have. */
HF_BOTH_ENGINES(history_transaction_at_the_threshold)
{
    hf_engine *d = hf_kit_open(kind, &app);

    hf_kit_ok(d, hf_set(d, "history_transaction_size", "6"));
    hf_kit_begin(d, "marks", "below", hf_json(d, "{'n': 4}"));
    hf_kit_begin(d, "marks", "at", hf_json(d, "{'n': 5}"));
    hf_kit_begin(d, "marks", "above", hf_json(d, "{'n': 6}"));
    ck_assert_str_eq(hf_test_status(d, "below"), "waiting signal:go");
    ck_assert_str_eq(hf_test_status(d, "at"), "waiting signal:go");
    ck_assert_int_eq(hf_test_count(d, "at", "MemoUpserted"), 5);
    tripped(d, "above", "history_transaction_size", "7", "6");
    ck_assert_int_eq(hf_test_count(d, "above", "MemoUpserted"), 0);
    hf_kit_close(d);
}

/* So many events as a history may have are not too many for what closes the run; whatever else its
   code asks for then fails it, and nothing of that turn is written. */
HF_BOTH_ENGINES(events_of_a_run_at_the_threshold)
{
    hf_engine *d = hf_kit_open(kind, &app);
    char limit[32];
    char value[32];
    int64_t length;

    hf_kit_begin(d, "crowd", "below", hf_json(d, "{'first': 1, 'second': 1}"));
    length = hf_kit_number(d, "SELECT last_seq FROM run");
    (void)snprintf(limit, sizeof(limit), "%lld", (long long)length + 2);
    hf_kit_ok(d, hf_set(d, "max_events_per_run", limit));
    hf_kit_ok(d, hf_signal(d, "below", "more", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_str_eq(hf_test_status(d, "below"), "waiting signal:go");
    hf_kit_begin(d, "crowd", "at", hf_json(d, "{'first': 1, 'second': 1}"));
    hf_kit_begin(d, "crowd", "over", hf_json(d, "{'first': 1}"));
    (void)snprintf(limit, sizeof(limit), "%lld", (long long)length + 1);
    (void)snprintf(value, sizeof(value), "%lld", (long long)length + 1);
    hf_kit_ok(d, hf_set(d, "max_events_per_run", limit));
    hf_kit_ok(d, hf_signal(d, "at", "more", NULL));
    hf_kit_ok(d, hf_signal(d, "over", "go", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    tripped(d, "at", "max_events_per_run", value, limit);
    ck_assert_int_eq(hf_test_count(d, "at", "ActivityScheduled"), 1);
    ck_assert_int_eq(hf_test_count(d, "at", "SignalApplied"), 0);
    ck_assert_str_eq(hf_test_status(d, "over"), "completed");
    hf_kit_close(d);
}

/* Attempts without end do not make a history without end, although no code runs meanwhile; and
   operators hear of it on the way. */
HF_BOTH_ENGINES(retries_end_with_the_history)
{
    hf_engine *d = hf_kit_open(kind, &app);
    told t = {0};

    hf_log_init_sink(&d->log, HF_LOG_WARN, d->clock, told_take, &t);
    hf_kit_ok(d, hf_set(d, "max_events_per_run", "20"));
    hf_kit_begin(d, "stubborn", "s", NULL);
    for (int i = 0; i < 30 && strcmp(hf_test_status(d, "s"), "failed") != 0; i++)
        hf_kit_ok(d, hf_test_advance(d, 1000));
    tripped(d, "s", "max_events_per_run",
            hf_kit_said(d, "s", "WorkflowFailed", 0, HF_KEY_STRUCTURAL_LIMIT_VALUE), "20");
    ck_assert_int_lt(hf_kit_number(d, "SELECT last_seq FROM run"), 25);
    ck_assert_int_eq(t.count, 1);
    ck_assert_str_eq(t.limit, "max_events_per_run");
    hf_kit_close(d);
}

/* A value of the limit's size is recorded, whatever it is for; one byte more fails the run before
   anything of the turn is written. */
HF_BOTH_ENGINES(payloads_at_the_threshold)
{
    static const char *const ways[] = {"input", "child", "side", "next", "result"};
    hf_engine *d = hf_kit_open(kind, &app);
    char id[32];

    ck_assert_int_eq(hf_set(d, "payload_size_bytes", "0"), HF_INVALID);
    ck_assert_int_eq(hf_set(d, "payload_size_bytes", "2097153"), HF_INVALID);
    hf_kit_ok(d, hf_set(d, "payload_size_bytes", "2097152"));
    hf_kit_ok(d, hf_set(d, "payload_size_bytes", "2000"));
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        for (int bytes = 1999; bytes <= 2001; bytes++) {
            (void)snprintf(id, sizeof(id), "%s-%d", ways[i], bytes);
            hf_kit_begin(d, "heavy", id, hf_json(d, "{'bytes': %d, 'how': %s}", bytes, ways[i]));
            if (bytes <= 2000) {
                ck_assert_str_eq(hf_test_status(d, id), "completed");
                continue;
            }
            tripped(d, id, "payload_size_bytes", "2001", "2000");
            ck_assert_int_eq(hf_test_count(d, id, "ActivityScheduled"), 0);
            ck_assert_int_eq(hf_test_count(d, id, "ChildWorkflowScheduled"), 0);
            ck_assert_int_eq(hf_test_count(d, id, "SideEffectRecorded"), 0);
        }
    ck_assert_int_eq(hf_start(d, "crowd", text_of(hf_mem_of_engine(d), 2001), .id = "caller"),
                     HF_INVALID);
    hf_kit_ok(d, hf_start(d, "crowd", text_of(hf_mem_of_engine(d), 2000), .id = "caller"));
    hf_kit_close(d);
}

/* What is no JSON is not null: the run that hands it over fails with a type, and so does an
   activity that returns it; a caller is told at once. */
HF_BOTH_ENGINES(broken_values_are_typed_failures)
{
    static const char *const whats[] = {"utf8", "text", "number", "nested", "long"};
    hf_engine *d = hf_kit_open(kind, &app);
    char id[32];

    for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
        const char *type = strcmp(whats[i], "long") ? "invalid_value" : "structural_limit";

        for (int result = 0; result < 2; result++) {
            (void)snprintf(id, sizeof(id), "%s-%d", whats[i], result);
            hf_kit_begin(d, "broken", id,
                         hf_json(d, "{'what': %s, 'result': %d}", whats[i], result));
            ck_assert_str_eq(hf_test_status(d, id), "failed");
            ck_assert_str_eq(hf_kit_said(d, id, "WorkflowFailed", 0, HF_KEY_EXCEPTION_TYPE), type);
            ck_assert_int_eq(hf_test_count(d, id, "NoteRecorded"), 0);
            ck_assert_int_eq(hf_test_count(d, id, "ActivityScheduled"), 0);
        }
        (void)snprintf(id, sizeof(id), "activity-%s", whats[i]);
        hf_kit_begin(d, "caller", id, hf_json(d, "{'what': %s}", whats[i]));
        ck_assert_str_eq(hf_str(hf_parse_(hf_mem_of_engine(d), hf_kit_result(d, id),
                                          strlen(hf_kit_result(d, id))),
                                "type", ""),
                         type);
        ck_assert_int_eq(hf_test_count(d, id, "ActivityStarted"), 1);
        ck_assert_int_eq(
            hf_start(d, "kid", broken_value(hf_mem_of_engine(d), whats[i]), .id = "nobody"),
            strcmp(whats[i], "long") ? HF_INVALID : HF_TOOBIG);
    }
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM instance WHERE id = 'nobody'"), 0);
    hf_kit_close(d);
}

/* From four fifths of a limit on operators are told, once, by the turn or message that gets there.
 */
HF_BOTH_ENGINES(operators_are_warned_at_four_fifths)
{
    hf_engine *d = hf_kit_open(kind, &app);
    told t = {0};

    hf_log_init_sink(&d->log, HF_LOG_WARN, d->clock, told_take, &t);
    hf_kit_ok(d, hf_set(d, "pending_activity_count", "10"));
    hf_kit_begin(d, "crowd", "far", hf_json(d, "{'first': 7, 'second': 1}"));
    ck_assert_int_eq(t.count, 0);
    hf_kit_ok(d, hf_signal(d, "far", "more", NULL));
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_int_eq(t.count, 1);
    ck_assert_str_eq(t.limit, "pending_activity_count");
    ck_assert_int_eq(t.value, 8);
    hf_kit_ok(d, hf_set(d, "pending_signal_count", "5"));
    for (int i = 0; i < 3; i++)
        hf_kit_ok(d, hf_signal(d, "far", "more", NULL));
    ck_assert_int_eq(t.count, 1);
    hf_kit_ok(d, hf_signal(d, "far", "more", NULL));
    ck_assert_int_eq(t.count, 2);
    ck_assert_str_eq(t.limit, "pending_signal_count");
    ck_assert_int_eq(t.value, 4);
    hf_kit_ok(d, hf_signal(d, "far", "more", NULL));
    ck_assert_int_eq(hf_signal(d, "far", "more", NULL), HF_REJECTED);
    ck_assert_int_eq(t.count, 2);
    hf_kit_close(d);
}

/* The same for the size of a batch and of a value, and not at all when it is switched off. */
HF_BOTH_ENGINES(warnings_of_sizes_and_none)
{
    hf_engine *d = hf_kit_open(kind, &app);
    told t = {0};

    hf_log_init_sink(&d->log, HF_LOG_WARN, d->clock, told_take, &t);
    hf_kit_ok(d, hf_set(d, "payload_size_bytes", "2000"));
    hf_kit_begin(d, "heavy", "light", hf_json(d, "{'bytes': 1599, 'how': 'input'}"));
    ck_assert_int_eq(t.count, 0);
    hf_kit_begin(d, "heavy", "heavy", hf_json(d, "{'bytes': 1600, 'how': 'input'}"));
    ck_assert_int_eq(t.count, 1);
    ck_assert_str_eq(t.limit, "payload_size_bytes");
    hf_kit_ok(d, hf_set(d, "command_batch_size", "10"));
    hf_kit_begin(d, "crowd", "few", hf_json(d, "{'first': 6}"));
    ck_assert_int_eq(t.count, 1);
    hf_kit_begin(d, "crowd", "many", hf_json(d, "{'first': 7}"));
    ck_assert_int_eq(t.count, 2);
    ck_assert_str_eq(t.limit, "command_batch_size");
    ck_assert_int_eq(t.value, 8);
    hf_kit_ok(d, hf_set(d, "command_batch_size", "1000"));
    hf_kit_ok(d, hf_set(d, "history_transaction_size", "10"));
    hf_kit_begin(d, "marks", "short", hf_json(d, "{'n': 6}"));
    ck_assert_int_eq(t.count, 2);
    hf_kit_begin(d, "marks", "long", hf_json(d, "{'n': 7}"));
    ck_assert_int_eq(t.count, 3);
    ck_assert_str_eq(t.limit, "history_transaction_size");
    ck_assert_int_eq(t.value, 8);
    hf_kit_ok(d, hf_set(d, "history_transaction_size", "5000"));
    hf_kit_ok(d, hf_set(d, "warning_threshold_percent", "0"));
    hf_kit_ok(d, hf_set(d, "command_batch_size", "10"));
    hf_kit_begin(d, "crowd", "silent", hf_json(d, "{'first': 9}"));
    ck_assert_int_eq(t.count, 3);
    hf_kit_close(d);
}

/* And for the size of a memo and of search attributes, by the turn that makes them so large. */
HF_BOTH_ENGINES(metadata_is_warned_of)
{
    hf_engine *d = hf_kit_open(kind, &app);
    told t = {0};

    hf_log_init_sink(&d->log, HF_LOG_WARN, d->clock, told_take, &t);
    hf_kit_begin(d, "notes", "small", hf_json(d, "{'n': 5, 'bytes': 10000}"));
    ck_assert_int_eq(t.count, 0);
    hf_kit_begin(d, "notes", "large", hf_json(d, "{'n': 6, 'bytes': 9000}"));
    ck_assert_int_eq(t.count, 1);
    ck_assert_str_eq(t.limit, "memo_total_bytes");
    hf_kit_begin(d, "notes", "tags", hf_json(d, "{'n': 17, 'bytes': 2000, 'tags': true}"));
    ck_assert_int_eq(t.count, 2);
    ck_assert_str_eq(t.limit, "search_attribute_size_bytes");
    hf_kit_close(d);
}

/* ---- timers: only workers of other processes can have many */

typedef struct polled {
    hf_mem *mem;
    const char *json;
} polled;

static bool task_take(void *arg, hf_value task)
{
    polled *got = arg;

    ck_assert_ptr_nonnull(task);
    got->json = hf_text(got->mem, task);
    return true;
}

/* Answers the task that is there with so many timers. */
static void timers_start(hf_engine *d, int count)
{
    polled got = {hf_mem_of_engine(d), NULL};
    char commands[4096] = "[";
    hf_task_claim claim = {.size_ = sizeof(claim)};
    hf_poll *poll = NULL;
    hf_value errors = NULL;
    hf_value task;

    poll = hf_kit_poll(d, HF_TASK_WORKFLOW, "w", task_take, &got);
    hf_kit_ok(d, hf_test_drain(d));
    ck_assert_ptr_nonnull(got.json);
    (void)hf_poll_end(poll);
    task = hf_parse_(got.mem, got.json, strlen(got.json));
    claim.task_id = hf_str(task, "task_id", "");
    claim.worker = hf_str(task, "lease_owner", "");
    claim.attempt = hf_int(task, "workflow_task_attempt", 0);
    for (int i = 0; i < count; i++)
        (void)snprintf(commands + strlen(commands), sizeof(commands) - strlen(commands),
                       "%s{\"type\": \"start_timer\", \"delay_seconds\": 60}", i ? "," : "");
    (void)snprintf(commands + strlen(commands), sizeof(commands) - strlen(commands), "]");
    hf_kit_ok(d, hf_task_answer(d, &claim, hf_parse_(got.mem, commands, strlen(commands)), got.mem,
                                &errors));
    hf_kit_ok(d, hf_test_drain(d));
}

/* As many timers as allowed may be pending; one more fails the run. Zero delays do not count. */
HF_BOTH_ENGINES(pending_timers_at_the_threshold)
{
    hf_engine *d = hf_kit_open(kind, &app);
    told t = {0};

    hf_kit_ok(d, hf_workers_allow(d));
    hf_log_init_sink(&d->log, HF_LOG_WARN, d->clock, told_take, &t);
    hf_kit_ok(d, hf_set(d, "pending_timer_count", "5"));
    hf_kit_ok(d, hf_start(d, "far", NULL, .id = "below"));
    timers_start(d, 3);
    ck_assert_int_eq(t.count, 0);
    hf_kit_ok(d, hf_start(d, "far", NULL, .id = "at"));
    timers_start(d, 5);
    ck_assert_int_eq(t.count, 1);
    ck_assert_str_eq(t.limit, "pending_timer_count");
    hf_kit_ok(d, hf_start(d, "far", NULL, .id = "above"));
    timers_start(d, 6);
    ck_assert_int_eq(hf_test_count(d, "below", "TimerScheduled"), 3);
    ck_assert_int_eq(hf_test_count(d, "at", "TimerScheduled"), 5);
    tripped(d, "above", "pending_timer_count", "5", "5");
    ck_assert_int_eq(hf_test_count(d, "above", "TimerScheduled"), 0);
    hf_kit_close(d);
}

/* The length of a history is a server's limit: a program of one's own has none unless it asks. */
HF_BOTH_ENGINES(histories_are_bounded_for_workers)
{
    hf_engine *d = hf_kit_open(kind, &app);
    const int64_t *most = &d->settings.limits.of[HF_LIMIT_MAX_EVENTS_PER_RUN];

    ck_assert_int_eq(*most, 0);
    hf_kit_ok(d, hf_workers_allow(d));
    ck_assert_int_eq(*most, 50000);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("engine/limit", HF_BOTH(pending_activities_at_the_threshold),
                 HF_BOTH(limits_can_be_taken_away), HF_BOTH(command_batch_at_the_threshold),
                 HF_BOTH(history_transaction_at_the_threshold), HF_BOTH(payloads_at_the_threshold),
                 HF_BOTH(events_of_a_run_at_the_threshold),
                 HF_BOTH(histories_are_bounded_for_workers), HF_BOTH(retries_end_with_the_history),
                 HF_BOTH(metadata_is_warned_of), HF_BOTH(broken_values_are_typed_failures),
                 HF_BOTH(operators_are_warned_at_four_fifths), HF_BOTH(warnings_of_sizes_and_none),
                 HF_BOTH(pending_timers_at_the_threshold))
