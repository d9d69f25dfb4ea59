/* projection.c: see projection.h. */
#include "project/projection.h"

#include <string.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/json.h"
#include "model/event_codec.h"
#include "project/edge.h"
#include "project/fold.h"
#include "project/fold_read.h"
#include "store/payload.h"

/* A run while it is folded. */
typedef struct work {
    hf_db *db;
    hf_mem *mem;
    hf_fold_source s;
    hf_projection_state summary; /* how the stored parts stand to the run */
    hf_projection_state log;
    hf_sha256 *sha;   /* made when a payload that is stored apart is needed */
    hf_runfold *fold; /* borrowed: whoever has several runs to fold has one */
    int64_t counted;  /* events up to this one are in the ring; HF_NONE: that is not asked */
    hf_flow *flows;
    hf_row *rows, **tail;
    hf_err lost; /* why an earlier event could not be read */
    /* what catching up is going to do */
    int64_t expected; /* what the summary is known to have */
    int64_t behind;   /* columns go on behind this event */
    bool anew;        /* columns and what belongs to them are made anew */
    bool fresh;       /* nothing was ever folded: there is nothing to clear */
    bool logs;        /* the log is brought up to the end as well */
    bool planned;     /* there is something to do */
} work;

/* What is to be said of a stored part that ends at `seq`. */
static hf_projection_state state_judge(int64_t seq, int64_t version, int64_t last_seq)
{
    if (seq == HF_NONE)
        return HF_PROJECTION_MISSING;
    if (seq > last_seq || (seq > 0 && version != HF_RUNFOLD_VERSION))
        return HF_PROJECTION_STALE;
    return seq == last_seq ? HF_PROJECTION_IN_SYNC : HF_PROJECTION_BEHIND;
}

static void state_look(work *w)
{
    const hf_fold_source *s = &w->s;

    w->summary = state_judge(s->folded_seq, s->version, s->last_seq);
    w->log =
        state_judge(s->log_version == HF_NONE ? HF_NONE : s->log_seq, s->log_version, s->last_seq);
    if (w->log == HF_PROJECTION_IN_SYNC && !hf_slice_equal(s->log_head, s->head))
        w->log = HF_PROJECTION_STALE; /* the fold of another history */
}

static hf_status run_gone(int64_t run, hf_err *err)
{
    return hf_err_set(err, HF_NOTFOUND, "there is no run with key %lld", (long long)run);
}

/* The rows of one run. */
static hf_status state_read(work *w, hf_err *err)
{
    hf_fold_source *source = &w->s;
    hf_status st = hf_fold_read_rows(w->db, w->mem, &source, 1, err);

    if (!st && !source->found)
        st = run_gone(source->run, err);
    if (!st)
        state_look(w);
    return st;
}

/* ---- history */

/* The chunks of one run from the one with the event `from` on. */
static hf_status chunks_read(work *w, int64_t from, hf_err *err)
{
    hf_fold_source *source = &w->s;

    source->from = from;
    return hf_fold_read_chunks(w->db, w->mem, &source, 1, err);
}

/* Search attributes may be stored apart; columns need their bytes. */
static hf_status attributes_fetch(work *w, hf_event *event, hf_err *err)
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

static hf_status chunks_decode(work *w, hf_err *err)
{
    hf_fold_chunk *first = w->s.chunks;
    int64_t next = first ? first->first : w->s.last_seq + 1;
    hf_status st = HF_OK;

    if (first && first->first > w->s.from)
        return hf_err_set(err, HF_CORRUPT, "the history has a gap before event %lld",
                          (long long)first->first);
    for (hf_fold_chunk *c = first; !st && c; c = c->next) {
        st = hf_event_chunk_decode(w->mem, c->body, &c->events, &c->count, err);
        if (!st && c->first != next)
            st = hf_err_set(err, HF_CORRUPT, "the history has a gap before event %lld",
                            (long long)c->first);
        next = c->first + (int64_t)c->count;
    }
    if (!st && next != w->s.last_seq + 1)
        st = hf_err_set(err, HF_CORRUPT, "the history ends at event %lld, its run says %lld",
                        (long long)next - 1, (long long)w->s.last_seq);
    return st;
}

