/* projection.c: see projection.h. */
#include <string.h>

#include "base/buf.h"
#include "project/projection_impl.h"
#include "store/payload.h"

/* ---- columns */

/* Search attributes may be stored apart; columns need their bytes. */
static hf_status attributes_fetch(hf_projection_work *w, hf_event *event, hf_err *err)
{
    hf_status st = HF_OK;

    if (event->type != HF_EVENT_WORKFLOW_STARTED &&
        event->type != HF_EVENT_SEARCH_ATTRIBUTES_UPSERTED)
        return HF_OK;
    for (size_t i = 0; !st && i < event->count; i++) {
        hf_event_field *field = &event->fields[i];
        hf_slice bytes = {0};

        if ((field->key != HF_KEY_SEARCH_ATTRIBUTES && field->key != HF_KEY_ATTRIBUTES) ||
            field->payload.form != HF_PAYLOAD_FORM_REFERENCE)
            continue;
        if (!w->sha)
            st = hf_sha256_new(&w->sha, err);
        if (!st)
            st = hf_payload_get(w->db, w->mem, w->sha, w->s.run, &field->payload, &bytes, err);
        if (st == HF_NOTFOUND)
            st = HF_OK; /* erased: nothing is known of it any more */
        else if (!st)
            field->payload = hf_payload_inline(field->payload.codec, bytes);
    }
    return st;
}

static hf_slice step_name(const hf_fold_chunk *chunks, int64_t step)
{
    hf_slice name = {0};

    for (const hf_fold_chunk *c = chunks; c; c = c->next)
        for (size_t i = 0; i < c->count; i++)
            if (c->events[i].step == step && hf_event_opens_step(&c->events[i]) &&
                (hf_event_text(&c->events[i], HF_KEY_ACTIVITY_TYPE, &name) ||
                 hf_event_text(&c->events[i], HF_KEY_CHILD_WORKFLOW_TYPE, &name)))
                return name;
    return name;
}

/* The name of what runs at a step that was opened in an earlier chunk. */
static hf_slice earlier_name(void *ctx, int64_t step)
{
    hf_projection_work *w = ctx;
    hf_slice name = step_name(w->s.chunks, step);
    hf_projection_work all = *w;

    if (name.ptr || w->s.from <= 1 || w->lost.status)
        return name;
    if (hf_projection_history(&all, 1, &w->lost))
        return name;
    return step_name(all.s.chunks, step);
}

static hf_status columns_add(hf_projection_work *w, hf_err *err)
{
    hf_status st = HF_OK;

    w->s.columns.seq = w->behind;
    for (const hf_fold_chunk *c = w->s.chunks; !st && c; c = c->next) {
        hf_event *events = NULL;
        size_t count = hf_projection_behind(c, w->behind, &events);

        for (size_t i = 0; !st && i < count; i++)
            st = attributes_fetch(w, &events[i], err);
        if (!st)
            st = hf_runfold_columns_add(&w->s.columns, w->mem, w->s.type, events, count,
                                        earlier_name, w, err);
        if (!st && w->lost.status) {
            st = w->lost.status;
            if (err)
                *err = w->lost;
        }
        count = w->counted == HF_NONE ? 0 : hf_projection_behind(c, w->counted, &events);
        if (!st && count)
            st = hf_flow_add(w->mem, w->s.namespace_key, events, count, &w->flows, err);
    }
    return st;
}

/* ---- all of it */

static bool log_due(const hf_projection_work *w, bool whole)
{
    int64_t missing = w->s.last_seq - w->s.log_seq;

    if (w->log != HF_PROJECTION_BEHIND)
        return w->log != HF_PROJECTION_IN_SYNC;
    return whole || w->s.closed_us != HF_NONE || missing * 2 >= w->s.log_seq;
}

/* What there is to do, judged by the rows; false: nothing. */
static bool task_plan(hf_projection_work *w, bool whole, bool anew)
{
    hf_fold_source *s = &w->s;

    if (!anew && w->summary == HF_PROJECTION_IN_SYNC && !log_due(w, whole) &&
        s->closed_us == HF_NONE)
        return false;
    w->expected = w->summary == HF_PROJECTION_MISSING ? 0 : s->folded_seq;
    w->anew = anew || w->summary == HF_PROJECTION_MISSING || w->summary == HF_PROJECTION_STALE ||
              s->folded_seq == 0;
    w->fresh = !anew && w->summary == HF_PROJECTION_BEHIND && s->folded_seq == 0 && s->version == 0;
    w->logs = anew || log_due(w, whole);
    w->behind = w->anew ? 0 : s->folded_seq;
    if (w->summary != HF_PROJECTION_MISSING)
        w->counted = s->folded_seq;
    if (anew && w->log != HF_PROJECTION_MISSING)
        w->log = HF_PROJECTION_STALE;
    if (w->anew)
        s->columns = (hf_runfold_columns){0};
    s->from = w->behind + 1;
    if (w->logs && hf_projection_log_good(w) < w->behind)
        s->from = hf_projection_log_good(w) + 1;
    if (w->logs && w->log == HF_PROJECTION_BEHIND && hf_projection_log_good(w))
        s->from = hf_projection_log_good(w) < s->from ? hf_projection_log_good(w)
                                                      : s->from; /* with the chunk it ends with */
    return true;
}

