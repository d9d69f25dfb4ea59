/* run_diff.c: see run_diff.h. */
#include "project/run_diff.h"

#include "base/json.h"
#include "project/compare.h"
#include "project/edge.h"
#include "project/projection.h"
#include "project/shown.h"

static const char *const states[] = {[HF_COMPARE_SAME] = "same",
                                     [HF_COMPARE_DIFFERENT_STEP] = "different_step",
                                     [HF_COMPARE_DIFFERENT_INPUT] = "different_input",
                                     [HF_COMPARE_DIFFERENT_OUTPUT] = "different_output",
                                     [HF_COMPARE_ONLY_A] = "only_left",
                                     [HF_COMPARE_ONLY_B] = "only_right"};

/* One of the two while they are compared. */
typedef struct side {
    hf_db *db;
    hf_dossier dossier; /* its events without big values */
    const hf_event *whole;
    hf_slice bundle;
    hf_compare_run run;
} side;

static hf_status whole_read(void *ctx, hf_mem *mem, int64_t seq, hf_event *out_event, hf_err *err)
{
    const side *s = ctx;

    if (!s->whole)
        return hf_dossier_event(s->db, mem, s->dossier.run.key, seq, out_event, err);
    *out_event = s->whole[seq - 1];
    return HF_OK;
}

static hf_status side_read(hf_db *db, hf_mem *mem, const hf_run_diff_side *from, side *s,
                           hf_err *err)
{
    hf_projection fold;
    hf_status st = HF_OK;

    *s = (side){.db = db, .bundle = from->bundle};
    if (from->opened) {
        s->dossier = from->opened->dossier;
        s->whole = from->opened->whole;
    } else {
        st = hf_dossier_outline(db, mem, from->run, &s->dossier, err);
        if (!st)
            st = hf_projection_read(db, mem, from->run, INT64_MAX, &fold, err);
        if (st)
            return st;
        s->dossier.events = fold.events;
        s->dossier.event_count = fold.count;
    }
    s->run = (hf_compare_run){.events = s->dossier.events,
                              .count = s->dossier.event_count,
                              .run_key = s->dossier.run.key,
                              .whole = whole_read,
                              .ctx = s};
    return st;
}

/* ---- values */

static hf_value number_or_null(hf_mem *mem, bool there, int64_t number)
{
    return there ? hf_value_int(mem, number) : hf_value_null();
}

static hf_status payload_shown(hf_mem *mem, const hf_event *event, const hf_event_key *keys,
                               size_t count, hf_value *out_shown, hf_err *err)
{
    hf_payload_value payload;

    *out_shown = hf_value_null();
    for (size_t i = 0; event && i < count; i++)
        if (hf_event_payload(event, keys[i], &payload))
            return hf_shown_payload(mem, &payload, out_shown, err);
    return HF_OK;
}

static hf_value side_value(hf_mem *mem, const side *s, int64_t steps)
{
    const hf_dossier *d = &s->dossier;
    bool closed = d->base.closed_us != HF_NONE;
    int64_t ms = closed ? (d->base.closed_us - d->run.created_us) / 1000 : 0;
    hf_ulid id = hf_dossier_run_id(&d->run);
    const char *closed_by = NULL;

    for (size_t i = d->event_count; !closed_by && i-- > 0;)
        if (hf_event_has_flag(d->events[i].type, HF_EVENT_CLOSES))
            closed_by = hf_event_type_text(d->events[i].type);
    return hf_json_(
        mem,
        "{'workflow_id': %p, 'run_id': %p, 'workflow_type': %p, 'bundle': %p, 'events': %zu, "
        "'steps': %lld, 'started_at': %p, 'closed_at': %p, 'closed_by': %s, 'duration_ms': %p}",
        (const void *)hf_edge_text(mem, d->run.instance_id), (const void *)hf_edge_id(mem, &id),
        (const void *)hf_edge_text(mem, d->run.type), (const void *)hf_edge_text(mem, s->bundle),
        d->event_count, (long long)steps, (const void *)hf_edge_time(mem, d->run.created_us),
        (const void *)hf_edge_time(mem, d->base.closed_us), closed_by,
        (const void *)number_or_null(mem, closed, ms));
}

static const char *failure_text(hf_mem *mem, const hf_track_step *step)
{
    hf_slice text = {0};

    if (step->ended)
        (void)hf_event_text(step->ended, HF_KEY_MESSAGE, &text);
    return text.ptr ? hf_mem_text(mem, text) : NULL;
}