static hf_status history_read(work *w, int64_t from, hf_err *err)
{
    hf_status st = chunks_read(w, from, err);

    return st ? st : chunks_decode(w, err);
}

/* The part of a chunk behind event `seq`. */
static size_t chunk_behind(const hf_fold_chunk *c, int64_t seq, hf_event **out_events)
{
    int64_t skip = seq + 1 - c->first;

    if (skip < 0)
        skip = 0;
    if (skip >= (int64_t)c->count)
        return 0;
    *out_events = c->events + skip;
    return c->count - (size_t)skip;
}

/* ---- the log */

static bool log_usable(const work *w)
{
    return w->log == HF_PROJECTION_IN_SYNC || w->log == HF_PROJECTION_BEHIND;
}

/* Takes what is stored; what cannot be used is stale, and the fold begins anew. */
static hf_status log_load(work *w, hf_err *err)
{
    hf_err why = {0};
    hf_status st;

    hf_runfold_clear(w->fold);
    if (!log_usable(w))
        return HF_OK;
    st = hf_runfold_load(w->fold, w->s.pack, &why);
    if (st == HF_NOMEM)
        return hf_err_nomem(err, "a fold");
    if (st || hf_runfold_seq(w->fold) != w->s.log_seq || w->s.log_seq > w->s.last_seq) {
        hf_runfold_clear(w->fold);
        w->log = HF_PROJECTION_STALE;
    }
    return HF_OK;
}

static hf_status log_read(work *w, hf_err *err)
{
    hf_fold_source *source = &w->s;
    hf_status st = HF_OK;

    if (log_usable(w))
        st = hf_fold_read_packs(w->db, w->mem, &source, 1, err);
    return st ? st : log_load(w, err);
}

/* How far the log is good; 0 when it begins anew. */
static int64_t log_good(const work *w)
{
    return log_usable(w) ? w->s.log_seq : 0;
}

/* The chunk that ends the log must be the one it was folded from. */
static bool log_fits(const work *w)
{
    for (const hf_fold_chunk *c = w->s.chunks; c; c = c->next)
        if (c->first + (int64_t)c->count - 1 == w->s.log_seq)
            return hf_slice_equal(c->hash, w->s.log_head);
    return w->s.log_seq == 0;
}

static void log_restart(work *w)
{
    hf_runfold_clear(w->fold);
    w->log = HF_PROJECTION_STALE;
}

static hf_status log_add(work *w, hf_err *err)
{
    hf_status st = HF_OK;

    for (const hf_fold_chunk *c = w->s.chunks; !st && c; c = c->next) {
        hf_event *events = NULL;
        size_t count = chunk_behind(c, log_good(w), &events);

        st = hf_runfold_add(w->fold, events, count, err);
    }
    return st;
}

/* Brings w->fold to the end of history. When the log turns out to be of no use, all is read. */
static hf_status log_finish(work *w, hf_err *err)
{
    hf_status st = HF_OK;

    if (w->log == HF_PROJECTION_BEHIND && !log_fits(w))
        log_restart(w);
    if (log_good(w) == 0 && w->s.from > 1)
        st = history_read(w, 1, err);
    return st ? st : log_add(w, err);
}

/* ---- rows */

static void row_link(work *w, hf_row *row)
{
    if (!row) {
        w->tail = NULL;
        return;
    }
    if (!w->tail)
        return;
    *w->tail = row;
    w->tail = &row->next;
}

static void row_put(work *w, hf_op op, const hf_db_value *cells, size_t count)
{
    row_link(w, hf_row_cells(w->mem, op, cells, count));
}

static hf_db_value int_cell(int64_t number)
{
    return number == HF_NONE ? hf_db_null(HF_DB_INT) : hf_db_int(number);
}

static hf_db_value text_cell(hf_slice text)
{
    return text.ptr ? hf_db_text(text) : hf_db_null(HF_DB_TEXT);
}