/* The bytes of history that will be read, as far as rows tell. */
static size_t task_bytes(const hf_projection_work *w)
{
    int64_t events = w->s.last_seq - w->s.from + 1;

    return w->s.last_seq > 0 ? (size_t)(w->s.history_bytes / w->s.last_seq * events) : 0;
}

static hf_status task_run(hf_projection_work *w, hf_projection_change *out, hf_err *err)
{
    hf_status st = HF_OK;

    if (w->logs)
        st = hf_projection_log_load(w, err);
    if (!st)
        st = hf_projection_decode(w, err);
    if (!st)
        st = columns_add(w, err);
    if (!st && w->logs)
        st = hf_projection_log_finish(w, err);
    if (!st)
        st = hf_projection_rows(w, err);
    out->events = w->s.last_seq - w->behind;
    out->newest_us = hf_projection_newest(w->flows);
    out->rows = st ? NULL : w->rows;
    return st;
}

/* Several runs while they are folded. */
typedef struct many {
    hf_projection_work *works;
    hf_fold_source **sources; /* of those that the next statement is about */
    size_t count;
} many;

static hf_status many_init(many *m, hf_db *db, hf_mem *mem, const hf_projection_task *tasks,
                           size_t count, hf_err *err)
{
    m->works = hf_mem_array(mem, count, sizeof(*m->works));
    m->sources = hf_mem_array(mem, count, sizeof(hf_fold_source *));
    if (!m->works || !m->sources)
        return hf_err_nomem(err, "runs");
    for (m->count = 0; m->count < count; m->count++) {
        hf_projection_begin(&m->works[m->count], db, mem, tasks[m->count].run);
        m->sources[m->count] = &m->works[m->count].s;
    }
    return HF_OK;
}

/* Judges the rows of the runs, of as many as fit. */
static void many_plan(many *m, hf_projection_task *tasks, size_t bytes_max)
{
    size_t bytes = 0;
    size_t i = 0;

    for (; i < m->count && bytes < bytes_max; i++) {
        hf_projection_task *task = &tasks[i];
        hf_projection_work *w = &m->works[i];

        task->err = (hf_err){0};
        task->change = (hf_projection_change){0};
        if (!w->s.found) {
            (void)hf_projection_gone(task->run, &task->err);
            continue;
        }
        hf_projection_look(w);
        task->change.summary = w->summary;
        task->change.log = w->log;
        w->planned = task_plan(w, task->whole, task->anew);
        bytes += w->planned ? task_bytes(w) : 0;
    }
    m->count = i;
}

/* Chooses those that the next statement is about: which have a plan, or need their log. */
static size_t many_choose(const many *m, bool logs)
{
    size_t count = 0;

    for (size_t i = 0; i < m->count; i++) {
        hf_projection_work *w = &m->works[i];

        if (w->planned && (!logs || (w->logs && hf_projection_log_usable(w))))
            m->sources[count++] = &w->s;
    }
    return count;
}

static void many_run(many *m, hf_projection_task *tasks, hf_runfold *fold)
{
    for (size_t i = 0; i < m->count; i++) {
        hf_projection_work *w = &m->works[i];

        if (!w->planned)
            continue;
        w->fold = fold;
        (void)hf_err_because(&tasks[i].err, task_run(w, &tasks[i].change, &tasks[i].err),
                             "fold run %lld", (long long)tasks[i].run);
        hf_sha256_free(w->sha);
    }
}

hf_status hf_projection_catch_up_all(hf_db *db, hf_mem *mem, hf_projection_task *tasks,
                                     size_t count, size_t bytes_max, size_t *out_done, hf_err *err)
{
    hf_runfold *fold = NULL;
    many m = {0};
    hf_status st = many_init(&m, db, mem, tasks, count, err);

    if (!st)
        st = hf_fold_read_rows(db, mem, m.sources, m.count, err);
    if (!st) {
        many_plan(&m, tasks, bytes_max);
        st = hf_fold_read_packs(db, mem, m.sources, many_choose(&m, true), err);
    }
    if (!st)
        st = hf_fold_read_chunks(db, mem, m.sources, many_choose(&m, false), err);
    if (!st)
        st = hf_runfold_new(&fold, err);
    if (!st)
        many_run(&m, tasks, fold);
    hf_runfold_free(fold);
    *out_done = st ? 0 : m.count;
    return hf_err_because(err, st, "fold runs");
}

