/* testkit.c: an engine whose every move belongs to the test: in memory, on a virtual clock, in one
   thread. The harness that Holdfast tests itself with, handed to the people who write workflows. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/engine_impl.h"
#include "engine/machine.h"
#include "model/event_codec.h"
#include "model/retry.h"
#include "store/row.h"

#define TEST_EPOCH_US INT64_C(1767225600000000) /* 2026-01-01 */

enum { DRAIN_PAUSES = 1000 }; /* what fails for ever must not hold a test for ever */

/* A test that lets a year pass still wants to see the result. Before the engine begins, so that it
   is none of the commits that a test counts. */
static hf_status keep_for_ever(hf_engine *engine)
{
    const hf_db_value cells[] = {hf_db_text(HF_SLICE("default")), hf_db_int(0),
                                 hf_db_null(HF_DB_TEXT), hf_db_null(HF_DB_TEXT)};

    return hf_db_exec(hf_store_writer(engine->store), HF_STMT_NAMESPACE_SET, cells, 4, NULL,
                      &engine->open_error);
}

hf_engine *hf_test_open(const hf_app *app)
{
    hf_clock *clock = hf_clock_new_virtual(TEST_EPOCH_US);
    hf_engine *engine = NULL;
    hf_status st;

    if (!clock)
        return NULL;
    st = hf_engine_open(":memory:", app, clock, &engine);
    if (!engine)
        hf_clock_free_virtual(clock); /* else it is the engine's */
    if (!st)
        st = keep_for_ever(engine);
    if (!st)
        (void)!hf_engine_begin(engine, ENGINE_TEST, &engine->open_error);
    return engine; /* hf_errmsg says why it failed; every call answers the same */
}

/* Whether a test may move the engine. */
static hf_status test_begin(hf_engine *engine)
{
    engine_slot *slot = hf_engine_slot_get(engine);

    if (!slot)
        return engine ? HF_NOMEM : HF_MISUSE;
    if (!engine->virtual_clock && !engine->open_error.status)
        return hf_err_set(&slot->err, HF_MISUSE,
                          "only an engine of hf_test_open is moved by tests");
    return hf_engine_begin_as(engine, ENGINE_TEST, &slot->err);
}

/* Does what can be done without moving the clock. */
static hf_status test_settle(hf_engine *engine)
{
    engine_slot *slot = hf_engine_slot_get(engine);
    hf_status st = test_begin(engine);

    while (!st && hf_engine_pump(engine)) /* a move may be a crash: begin again then */
        st = hf_engine_begin(engine, ENGINE_TEST, &slot->err);
    return st ? st : hf_core_failure(engine->core, &slot->err);
}

/* Moves the clock to `end_us`, from one thing that falls due to the next. */
static hf_status test_run_until(hf_engine *engine, int64_t end_us)
{
    hf_status st = HF_OK;

    while (!st) {
        int64_t next_us = hf_core_next_us(engine->core);
        int64_t batch_us = hf_batch_next_us(engine->batcher);

        if (batch_us < next_us)
            next_us = batch_us;
        if (next_us > end_us)
            break;
        if (next_us > hf_clock_wall_us(engine->clock))
            hf_clock_advance(engine->virtual_clock, next_us - hf_clock_wall_us(engine->clock));
        st = test_settle(engine);
    }
    if (hf_clock_wall_us(engine->clock) < end_us)
        hf_clock_advance(engine->virtual_clock, end_us - hf_clock_wall_us(engine->clock));
    return st ? st : test_settle(engine);
}

/* When the next pause before another attempt at an activity or a step ends; INT64_MAX: there is no
   pause. */
static hf_status pause_end(hf_engine *engine, int64_t *out_us)
{
    const hf_db_value now = hf_db_int(hf_clock_wall_us(engine->clock));
    engine_slot *slot = hf_engine_slot_get(engine);
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st;

    *out_us = hf_machine_pause_end(engine->core);
    st = hf_db_query(hf_engine_read_begin(engine), HF_STMT_ACTIVITY_RETRY, &now, 1, &cursor,
                     &slot->err);
    if (!st)
        st = hf_db_step(cursor, &row, &slot->err);
    if (!st && row && !hf_db_column_null(cursor, 0) && hf_db_column_int(cursor, 0) < *out_us)
        *out_us = hf_db_column_int(cursor, 0);
    hf_db_end(cursor);
    hf_engine_read_end(engine);
    return st;
}