/* What the run waits for, by what counts most. */
static int64_t wait_kind(const hf_fold_source *s)
{
    static const hf_wait_kind kinds[HF_RUNFOLD_TIMEOUT] = {
        HF_WAIT_KIND_ACTIVITY, HF_WAIT_KIND_UPDATE, HF_WAIT_KIND_CONDITION,
        HF_WAIT_KIND_TIMER,    HF_WAIT_KIND_CHILD,  HF_WAIT_KIND_SIGNAL};

    if (s->closed_us != HF_NONE)
        return HF_NONE;
    for (size_t i = 0; i < HF_RUNFOLD_TIMEOUT; i++)
        if (s->columns.open[i])
            return (int64_t)kinds[i];
    return HF_WAIT_KIND_WORKFLOW_TASK;
}

static void summary_row(work *w)
{
    const hf_fold_source *s = &w->s;
    const hf_runfold_columns *c = &s->columns;
    int64_t pressure = hf_runfold_pressure(s->last_seq, s->history_bytes, c->fan_out);
    const hf_db_value cells[] = {int_cell(s->run),
                                 int_cell(w->expected),
                                 int_cell(s->last_seq),
                                 int_cell(s->closed_us != HF_NONE),
                                 int_cell(HF_RUNFOLD_VERSION),
                                 text_cell(c->compatibility),
                                 int_cell(s->closed_reason),
                                 int_cell(s->closed_us),
                                 int_cell(s->archived_us),
                                 int_cell(c->exception_count),
                                 int_cell(s->last_seq),
                                 int_cell(s->history_bytes),
                                 int_cell(c->open_steps),
                                 int_cell(c->fan_out),
                                 int_cell(pressure),
                                 int_cell(s->declared),
                                 text_cell(c->failure_print),
                                 text_cell(c->labels),
                                 text_cell(c->attributes),
                                 int_cell(c->open[hf_fold_open_order[0]]),
                                 int_cell(c->open[hf_fold_open_order[1]]),
                                 int_cell(c->open[hf_fold_open_order[2]]),
                                 int_cell(c->open[hf_fold_open_order[3]]),
                                 int_cell(c->open[hf_fold_open_order[4]]),
                                 int_cell(c->open[hf_fold_open_order[5]]),
                                 int_cell(c->open[hf_fold_open_order[6]]),
                                 int_cell(wait_kind(s))};

    row_put(w, HF_OP_SUMMARY_FOLD, cells, sizeof(cells) / sizeof(cells[0]));
}

static void clear_row(work *w, hf_op op)
{
    const hf_db_value cells[] = {int_cell(w->s.run), int_cell(w->s.last_seq)};

    if (!w->fresh)
        row_put(w, op, cells, 2);
}

static hf_status label_rows(work *w, hf_err *err)
{
    hf_value labels = hf_value_null();
    hf_slice name;
    hf_value item;
    hf_status st = HF_OK;

    clear_row(w, HF_OP_LABEL_CLEAR);
    if (w->s.columns.labels.len)
        st = hf_edge_json(w->mem, w->s.columns.labels, &labels, err);
    for (size_t i = 0; !st && hf_value_member(labels, i, &name, &item); i++) {
        const hf_db_value cells[] = {int_cell(w->s.run), int_cell(w->s.last_seq), hf_db_text(name),
                                     hf_db_text(hf_value_slice(item))};

        if (hf_value_kind_of(item) == HF_VALUE_STRING)
            row_put(w, HF_OP_LABEL_PUT, cells, 4);
    }
    return st;
}