hf_status hf_projection_catch_up(hf_db *db, hf_mem *mem, int64_t run, bool whole, bool anew,
                                 hf_projection_change *out_change, hf_err *err)
{
    hf_projection_task task = {.run = run, .whole = whole, .anew = anew};
    size_t done = 0;
    hf_status st = hf_projection_catch_up_all(db, mem, &task, 1, SIZE_MAX, &done, err);

    *out_change = task.change;
    if (!st && task.err.status) {
        st = task.err.status;
        if (err)
            *err = task.err;
    }
    return st;
}

bool hf_projection_run_at_fault(hf_status st)
{
    switch (st) {
    case HF_NOTFOUND:
    case HF_CORRUPT:
    case HF_NEWER:
    case HF_TOOBIG:
    case HF_INVALID:
    case HF_CONSTRAINT:
    case HF_ERROR: /* a statement that the database refused */
    case HF_UNSUPPORTED:
        return true;
    case HF_OK:
    case HF_NOMEM:
    case HF_MISUSE:
    case HF_EXISTS:
    case HF_REJECTED:
    case HF_CONFLICT:
    case HF_REPLAY_BLOCKED:
    case HF_TIMEOUT:
    case HF_CANCELLED:
    case HF_ABANDONED:
    case HF_BUSY:
    case HF_RETRY:
    case HF_UNREACHABLE:
    case HF_UNKNOWN:
    case HF_FULL:
    case HF_READONLY:
    case HF_STOPPED:
    case HF_DENIED:
    case HF_OWNED:
    case HF_NOTASTORE:
    case HF_IO:
    case HF_OLDER:
        break;
    }
    return false;
}

/* ---- comparing */

/* The columns as folding everything up to the stored sequence gives them. */
static bool columns_equal(const hf_runfold_columns *a, const hf_runfold_columns *b)
{
    return a->exception_count == b->exception_count && a->open_steps == b->open_steps &&
           a->fan_out == b->fan_out && memcmp(a->open, b->open, sizeof(a->open)) == 0 &&
           hf_slice_equal(a->compatibility, b->compatibility) &&
           hf_slice_equal(a->failure_print, b->failure_print) &&
           hf_slice_equal(a->labels, b->labels) && hf_slice_equal(a->attributes, b->attributes);
}

/* Folds everything again, the log twice: as a whole, and as the stored one went on. */
static hf_status compare(hf_projection_work *w, hf_err *err)
{
    hf_runfold_columns stored = w->s.columns;
    hf_projection_state log = w->log;
    hf_buf packs[2] = {{0}, {0}};
    hf_status st = hf_projection_history(w, 1, err);

    w->s.columns = (hf_runfold_columns){0};
    if (!st && w->summary == HF_PROJECTION_IN_SYNC) {
        st = columns_add(w, err);
        if (!st && !columns_equal(&stored, &w->s.columns))
            w->summary = HF_PROJECTION_STALE;
    }
    if (!st && hf_projection_log_usable(w)) {
        st = hf_projection_log_read(w, err);
        if (!st && hf_projection_log_good(w) && !hf_projection_log_fits(w))
            w->log = HF_PROJECTION_STALE;
        if (!st && hf_projection_log_good(w))
            st = hf_projection_log_add(w, err);
        if (!st && hf_projection_log_good(w))
            st = hf_runfold_pack(w->fold, &packs[0], err);
        if (!st && hf_projection_log_good(w)) {
            hf_projection_log_restart(w);
            st = hf_projection_log_add(w, err);
            if (!st)
                st = hf_runfold_pack(w->fold, &packs[1], err);
            if (!st && hf_slice_equal(hf_buf_slice(&packs[0]), hf_buf_slice(&packs[1])))
                w->log = log;
        }
    }
    hf_buf_fini(&packs[0]);
    hf_buf_fini(&packs[1]);
    return st;
}

hf_status hf_projection_compare(hf_db *db, hf_mem *mem, int64_t run,
                                hf_projection_change *out_found, hf_err *err)
{
    hf_projection_work w;
    hf_status st = hf_projection_open(&w, db, mem, run, err);

    if (!st)
        st = compare(&w, err);
    *out_found = (hf_projection_change){.summary = w.summary, .log = w.log, .events = w.s.last_seq};
    hf_projection_close(&w);
    return hf_err_because(err, st, "compare the fold of run %lld", (long long)run);
}