hf_status hf_test_drain(hf_engine *engine)
{
    hf_status st = test_settle(engine);

    for (int pauses = 0; !st && pauses < DRAIN_PAUSES; pauses++) {
        int64_t end_us;

        st = pause_end(engine, &end_us);
        if (st || end_us == INT64_MAX)
            break;
        st = test_run_until(engine, end_us);
    }
    return st;
}

hf_status hf_test_advance(hf_engine *engine, hf_ms by)
{
    hf_status st = test_settle(engine);

    if (st)
        return st;
    if (by < 0 || by > HF_RETRY_MS_MAX)
        return hf_err_set(&hf_engine_slot_get(engine)->err, HF_INVALID,
                          "a test's clock moves on by 0 to ten years, not by %lld ms",
                          (long long)by);
    return test_run_until(engine, hf_clock_after(hf_clock_wall_us(engine->clock), by));
}

void hf_test_fail(hf_engine *engine, const char *activity, int times, const char *type)
{
    hf_core_fault *fault = engine && activity ? hf_alloc(sizeof(*fault)) : NULL;

    if (!fault)
        return; /* the test sees that nothing failed */
    (void)snprintf(fault->activity, sizeof(fault->activity), "%s", activity);
    (void)snprintf(fault->type, sizeof(fault->type), "%s", type ? type : "error");
    fault->times = times;
    fault->next = engine->faults;
    engine->faults = fault;
}

void hf_test_crash(hf_engine *engine)
{
    if (test_begin(engine))
        return;
    hf_engine_crash(engine);
    (void)!test_begin(engine);
}

/* The newest run of an instance; 0 when there is none. */
static int64_t run_of(hf_engine *engine, const char *id, hf_run_base *out_base)
{
    engine_slot *slot = hf_engine_slot_get(engine);
    hf_intake in = {0};
    hf_intake_target target;
    hf_status st;

    if (!slot || engine->open_error.status || !id)
        return 0;
    in.namespace_key = slot->namespace_key;
    in.db = hf_engine_read_begin(engine);
    st = hf_intake_find(&in, slot->mem, hf_slice_of(id), &target, &slot->err);
    hf_engine_read_end(engine);
    if (st)
        return 0;
    *out_base = target.base;
    return target.base.run;
}

const char *hf_test_status(hf_engine *engine, const char *id)
{
    engine_slot *slot = hf_engine_slot_get(engine);
    hf_run_base base;
    int64_t run = run_of(engine, id, &base);
    const char *waiting;
    const char *text;

    if (!run || !slot)
        return "not found";
    text = hf_run_status_text((hf_run_status)base.status);
    if (base.status != HF_RUN_STATUS_WAITING || engine->mode == ENGINE_THREADS)
        return text; /* what it waits for is known to the core's thread alone */
    waiting = hf_core_waiting(engine->core, run);
    if (!waiting[0])
        return text;
    text = hf_mem_format(slot->mem, "%s %s", text, waiting);
    return text ? text : "no memory";
}

int hf_test_count(hf_engine *engine, const char *id, const char *event_type)
{
    engine_slot *slot = hf_engine_slot_get(engine);
    hf_db_cursor *cursor = NULL;
    hf_event_type type;
    hf_run_base base;
    hf_db_value params[3] = {hf_db_int(0), hf_db_int(1), hf_db_int(INT64_MAX)};
    bool row = true;
    int found = 0;
    hf_status st;

    params[0].number = run_of(engine, id, &base);
    if (!slot || !params[0].number || !hf_event_type_parse(hf_slice_of(event_type), &type))
        return -1;
    st = hf_db_query(hf_engine_read_begin(engine), HF_STMT_HISTORY_READ, params, 3, &cursor,
                     &slot->err);
    while (!st && row) {
        hf_event *events = NULL;
        size_t count = 0;

        st = hf_db_step(cursor, &row, &slot->err);
        if (!st && row)
            st = hf_event_chunk_decode(slot->mem, hf_db_column_bytes(cursor, 3), &events, &count,
                                       &slot->err);
        for (size_t i = 0; !st && i < count; i++)
            found += events[i].type == type;
    }
    hf_db_end(cursor);
    hf_engine_read_end(engine);
    return st ? -1 : found;
}
