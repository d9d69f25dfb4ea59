/* projection.c: see projection.h. */
#include "project/projection.h"

#include <string.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/json.h"
#include "model/event_codec.h"
#include "model/limit.h"
#include "project/edge.h"
#include "project/fold.h"
#include "store/payload.h"

/* A run and what is stored of its folds. */
typedef struct state {
    int64_t run;
    int64_t last_seq;
    hf_slice head;
    int64_t history_bytes;
    int64_t closed_us;
    int64_t closed_reason;
    int64_t archived_us;
    bool declared;
    int64_t namespace_key;
    hf_slice type;
    int64_t folded_seq; /* HF_NONE: there is no summary */
    int64_t version;
    hf_runfold_columns columns;
    int64_t log_version; /* HF_NONE: there is no log */
    int64_t log_seq;
    hf_slice log_head;
    hf_projection_state summary;
    hf_projection_state log;
} state;

/* The order of what is open in statements. */
static const hf_runfold_open OPEN_ORDER[HF_RUNFOLD_OPEN_COUNT] = {
    HF_RUNFOLD_ACTIVITY, HF_RUNFOLD_CONDITION, HF_RUNFOLD_SIGNAL, HF_RUNFOLD_TIMER,
    HF_RUNFOLD_CHILD,    HF_RUNFOLD_UPDATE,    HF_RUNFOLD_TIMEOUT};

/* The work on one run. */
typedef struct work {
    hf_db *db;
    hf_mem *mem;
    state s;
    hf_sha256 *sha; /* made when a payload that is stored apart is needed */
    hf_runfold *fold;
    hf_slice pack;   /* what was stored of it */
    int64_t counted; /* events up to this one are in the ring; HF_NONE: that is not asked */
    hf_flow *flows;
    hf_row *rows, **tail;
    hf_err *err;
} work;

static int64_t int_or_none(hf_db_cursor *cursor, size_t column)
{
    return hf_db_column_null(cursor, column) ? HF_NONE : hf_db_column_int(cursor, column);
}

static bool bytes_take(hf_mem *mem, hf_db_cursor *cursor, size_t column, hf_slice *out_bytes)
{
    hf_slice bytes = hf_db_column_bytes(cursor, column);

    *out_bytes = (hf_slice){0};
    if (hf_db_column_null(cursor, column))
        return true;
    *out_bytes = hf_slice_from(hf_mem_text(mem, bytes), bytes.len);
    return out_bytes->ptr != NULL;
}

static bool state_take(hf_mem *mem, hf_db_cursor *c, state *s)
{
    s->last_seq = hf_db_column_int(c, 0);
    s->history_bytes = hf_db_column_int(c, 2);
    s->closed_us = int_or_none(c, 3);
    s->closed_reason = int_or_none(c, 4);
    s->archived_us = int_or_none(c, 5);
    s->declared = !hf_db_column_null(c, 6);
    s->folded_seq = int_or_none(c, 7);
    s->version = hf_db_column_int(c, 8);
    s->columns = (hf_runfold_columns){.exception_count = hf_db_column_int(c, 9),
                                      .open_steps = hf_db_column_int(c, 10),
                                      .fan_out = hf_db_column_int(c, 11)};
    for (size_t i = 0; i < HF_RUNFOLD_OPEN_COUNT; i++)
        s->columns.open[OPEN_ORDER[i]] = hf_db_column_int(c, 22 + i);
    s->namespace_key = hf_db_column_int(c, 16);
    s->log_version = int_or_none(c, 19);
    s->log_seq = hf_db_column_int(c, 20);
    return bytes_take(mem, c, 1, &s->head) && bytes_take(mem, c, 12, &s->columns.failure_print) &&
           bytes_take(mem, c, 13, &s->columns.labels) &&
           bytes_take(mem, c, 14, &s->columns.attributes) &&
           bytes_take(mem, c, 15, &s->columns.compatibility) && bytes_take(mem, c, 17, &s->type) &&
           bytes_take(mem, c, 21, &s->log_head);
}