/* One step of one run; null when the run has none. */
static hf_status step_value(hf_mem *mem, const side *s, const hf_track_step *step,
                            hf_value *out_value, hf_err *err)
{
    static const hf_event_key inputs[] = {HF_KEY_ARGUMENTS};
    static const hf_event_key outputs[] = {HF_KEY_RESULT, HF_KEY_OUTPUT, HF_KEY_VALUE,
                                           HF_KEY_STATE};
    hf_value input = NULL;
    hf_value output = NULL;
    const hf_event *ended = step ? step->ended : NULL;
    hf_status st;

    *out_value = hf_value_null();
    if (!step)
        return HF_OK;
    st = payload_shown(mem, step->opened, inputs, 1, &input, err);
    if (!st)
        st = payload_shown(mem, ended, outputs, 4, &output, err);
    if (st)
        return st;
    *out_value = hf_json_(
        mem,
        "{'kind': %s, 'name': %p, 'type': %s, 'event': %lld, 'ended_event': %p, 'outcome': %s, "
        "'source_line': %p, 'attempts': %lld, 'opened_at': %p, 'queued_ms': %p, 'duration_ms': "
        "%p, 'input': %p, 'output': %p, 'failure': %s}",
        hf_vocab_text(&hf_history_shape_list, hf_event_shape(step->opened->type)),
        (const void *)hf_edge_text(mem, hf_track_name(step->opened)),
        hf_event_type_text(step->opened->type), (long long)(step->opened - s->dossier.events + 1),
        (const void *)number_or_null(mem, ended != NULL, ended ? ended - s->dossier.events + 1 : 0),
        ended ? hf_event_type_text(ended->type) : NULL,
        (const void *)(step->line.len ? hf_edge_text(mem, step->line) : hf_value_null()),
        (long long)(step->attempt ? step->attempt->number : 0),
        (const void *)hf_edge_time(mem, step->opened->time_us),
        (const void *)number_or_null(
            mem, step->attempts != NULL,
            step->attempts ? (step->attempts->started_us - step->opened->time_us) / 1000 : 0),
        (const void *)number_or_null(mem, ended != NULL,
                                     ended ? (ended->time_us - step->opened->time_us) / 1000 : 0),
        (const void *)input, (const void *)output, failure_text(mem, step));
    return *out_value ? HF_OK : hf_err_nomem(err, "a comparison");
}

/* ---- the walk */

/* What is counted of all steps, and those of the window. */
typedef struct walk {
    hf_mem *mem;
    const hf_run_diff_query *query;
    const side *left;
    const side *right;
    hf_value_list *rows;
    int64_t count;
    int64_t last;  /* step of the window */
    bool more;     /* behind it */
    int64_t first; /* difference; 0: there is none */
    int64_t different;
    int64_t left_steps;
    int64_t right_steps;
} walk;

static hf_status row_append(walk *w, const hf_compare_step *step, hf_err *err)
{
    hf_value left = NULL;
    hf_value right = NULL;
    hf_status st = step_value(w->mem, w->left, step->a, &left, err);

    if (!st)
        st = step_value(w->mem, w->right, step->b, &right, err);
    if (st)
        return st;
    hf_value_append(w->rows,
                    hf_json_(w->mem,
                             "{'step': %lld, 'state': %s, 'first': %p, 'left': %p, 'right': %p}",
                             (long long)step->step, states[step->state],
                             (const void *)hf_value_bool(step->step == w->first),
                             (const void *)left, (const void *)right));
    w->last = step->step;
    w->count++;
    return HF_OK;
}

static hf_status step_take(walk *w, const hf_compare_step *step, hf_err *err)
{
    bool same = step->state == HF_COMPARE_SAME;

    w->left_steps += step->a != NULL;
    w->right_steps += step->b != NULL;
    w->different += !same;
    if (!same && !w->first)
        w->first = step->step;
    if (step->step <= w->query->after || (same && w->query->different_only))
        return HF_OK;
    if (w->count < w->query->limit)
        return row_append(w, step, err);
    w->more = true;
    return HF_OK;
}

static hf_status answer_make(walk *w, hf_compare *compare, hf_value *out_diff, hf_err *err)
{
    bool type = hf_slice_equal(w->left->dossier.run.type, w->right->dossier.run.type);
    bool input = false;
    bool output = false;
    hf_status st = hf_compare_input(compare, &input, err);

    if (!st)
        st = hf_compare_output(compare, &output, err);
    if (st)
        return st;
    *out_diff = hf_json_(
        w->mem,
        "{'equal': %p, 'different': %lld, 'first_difference': %p, 'type': %s, 'input': %s, "
        "'output': %s, 'left': %p, 'right': %p, 'steps': %p, 'next_after': %p}",
        (const void *)hf_value_bool(!w->different && type && input && output),
        (long long)w->different, (const void *)number_or_null(w->mem, w->first > 0, w->first),
        type ? "same" : "different", input ? "same" : "different", output ? "same" : "different",
        (const void *)side_value(w->mem, w->left, w->left_steps),
        (const void *)side_value(w->mem, w->right, w->right_steps),
        (const void *)hf_value_finish(w->rows),
        (const void *)number_or_null(w->mem, w->more, w->last));
    return *out_diff ? HF_OK : hf_err_nomem(err, "a comparison");
}

hf_status hf_run_diff_read(hf_db *db, hf_mem *mem, const hf_run_diff_query *query,
                           hf_value *out_diff, hf_err *err)
{
    side left;
    side right;
    walk w = {
        .mem = mem, .query = query, .left = &left, .right = &right, .rows = hf_value_array(mem)};
    hf_compare *compare = NULL;
    hf_compare_step step;
    bool there = true;
    hf_status st;

    if (query->limit < 1 || query->limit > HF_RUN_DIFF_STEPS_MAX || query->after < 0)
        return hf_err_set(err, HF_INVALID, "a window has 1 to %d steps, after 0 or one of them",
                          HF_RUN_DIFF_STEPS_MAX);
    st = side_read(db, mem, &query->left, &left, err);
    if (!st)
        st = side_read(db, mem, &query->right, &right, err);
    if (!st)
        st = hf_compare_new(mem, &left.run, &right.run, &compare, err);
    while (!st && there) {
        st = hf_compare_next(compare, &step, &there, err);
        if (!st && there)
            st = step_take(&w, &step, err);
    }
    if (!st)
        st = answer_make(&w, compare, out_diff, err);
    hf_compare_free(compare);
    return st;
}