static void attribute_row(work *w, hf_slice name, int64_t index, hf_value value, bool listed)
{
    hf_search_attribute_type type = HF_SEARCH_ATTRIBUTE_TYPE_KEYWORD;
    hf_db_value text = hf_db_null(HF_DB_TEXT);
    hf_db_value number = hf_db_null(HF_DB_INT);
    hf_db_value real = hf_db_null(HF_DB_REAL);

    switch (hf_value_kind_of(value)) {
    case HF_VALUE_STRING:
        text = hf_db_text(hf_value_slice(value));
        if (listed)
            type = HF_SEARCH_ATTRIBUTE_TYPE_KEYWORD_LIST;
        else if (hf_value_slice(value).len > 255)
            type = HF_SEARCH_ATTRIBUTE_TYPE_STRING;
        break;
    case HF_VALUE_BOOL:
        number = hf_db_int(hf_bool(value, "", false));
        type = HF_SEARCH_ATTRIBUTE_TYPE_BOOL;
        break;
    case HF_VALUE_INT:
        number = hf_db_int(hf_int(value, "", 0));
        type = HF_SEARCH_ATTRIBUTE_TYPE_INT;
        break;
    case HF_VALUE_DOUBLE:
        real = hf_db_real(hf_num(value, "", 0));
        type = HF_SEARCH_ATTRIBUTE_TYPE_FLOAT;
        break;
    case HF_VALUE_NULL:
    case HF_VALUE_BYTES:
    case HF_VALUE_ARRAY:
    case HF_VALUE_OBJECT:
        return; /* nothing that could be searched for */
    }
    {
        const hf_db_value cells[] = {int_cell(w->s.run),
                                     int_cell(w->s.last_seq),
                                     hf_db_text(name),
                                     hf_db_int(index),
                                     hf_db_int(type),
                                     text,
                                     number,
                                     real};

        row_put(w, HF_OP_ATTRIBUTE_PUT, cells, 8);
    }
}

static hf_status attribute_rows(work *w, hf_err *err)
{
    hf_value attributes = hf_value_null();
    hf_slice name;
    hf_value item;
    hf_status st = HF_OK;

    clear_row(w, HF_OP_ATTRIBUTE_CLEAR);
    if (w->s.columns.attributes.len)
        st = hf_edge_json(w->mem, w->s.columns.attributes, &attributes, err);
    for (size_t i = 0; !st && hf_value_member(attributes, i, &name, &item); i++) {
        bool listed = hf_value_kind_of(item) == HF_VALUE_ARRAY;

        for (size_t j = 0; j < (listed ? hf_len(item) : 1); j++)
            attribute_row(w, name, (int64_t)j, listed ? hf_at(item, j) : item, listed);
    }
    return st;
}

static void failure_rows(work *w)
{
    const hf_fold_source *s = &w->s;

    if (w->anew)
        clear_row(w, HF_OP_FAILURE_CLEAR);
    for (const hf_runfold_failure *f = s->columns.failures; f; f = f->next) {
        const hf_db_value cells[] = {int_cell(s->run),
                                     int_cell(s->last_seq),
                                     int_cell(f->seq),
                                     int_cell(s->namespace_key),
                                     hf_db_text(hf_slice_of(f->print)),
                                     int_cell(f->step),
                                     int_cell((int64_t)f->source),
                                     hf_db_text(f->name),
                                     hf_db_text(f->type),
                                     hf_db_text(f->message),
                                     int_cell(0),
                                     int_cell(f->at_us)};

        row_put(w, HF_OP_FAILURE_PUT, cells, 12);
    }
    for (const hf_runfold_handled *h = s->columns.handled; h; h = h->next) {
        const hf_db_value cells[] = {int_cell(s->run), int_cell(h->step)};

        row_put(w, HF_OP_FAILURE_HANDLE, cells, 2);
    }
}

static hf_status log_row(work *w, hf_err *err)
{
    const hf_db_value key = int_cell(w->s.run);
    hf_db_value cells[] = {key, int_cell(HF_RUNFOLD_VERSION), int_cell(w->s.last_seq),
                           hf_db_blob(w->s.head), hf_db_null(HF_DB_BLOB)};
    hf_buf pack = {0};
    hf_status st = hf_runfold_pack(w->fold, &pack, err);

    if (!st) {
        cells[4] = hf_db_blob(hf_buf_slice(&pack));
        if (w->log == HF_PROJECTION_STALE)
            row_put(w, HF_OP_PROJECTION_DELETE, &key, 1);
        row_put(w, HF_OP_PROJECTION_PUT, cells, 5);
    }
    hf_buf_fini(&pack);
    return st;
}

/* ---- columns */

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
    work *w = ctx;
    hf_slice name = step_name(w->s.chunks, step);
    work all = *w;

    if (name.ptr || w->s.from <= 1 || w->lost.status)
        return name;
    if (history_read(&all, 1, &w->lost))
        return name;
    return step_name(all.s.chunks, step);
}

