/* replay_rows.c: see replay_rows.h. */
#include "project/replay_rows.h"

#include <string.h>

#include "base/json.h"
#include "model/vocab.h"
#include "project/edge.h"
#include "project/track.h"

/* The steps of a run while rows are made of them. */
typedef struct making {
    hf_mem *mem;
    const hf_event *events;
    const hf_replay_outcome *o;
    const hf_track_step **steps; /* by number */
    size_t count;
    hf_value_list *rows;
} making;

static hf_value text_or_null(hf_mem *mem, hf_slice text)
{
    return text.len ? hf_value_string(mem, text) : hf_value_null();
}

static hf_value recorded_value(const making *m, const hf_track_step *step)
{
    hf_value_list *seqs = hf_value_array(m->mem);

    hf_value_append(seqs, hf_value_int(m->mem, step->opened - m->events + 1));
    if (step->ended && step->ended != step->opened)
        hf_value_append(seqs, hf_value_int(m->mem, step->ended - m->events + 1));
    return hf_json_(
        m->mem, "{'kind': %s, 'name': %p, 'events': %p, 'source_line': %p, 'outcome': %s}",
        hf_vocab_text(&hf_history_shape_list, hf_event_shape(step->opened->type)),
        (const void *)text_or_null(m->mem, hf_track_name(step->opened)),
        (const void *)hf_value_finish(seqs), (const void *)text_or_null(m->mem, step->line),
        step->ended ? hf_event_type_text(step->ended->type) : NULL);
}

/* What code asks for in the place where they part. */
static hf_value asked_value(const making *m)
{
    hf_slice name = m->o->shape;
    hf_slice kind;

    if (!m->o->shape.len)
        return hf_value_null();
    (void)hf_slice_split(&name, ':', &kind);
    return hf_json_(
        m->mem, "{'kind': %p, 'name': %p, 'source_line': %p}",
        (const void *)hf_value_string(m->mem, kind),
        (const void *)text_or_null(m->mem, kind.len < m->o->shape.len ? name : (hf_slice){0}),
        (const void *)text_or_null(m->mem, m->o->line));
}

/* Code asked for what is recorded. */
static hf_value same_value(const making *m, const hf_track_step *step)
{
    hf_slice line = m->o->line_of ? m->o->line_of(m->o->ctx, step->step) : (hf_slice){0};

    return hf_json_(m->mem, "{'kind': %s, 'name': %p, 'source_line': %p}",
                    hf_vocab_text(&hf_history_shape_list, hf_event_shape(step->opened->type)),
                    (const void *)text_or_null(m->mem, hf_track_name(step->opened)),
                    (const void *)text_or_null(m->mem, line));
}

static void row_append(making *m, int64_t number, const char *state, hf_value recorded,
                       hf_value wanted)
{
    hf_value_append(
        m->rows, hf_json_(m->mem, "{'step': %lld, 'state': %s, 'recorded': %p, 'wanted': %p}",
                          (long long)number, state, (const void *)recorded, (const void *)wanted));
}

static void step_row(making *m, const hf_track_step *step)
{
    hf_value recorded = recorded_value(m, step);

    if (m->o->step && step->step == m->o->step)
        row_append(m, step->step, "different", recorded, asked_value(m));
    else if ((m->o->step && step->step > m->o->step) || step->step > m->o->entered)
        row_append(m, step->step, "not_reached", recorded, hf_value_null());
    else
        row_append(m, step->step, "same", recorded, same_value(m, step));
}

/* The first step that is not before the place; at the end of a clean replay behind the last. */
static size_t place_of(const making *m)
{
    size_t at = 0;

    while (at < m->count && (!m->o->step || m->steps[at]->step < m->o->step))
        at++;
    return at;
}

static hf_value rows_make(making *m)
{
    size_t place = place_of(m);
    bool missing = m->o->step && (place == m->count || m->steps[place]->step != m->o->step);
    size_t from = place > HF_REPLAY_ROWS_AROUND ? place - HF_REPLAY_ROWS_AROUND : 0;
    size_t to = place + HF_REPLAY_ROWS_AROUND + !missing;

    if (!m->o->step)
        from = place > 2 * HF_REPLAY_ROWS_AROUND ? place - 2 * HF_REPLAY_ROWS_AROUND : 0;
    to = to < m->count ? to : m->count;
    for (size_t i = from; i < to; i++) {
        if (missing && i == place)
            row_append(m, m->o->step, "missing", hf_value_null(), asked_value(m));
        step_row(m, m->steps[i]);
    }
    if (missing && place >= to)
        row_append(m, m->o->step, "missing", hf_value_null(), asked_value(m));
    return hf_json_(m->mem, "{'rows': %p, 'rows_before': %zu, 'rows_after': %zu}",
                    (const void *)hf_value_finish(m->rows), from, m->count - to);
}

hf_status hf_replay_rows(hf_mem *mem, const hf_event *events, size_t count, int64_t run_key,
                         const hf_replay_outcome *outcome, hf_value *out_rows, hf_err *err)
{
    making m = {.mem = mem, .events = events, .o = outcome, .rows = hf_value_array(mem)};
    hf_track *track = NULL;
    hf_status st = hf_track_new(mem, run_key, &track, err);

    for (size_t i = 0; !st && i < count; i++)
        st = hf_track_add(track, &events[i], (int64_t)i + 1, err);
    if (!st)
        st = hf_track_by_number(track, mem, &m.steps, &m.count, err);
    if (!st) {
        *out_rows = rows_make(&m);
        st = *out_rows ? HF_OK : hf_err_nomem(err, "the steps of a replay");
    }
    hf_track_free(track);
    return st;
}

hf_value hf_replay_guard(hf_mem *mem, hf_slice type, hf_slice reason, int64_t step)
{
    const char *change;

    if (step < 1 ||
        (!hf_slice_equal(reason, hf_slice_of(hf_replay_blocked_reason_text(
                                     HF_REPLAY_BLOCKED_HISTORY_SHAPE_MISMATCH))) &&
         !hf_slice_equal(reason, hf_slice_of(hf_replay_blocked_reason_text(
                                     HF_REPLAY_BLOCKED_CONDITION_WAIT_DEFINITION_MISMATCH)))))
        return hf_value_null();
    change = hf_mem_format(mem, "%.*s-step-%lld", (int)type.len, type.ptr, (long long)step);
    return hf_json_(mem, "{'change_id': %s, 'line': %s}", change,
                    hf_mem_format(mem, "if (hf_version(w, \"%s\", HF_VERSION_DEFAULT, 1) >= 1)",
                                  change ? change : ""));
}