/* What is to be said of a stored part that ends at `seq`. */
static hf_projection_state state_judge(int64_t seq, int64_t version, int64_t last_seq)
{
    if (seq == HF_NONE)
        return HF_PROJECTION_MISSING;
    if (seq > last_seq || (seq > 0 && version != HF_RUNFOLD_VERSION))
        return HF_PROJECTION_STALE;
    return seq == last_seq ? HF_PROJECTION_IN_SYNC : HF_PROJECTION_BEHIND;
}

static hf_status state_read(work *w, int64_t run, hf_err *err)
{
    const hf_db_value key = hf_db_int(run);
    state *s = &w->s;
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(w->db, HF_STMT_FOLD_LOAD, &key, 1, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_NOTFOUND, "there is no run with key %lld", (long long)run);
    if (!st && !state_take(w->mem, cursor, s))
        st = hf_err_nomem(err, "a run");
    hf_db_end(cursor);
    if (st)
        return st;
    s->run = run;
    s->summary = state_judge(s->folded_seq, s->version, s->last_seq);
    s->log =
        state_judge(s->log_version == HF_NONE ? HF_NONE : s->log_seq, s->log_version, s->last_seq);
    if (s->log == HF_PROJECTION_IN_SYNC && !hf_slice_equal(s->log_head, s->head))
        s->log = HF_PROJECTION_STALE; /* the fold of another history */
    return HF_OK;
}

/* ---- history */

typedef struct chunk {
    struct chunk *next;
    int64_t first;
    hf_slice body;
    hf_slice hash;
    hf_event *events;
    size_t count;
} chunk;

/* Chunks that hold the events from `from` to the newest that the state knows. */
static hf_status chunks_read(work *w, int64_t from, chunk **out_first, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(w->s.run), hf_db_int(from), hf_db_int(INT64_MAX)};
    hf_db_cursor *cursor = NULL;
    chunk **tail = out_first;
    bool row = true;
    hf_status st = hf_db_query(w->db, HF_STMT_HISTORY_READ, params, 3, &cursor, err);

    *out_first = NULL;
    while (!st && row) {
        chunk *read;

        st = hf_db_step(cursor, &row, err);
        if (st || !row || hf_db_column_int(cursor, 0) > w->s.last_seq)
            break;
        read = hf_mem_alloc(w->mem, sizeof(*read));
        if (!read || !bytes_take(w->mem, cursor, 3, &read->body) ||
            !bytes_take(w->mem, cursor, 4, &read->hash)) {
            st = hf_err_nomem(err, "a history");
            break;
        }
        read->first = hf_db_column_int(cursor, 0);
        *tail = read;
        tail = &read->next;
    }
    hf_db_end(cursor);
    return st;
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