static hf_status columns_add(work *w, hf_err *err)
{
    hf_status st = HF_OK;

    w->s.columns.seq = w->behind;
    for (const hf_fold_chunk *c = w->s.chunks; !st && c; c = c->next) {
        hf_event *events = NULL;
        size_t count = chunk_behind(c, w->behind, &events);

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
        count = w->counted == HF_NONE ? 0 : chunk_behind(c, w->counted, &events);
        if (!st && count)
            st = hf_flow_add(w->mem, w->s.namespace_key, events, count, &w->flows, err);
    }
    return st;
}

/* ---- all of it */

static bool log_due(const work *w, bool whole)
{
    int64_t missing = w->s.last_seq - w->s.log_seq;

    if (w->log != HF_PROJECTION_BEHIND)
        return w->log != HF_PROJECTION_IN_SYNC;
    return whole || w->s.closed_us != HF_NONE || missing * 2 >= w->s.log_seq;
}

static int64_t flows_newest(const hf_flow *flows)
{
    int64_t newest_us = 0;

    for (; flows; flows = flows->next)
        newest_us = flows->at_us > newest_us ? flows->at_us : newest_us;
    return newest_us;
}

/* Points are kept for a week. */
static void flow_rows(work *w)
{
    int64_t newest_us = flows_newest(w->flows);

    for (const hf_flow *flow = w->flows; flow; flow = flow->next)
        if (flow->at_us > newest_us - HF_FLOW_KEPT_US)
            row_link(w, hf_flow_row(w->mem, flow, w->s.run, w->expected));
}

static hf_status rows_draft(work *w, hf_err *err)
{
    const hf_db_value key = int_cell(w->s.run);
    hf_status st = HF_OK;

    if (w->summary == HF_PROJECTION_MISSING)
        row_put(w, HF_OP_SUMMARY_RESTORE, &key, 1);
    flow_rows(w);
    summary_row(w);
    if (w->anew || w->s.columns.labels_changed)
        st = label_rows(w, err);
    if (!st && (w->anew || w->s.columns.attributes_changed))
        st = attribute_rows(w, err);
    failure_rows(w);
    if (!st && w->logs)
        st = log_row(w, err);
    return st ? st : w->tail ? HF_OK : hf_err_nomem(err, "the rows of a projection");
}

/* What there is to do, judged by the rows; false: nothing. */
static bool task_plan(work *w, bool whole, bool anew)
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
    if (w->logs && log_good(w) < w->behind)
        s->from = log_good(w) + 1;
    if (w->logs && w->log == HF_PROJECTION_BEHIND && log_good(w))
        s->from = log_good(w) < s->from ? log_good(w) : s->from; /* with the chunk it ends with */
    return true;
}

/* The bytes of history that will be read, as far as rows tell. */
static size_t task_bytes(const work *w)
{
    int64_t events = w->s.last_seq - w->s.from + 1;

    return w->s.last_seq > 0 ? (size_t)(w->s.history_bytes / w->s.last_seq * events) : 0;
}

static hf_status task_run(work *w, hf_projection_change *out, hf_err *err)
{
    hf_status st = HF_OK;

    if (w->logs)
        st = log_load(w, err);
    if (!st)
        st = chunks_decode(w, err);
    if (!st)
        st = columns_add(w, err);
    if (!st && w->logs)
        st = log_finish(w, err);
    if (!st)
        st = rows_draft(w, err);
    out->events = w->s.last_seq - w->behind;
    out->newest_us = flows_newest(w->flows);
    out->rows = st ? NULL : w->rows;
    return st;
}

static void work_init(work *w, hf_db *db, hf_mem *mem, int64_t run)
{
    *w = (work){.db = db, .mem = mem, .s = {.run = run}, .counted = HF_NONE};
    w->tail = &w->rows;
}

