/* Work that was open at an earlier moment, row by row, while each allocation fails in turn: every
   failure says that memory ran out, and the next try has every row. */
#include "base/fault.h"
#include "lib/engine.h"
#include "lib/suite.h"
#include "project/moment.h"

enum { STEPS_MAX = 8, BEGIN_US = 1000000 };

static void step_open(hf_event_builder *b, hf_event_type type, int64_t step)
{
    hf_ulid child = hf_ulid_form(BEGIN_US, step, 0);

    hf_event_begin(b, type, BEGIN_US, step);
    switch ((int)type) {
    case HF_EVENT_ACTIVITY_SCHEDULED:
        hf_event_put_text(b, HF_KEY_ACTIVITY_TYPE, HF_SLICE("charge"));
        break;
    case HF_EVENT_TIMER_SCHEDULED:
        hf_event_put_time(b, HF_KEY_FIRE_AT, BEGIN_US + step);
        break;
    default:
        hf_event_put_text(b, HF_KEY_CHILD_WORKFLOW_INSTANCE_ID, HF_SLICE("kid"));
        hf_event_put_text(b, HF_KEY_CHILD_WORKFLOW_TYPE, HF_SLICE("kid"));
        hf_event_begin(b, HF_EVENT_CHILD_RUN_STARTED, BEGIN_US, step);
        hf_event_put_id(b, HF_KEY_CHILD_WORKFLOW_RUN_ID, child);
    }
}

static hf_track *track_make(hf_mem *mem, const hf_event_type *types, size_t count)
{
    hf_event_builder b;
    hf_event *events = NULL;
    hf_track *track = NULL;
    hf_err err = {0};
    size_t made = 0;

    hf_event_builder_init(&b, mem);
    for (size_t i = 0; i < count; i++)
        step_open(&b, types[i], (int64_t)i + 1);
    hf_test_ok(hf_event_builder_done(&b, &events, &made, &err), &err, "events");
    hf_test_ok(hf_track_new(mem, 7, &track, &err), &err, "a track");
    for (size_t i = 0; i < made; i++)
        hf_test_ok(hf_track_add(track, &events[i], (int64_t)i + 1, &err), &err, "an event");
    return track;
}

static size_t rows_count(const hf_dossier *d)
{
    size_t count = 0;

    for (const hf_dossier_activity *row = d->activities; row; row = row->next)
        count += hf_slice_equal(row->type, HF_SLICE("charge"));
    for (const hf_dossier_timer *row = d->timers; row; row = row->next)
        count += row->due_us == BEGIN_US + row->step;
    for (const hf_dossier_child *row = d->children; row; row = row->next)
        count += row->run == row->step && hf_slice_equal(row->id, HF_SLICE("kid"));
    return count;
}

/* The rows of one kind alone, so that the first allocation is one of theirs, then of all. */
static void each_allocation_fails(const hf_event_type *types, size_t count)
{
    hf_mem *mem = hf_mem_new();
    hf_track *track = track_make(mem, types, count);
    bool hit = true;
    bool failed = false;

    for (int64_t nth = 1; hit; nth++) {
        hf_dossier d = {.base = {.closed_us = HF_NONE}};
        hf_mem *rows = hf_mem_new_small();
        hf_err err = {0};
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_moment_rows(&d, track, rows, &err);
        hit = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == (hit ? HF_NOMEM : HF_OK), "allocation %d: %s", (int)nth, err.text);
        ck_assert(st || rows_count(&d) == count);
        ck_assert(!st || err.status == HF_NOMEM);
        failed |= hit;
        hf_mem_free(rows);
    }
#ifdef HF_FAULT
    ck_assert(failed);
#endif
    hf_track_free(track);
    hf_mem_free(mem);
}

START_TEST(rows_without_memory)
{
    static const hf_event_type kinds[] = {HF_EVENT_ACTIVITY_SCHEDULED, HF_EVENT_TIMER_SCHEDULED,
                                          HF_EVENT_CHILD_WORKFLOW_SCHEDULED};
    hf_event_type all[STEPS_MAX];

    for (size_t i = 0; i < 3; i++)
        each_allocation_fails(&kinds[i], 1);
    for (size_t i = 0; i < STEPS_MAX; i++)
        all[i] = kinds[i % 3];
    each_allocation_fails(all, STEPS_MAX);
}
END_TEST

/* A run that was closed by then had nothing open. */
START_TEST(closed_runs_have_no_rows)
{
    static const hf_event_type kinds[] = {HF_EVENT_ACTIVITY_SCHEDULED, HF_EVENT_TIMER_SCHEDULED};
    hf_mem *mem = hf_mem_new();
    hf_track *track = track_make(mem, kinds, 2);
    hf_dossier_task task = {0};
    hf_dossier d = {.base = {.closed_us = BEGIN_US}, .tasks = &task};
    hf_err err = {0};

    hf_test_ok(hf_moment_rows(&d, track, mem, &err), &err, "rows");
    ck_assert_uint_eq(rows_count(&d), 0);
    ck_assert_ptr_null(d.tasks);
    hf_track_free(track);
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("project/moment", {rows_without_memory, 0}, {closed_runs_have_no_rows, 0})