static hf_status chunks_decode(work *w, chunk *first, int64_t from, hf_err *err)
{
    int64_t next = first ? first->first : w->s.last_seq + 1;
    hf_status st = HF_OK;

    if (first && first->first > from)
        return hf_err_set(err, HF_CORRUPT, "the history has a gap before event %lld",
                          (long long)first->first);
    for (chunk *c = first; !st && c; c = c->next) {
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

/* The part of a chunk behind event `seq`. */
static size_t chunk_behind(const chunk *c, int64_t seq, hf_event **out_events)
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

static hf_status pack_read(work *w, hf_err *err)
{
    const hf_db_value key = hf_db_int(w->s.run);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(w->db, HF_STMT_PROJECTION_GET, &key, 1, &cursor, err);

    w->pack = (hf_slice){0};
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found) {
        w->s.log_version = hf_db_column_int(cursor, 0);
        w->s.log_seq = hf_db_column_int(cursor, 1);
        if (!bytes_take(w->mem, cursor, 2, &w->s.log_head) ||
            !bytes_take(w->mem, cursor, 3, &w->pack))
            st = hf_err_nomem(err, "a fold");
    }
    hf_db_end(cursor);
    return st;
}

/* Loads what is stored; what cannot be used is stale, and the fold begins anew. */
static hf_status log_load(work *w, hf_err *err)
{
    hf_err why = {0};
    hf_status st = w->fold ? HF_OK : hf_runfold_new(&w->fold, err);

    if (st || (w->s.log != HF_PROJECTION_IN_SYNC && w->s.log != HF_PROJECTION_BEHIND))
        return st;
    st = pack_read(w, err);
    if (st)
        return st;
    st = hf_runfold_load(w->fold, w->pack, &why);
    if (st == HF_NOMEM)
        return hf_err_nomem(err, "a fold");
    if (st || hf_runfold_seq(w->fold) != w->s.log_seq || w->s.log_seq > w->s.last_seq)
        w->s.log = HF_PROJECTION_STALE;
    return HF_OK;
}

/* How far the log is good; 0 when it begins anew. */
static int64_t log_good(const work *w)
{
    return w->s.log == HF_PROJECTION_IN_SYNC || w->s.log == HF_PROJECTION_BEHIND ? w->s.log_seq : 0;
}

/* The chunk that ends the log must be the one it was folded from. */
static bool log_fits(const work *w, const chunk *first)
{
    for (const chunk *c = first; c; c = c->next)
        if (c->first + (int64_t)c->count - 1 == w->s.log_seq)
            return hf_slice_equal(c->hash, w->s.log_head);
    return w->s.log_seq == 0;
}

static hf_status log_restart(work *w, hf_err *err)
{
    hf_runfold_free(w->fold);
    w->fold = NULL;
    w->s.log = HF_PROJECTION_STALE;
    return hf_runfold_new(&w->fold, err);
}

static hf_status log_add(work *w, const chunk *first, hf_err *err)
{
    hf_status st = HF_OK;

    for (const chunk *c = first; !st && c; c = c->next) {
        hf_event *events = NULL;
        size_t count = chunk_behind(c, log_good(w), &events);

        st = hf_runfold_add(w->fold, events, count, err);
    }
    return st;
}

/* Brings w->fold to the end of history. Chunks from *io_first on are there; when the log turns out
   to be of no use, all are read. */
static hf_status log_finish(work *w, chunk **io_first, int64_t from, hf_err *err)
{
    hf_status st = HF_OK;

    if (w->s.log == HF_PROJECTION_BEHIND && !log_fits(w, *io_first))
        st = log_restart(w, err);
    if (!st && log_good(w) == 0 && from > 1) {
        st = chunks_read(w, 1, io_first, err);
        if (!st)
            st = chunks_decode(w, *io_first, 1, err);
    }
    return st ? st : log_add(w, *io_first, err);
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

static int64_t budget_pressure(const state *s)
{
    static const struct {
        hf_limit warning, threshold;
    } budgets[] = {
        {HF_LIMIT_BUDGET_EVENT_WARNING, HF_LIMIT_BUDGET_EVENT_THRESHOLD},
        {HF_LIMIT_BUDGET_SIZE_BYTES_WARNING, HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD},
        {HF_LIMIT_BUDGET_FAN_OUT_WARNING, HF_LIMIT_BUDGET_FAN_OUT_THRESHOLD},
    };
    const int64_t values[] = {s->last_seq, s->history_bytes, s->columns.fan_out};
    int64_t pressure = HF_HISTORY_BUDGET_PRESSURE_OK;

    for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
        int64_t threshold = hf_limit_get(budgets[i].threshold)->standard;
        int64_t warning = hf_limit_get(budgets[i].warning)->standard;

        if (threshold && values[i] >= threshold)
            return HF_HISTORY_BUDGET_PRESSURE_CONTINUE_AS_NEW_RECOMMENDED;
        if (warning && values[i] >= warning)
            pressure = HF_HISTORY_BUDGET_PRESSURE_APPROACHING;
    }
    return pressure;
}

/* What the run waits for, by what counts most. */
static int64_t wait_kind(const state *s)
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

static void summary_row(work *w, int64_t expected)
{
    const state *s = &w->s;
    const hf_runfold_columns *c = &s->columns;
    const hf_db_value cells[] = {int_cell(s->run),
                                 int_cell(expected),
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
                                 int_cell(budget_pressure(s)),
                                 int_cell(s->declared),
                                 text_cell(c->failure_print),
                                 text_cell(c->labels),
                                 text_cell(c->attributes),
                                 int_cell(c->open[OPEN_ORDER[0]]),
                                 int_cell(c->open[OPEN_ORDER[1]]),
                                 int_cell(c->open[OPEN_ORDER[2]]),
                                 int_cell(c->open[OPEN_ORDER[3]]),
                                 int_cell(c->open[OPEN_ORDER[4]]),
                                 int_cell(c->open[OPEN_ORDER[5]]),
                                 int_cell(c->open[OPEN_ORDER[6]]),
                                 int_cell(wait_kind(s))};

    row_put(w, HF_OP_SUMMARY_FOLD, cells, sizeof(cells) / sizeof(cells[0]));
}

static void clear_row(work *w, hf_op op)
{
    const hf_db_value cells[] = {int_cell(w->s.run), int_cell(w->s.last_seq)};

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

static void failure_rows(work *w, bool anew)
{
    const state *s = &w->s;

    if (anew)
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
        if (w->s.log == HF_PROJECTION_STALE)
            row_put(w, HF_OP_PROJECTION_DELETE, &key, 1);
        row_put(w, HF_OP_PROJECTION_PUT, cells, 5);
    }
    hf_buf_fini(&pack);
    return st;
}

/* ---- columns */

/* The name of what runs at a step that was opened before the events at hand. */
static hf_slice earlier_name(void *ctx, int64_t step)
{
    work *w = ctx;
    hf_err ignored = {0};
    chunk *first = NULL;
    hf_slice name = {0};

    if (chunks_read(w, 1, &first, &ignored) || chunks_decode(w, first, 1, &ignored))
        return name;
    for (const chunk *c = first; c; c = c->next)
        for (size_t i = 0; i < c->count; i++)
            if (c->events[i].step == step && hf_event_opens_step(&c->events[i]) &&
                (hf_event_text(&c->events[i], HF_KEY_ACTIVITY_TYPE, &name) ||
                 hf_event_text(&c->events[i], HF_KEY_CHILD_WORKFLOW_TYPE, &name)))
                return name;
    return name;
}

static hf_status columns_add(work *w, const chunk *first, int64_t behind, hf_err *err)
{
    hf_status st = HF_OK;

    w->s.columns.seq = behind;
    for (const chunk *c = first; !st && c; c = c->next) {
        hf_event *events = NULL;
        size_t count = chunk_behind(c, behind, &events);

        for (size_t i = 0; !st && i < count; i++)
            st = attributes_fetch(w, &events[i], err);
        if (!st)
            st = hf_runfold_columns_add(&w->s.columns, w->mem, w->s.type, events, count,
                                        earlier_name, w, err);
        count = w->counted == HF_NONE ? 0 : chunk_behind(c, w->counted, &events);
        if (!st && count)
            st = hf_flow_add(w->mem, w->s.namespace_key, events, count, &w->flows, err);
    }
    return st;
}

/* ---- all of it */

static bool log_due(const state *s, bool whole)
{
    int64_t missing = s->last_seq - s->log_seq;

    if (s->log != HF_PROJECTION_BEHIND)
        return s->log != HF_PROJECTION_IN_SYNC;
    return whole || s->closed_us != HF_NONE || missing * 8 >= s->log_seq;
}

static int64_t flows_newest(const hf_flow *flows)
{
    int64_t newest_us = 0;

    for (; flows; flows = flows->next)
        newest_us = flows->at_us > newest_us ? flows->at_us : newest_us;
    return newest_us;
}

/* Points are kept for a week. */
static void flow_rows(work *w, int64_t expected)
{
    int64_t newest_us = flows_newest(w->flows);

    for (const hf_flow *flow = w->flows; flow; flow = flow->next)
        if (flow->at_us > newest_us - HF_FLOW_KEPT_US)
            row_link(w, hf_flow_row(w->mem, flow, w->s.run, expected));
}

static hf_status rows_draft(work *w, int64_t expected, bool anew, bool log, hf_err *err)
{
    const hf_db_value key = int_cell(w->s.run);
    hf_status st = HF_OK;

    if (w->s.summary == HF_PROJECTION_MISSING)
        row_put(w, HF_OP_SUMMARY_RESTORE, &key, 1);
    flow_rows(w, expected);
    summary_row(w, expected);
    if (anew || w->s.columns.labels_changed)
        st = label_rows(w, err);
    if (!st && (anew || w->s.columns.attributes_changed))
        st = attribute_rows(w, err);
    failure_rows(w, anew);
    if (!st && log)
        st = log_row(w, err);
    return st ? st : w->tail ? HF_OK : hf_err_nomem(err, "the rows of a projection");
}

static hf_status catch_up(work *w, bool whole, bool anew, hf_projection_change *out, hf_err *err)
{
    state *s = &w->s;
    int64_t expected = s->summary == HF_PROJECTION_MISSING ? 0 : s->folded_seq;
    bool columns_anew = anew || s->summary == HF_PROJECTION_MISSING ||
                        s->summary == HF_PROJECTION_STALE || s->folded_seq == 0;
    bool log = anew || log_due(s, whole);
    int64_t behind = columns_anew ? 0 : s->folded_seq;
    int64_t from;
    chunk *first = NULL;
    hf_status st = HF_OK;

    if (s->summary != HF_PROJECTION_MISSING)
        w->counted = s->folded_seq;
    if (anew && s->log != HF_PROJECTION_MISSING)
        s->log = HF_PROJECTION_STALE;
    if (columns_anew)
        s->columns = (hf_runfold_columns){0};
    if (log)
        st = log_load(w, err);
    from = behind + 1;
    if (log && log_good(w) < behind)
        from = log_good(w) + 1;
    if (log && s->log == HF_PROJECTION_BEHIND && log_good(w))
        from = log_good(w) < from ? log_good(w) : from; /* with the chunk that it ends with */
    if (!st)
        st = chunks_read(w, from, &first, err);
    if (!st)
        st = chunks_decode(w, first, from, err);
    if (!st)
        st = columns_add(w, first, behind, err);
    if (!st && log)
        st = log_finish(w, &first, from, err);
    if (!st)
        st = rows_draft(w, expected, columns_anew, log, err);
    out->events = s->last_seq - behind;
    out->newest_us = flows_newest(w->flows);
    return st;
}

static void work_init(work *w, hf_db *db, hf_mem *mem, hf_err *err)
{
    *w = (work){.db = db, .mem = mem, .counted = HF_NONE, .err = err};
    w->tail = &w->rows;
}

static void work_fini(work *w)
{
    hf_runfold_free(w->fold);
    hf_sha256_free(w->sha);
}

hf_status hf_projection_catch_up(hf_db *db, hf_mem *mem, int64_t run, bool whole, bool anew,
                                 hf_projection_change *out_change, hf_err *err)
{
    work w;
    hf_status st;

    *out_change = (hf_projection_change){0};
    work_init(&w, db, mem, err);
    st = state_read(&w, run, err);
    if (st)
        goto done;
    out_change->summary = w.s.summary;
    out_change->log = w.s.log;
    if (anew || w.s.summary != HF_PROJECTION_IN_SYNC || log_due(&w.s, whole) ||
        w.s.closed_us != HF_NONE)
        st = catch_up(&w, whole, anew, out_change, err);
    if (!st)
        out_change->rows = w.rows;
done:
    work_fini(&w);
    return hf_err_because(err, st, "fold run %lld", (long long)run);
}

hf_status hf_projection_forget(hf_mem *mem, int64_t run, hf_row **out_rows, hf_err *err)
{
    const hf_db_value cells[] = {hf_db_int(run), hf_db_int(-1)};
    work w;

    work_init(&w, NULL, mem, err);
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
    hf_projection_state log = w->s.log;
    hf_buf packs[2] = {{0}, {0}};
    chunk *first = NULL;
    hf_status st = chunks_read(w, 1, &first, err);

    if (!st)
        st = chunks_decode(w, first, 1, err);
    w->s.columns = (hf_runfold_columns){0};
    if (!st && w->s.summary == HF_PROJECTION_IN_SYNC) {
        st = columns_add(w, first, 0, err);
        if (!st && !columns_equal(&stored, &w->s.columns))
            w->s.summary = HF_PROJECTION_STALE;
    }
    if (!st && (log == HF_PROJECTION_IN_SYNC || log == HF_PROJECTION_BEHIND)) {
        st = log_load(w, err);
        if (!st && log_good(w) && !log_fits(w, first))
            w->s.log = HF_PROJECTION_STALE;
        if (!st && log_good(w))
            st = log_add(w, first, err);
        if (!st && log_good(w))
            st = hf_runfold_pack(w->fold, &packs[0], err);
        if (!st && log_good(w)) {
            st = log_restart(w, err);
            if (!st)
                st = log_add(w, first, err);
            if (!st)
                st = hf_runfold_pack(w->fold, &packs[1], err);
            if (!st && hf_slice_equal(hf_buf_slice(&packs[0]), hf_buf_slice(&packs[1])))
                w->s.log = log;
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
    work_init(&w, db, mem, err);
    st = state_read(&w, run, err);
    if (!st)
        st = compare(&w, err);
    out_found->summary = w.s.summary;
    out_found->log = w.s.log;
    out_found->events = w.s.last_seq;
    work_fini(&w);
    return hf_err_because(err, st, "compare the fold of run %lld", (long long)run);
}

/* ---- reading */

static hf_status read_rebuilt(work *w, hf_buf *pack, hf_err *err)
{
    int64_t from;
    chunk *first = NULL;
    hf_status st = HF_OK;

    from = log_good(w) > 1 ? log_good(w) : 1;
    st = chunks_read(w, from, &first, err);
    if (!st)
        st = chunks_decode(w, first, from, err);
    if (!st)
        st = log_finish(w, &first, from, err);
    return st ? st : hf_runfold_pack(w->fold, pack, err);
}

hf_status hf_projection_read(hf_db *db, hf_mem *mem, int64_t run, int64_t at,
                             hf_projection *out_projection, hf_err *err)
{
    hf_buf pack = {0};
    hf_slice kept;
    work w;
    hf_status st;

    *out_projection = (hf_projection){0};
    work_init(&w, db, mem, err);
    st = state_read(&w, run, err);
    if (!st)
        st = log_load(&w, err);
    if (st)
        goto done;
    out_projection->state = w.s.log;
    out_projection->last_seq = w.s.last_seq;
    kept = w.pack;
    if (w.s.log != HF_PROJECTION_IN_SYNC) {
        st = read_rebuilt(&w, &pack, err);
        out_projection->state = w.s.log;
        kept = hf_buf_slice(&pack);
    }
    if (!st)
        st = hf_runfold_events(mem, kept, at, &out_projection->events, &out_projection->count, err);
done:
    hf_buf_fini(&pack);
    work_fini(&w);
    return hf_err_because(err, st, "read the fold of run %lld", (long long)run);
}