/* Several runs while they are folded. */
typedef struct many {
    work *works;
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
        work_init(&m->works[m->count], db, mem, tasks[m->count].run);
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
        work *w = &m->works[i];

        task->err = (hf_err){0};
        task->change = (hf_projection_change){0};
        if (!w->s.found) {
            (void)run_gone(task->run, &task->err);
            continue;
        }
        state_look(w);
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
        work *w = &m->works[i];

        if (w->planned && (!logs || (w->logs && log_usable(w))))
            m->sources[count++] = &w->s;
    }
    return count;
}

static void many_run(many *m, hf_projection_task *tasks, hf_runfold *fold)
{
    for (size_t i = 0; i < m->count; i++) {
        work *w = &m->works[i];

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

hf_status hf_projection_forget(hf_mem *mem, int64_t run, hf_row **out_rows, hf_err *err)
{
    const hf_db_value cells[] = {hf_db_int(run), hf_db_int(-1)};
    work w;

    work_init(&w, NULL, mem, run);
    row_put(&w, HF_OP_PROJECTION_DELETE, cells, 1);
    row_put(&w, HF_OP_LABEL_CLEAR, cells, 2);
    row_put(&w, HF_OP_ATTRIBUTE_CLEAR, cells, 2);
    row_put(&w, HF_OP_FAILURE_CLEAR, cells, 2);
    row_put(&w, HF_OP_SUMMARY_DELETE, cells, 1);
    *out_rows = w.rows;
    return w.tail ? HF_OK : hf_err_nomem(err, "the rows of a projection");
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
static hf_status compare(work *w, hf_err *err)
{
    hf_runfold_columns stored = w->s.columns;
    hf_projection_state log = w->log;
    hf_buf packs[2] = {{0}, {0}};
    hf_status st = history_read(w, 1, err);

    w->s.columns = (hf_runfold_columns){0};
    if (!st && w->summary == HF_PROJECTION_IN_SYNC) {
        st = columns_add(w, err);
        if (!st && !columns_equal(&stored, &w->s.columns))
            w->summary = HF_PROJECTION_STALE;
    }
    if (!st && log_usable(w)) {
        st = log_read(w, err);
        if (!st && log_good(w) && !log_fits(w))
            w->log = HF_PROJECTION_STALE;
        if (!st && log_good(w))
            st = log_add(w, err);
        if (!st && log_good(w))
            st = hf_runfold_pack(w->fold, &packs[0], err);
        if (!st && log_good(w)) {
            log_restart(w);
            st = log_add(w, err);
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
    work w;
    hf_status st;

    *out_found = (hf_projection_change){0};
    work_init(&w, db, mem, run);
    st = hf_runfold_new(&w.fold, err);
    if (!st)
        st = state_read(&w, err);
    if (!st)
        st = compare(&w, err);
    out_found->summary = w.summary;
    out_found->log = w.log;
    out_found->events = w.s.last_seq;
    hf_runfold_free(w.fold);
    hf_sha256_free(w.sha);
    return hf_err_because(err, st, "compare the fold of run %lld", (long long)run);
}

/* ---- reading */

hf_status hf_projection_read(hf_db *db, hf_mem *mem, int64_t run, int64_t at,
                             hf_projection *out_projection, hf_err *err)
{
    hf_buf pack = {0};
    hf_slice kept;
    work w;
    hf_status st;

    *out_projection = (hf_projection){0};
    work_init(&w, db, mem, run);
    st = hf_runfold_new(&w.fold, err);
    if (!st)
        st = state_read(&w, err);
    if (!st)
        st = log_read(&w, err);
    if (st)
        goto done;
    kept = w.s.pack;
    if (w.log != HF_PROJECTION_IN_SYNC) {
        st = history_read(&w, log_good(&w) > 1 ? log_good(&w) : 1, err);
        if (!st)
            st = log_finish(&w, err);
        if (!st)
            st = hf_runfold_pack(w.fold, &pack, err);
        kept = hf_buf_slice(&pack);
    }
    out_projection->state = w.log;
    out_projection->last_seq = w.s.last_seq;
    if (!st)
        st = hf_runfold_events(mem, kept, at, &out_projection->events, &out_projection->count, err);
done:
    hf_buf_fini(&pack);
    hf_runfold_free(w.fold);
    return hf_err_because(err, st, "read the fold of run %lld", (long long)run);
}
