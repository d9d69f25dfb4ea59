/* projection_rows.c: what catching up writes: the summary, labels, search attributes, failures,
   points of the ring, the log. Drafts only: see projection_impl.h. */
#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"
#include "model/limit.h"
#include "project/edge.h"
#include "project/projection_impl.h"

static void row_link(hf_projection_work *w, hf_row *row)
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

static void row_put(hf_projection_work *w, hf_op op, const hf_db_value *cells, size_t count)
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

static void summary_row(hf_projection_work *w)
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

static void clear_row(hf_projection_work *w, hf_op op)
{
    const hf_db_value cells[] = {int_cell(w->s.run), int_cell(w->s.last_seq)};

    if (!w->fresh)
        row_put(w, op, cells, 2);
}

static hf_status label_rows(hf_projection_work *w, hf_err *err)
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

static void attribute_row(hf_projection_work *w, hf_slice name, int64_t index, hf_value value,
                          bool listed)
{
    hf_search_attribute_type type = HF_SEARCH_ATTRIBUTE_TYPE_KEYWORD;
    hf_db_value text = hf_db_null(HF_DB_TEXT);
    hf_db_value number = hf_db_null(HF_DB_INT);
    hf_db_value real = hf_db_null(HF_DB_REAL);

    switch (hf_value_kind_of(value)) {
    case HF_VALUE_STRING:
        text = hf_db_text(hf_value_slice(value));
        if (hf_utf8_has_control(text.bytes))
            return; /* of a time when that was recorded; no filter asks for it */
        if (listed)
            type = HF_SEARCH_ATTRIBUTE_TYPE_KEYWORD_LIST;
        else if ((int64_t)hf_utf8_count(hf_value_slice(value)) >
                 hf_limit_get(HF_LIMIT_SEARCH_ATTRIBUTE_KEYWORD)->standard)
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

static hf_status attribute_rows(hf_projection_work *w, hf_err *err)
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

static void failure_rows(hf_projection_work *w)
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

static hf_status log_row(hf_projection_work *w, hf_err *err)
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

int64_t hf_projection_newest(const hf_flow *flows)
{
    int64_t newest_us = 0;

    for (; flows; flows = flows->next)
        newest_us = flows->at_us > newest_us ? flows->at_us : newest_us;
    return newest_us;
}

/* Points are kept for a week. */
static void flow_rows(hf_projection_work *w)
{
    int64_t newest_us = hf_projection_newest(w->flows);

    for (const hf_flow *flow = w->flows; flow; flow = flow->next)
        if (flow->at_us > newest_us - HF_FLOW_KEPT_US)
            row_link(w, hf_flow_row(w->mem, flow, w->s.run, w->expected));
}

hf_status hf_projection_rows(hf_projection_work *w, hf_err *err)
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

hf_status hf_projection_forget(hf_mem *mem, int64_t run, hf_row **out_rows, hf_err *err)
{
    const hf_db_value cells[] = {hf_db_int(run), hf_db_int(-1)};
    hf_projection_work w;

    hf_projection_begin(&w, NULL, mem, run);
    row_put(&w, HF_OP_PROJECTION_DELETE, cells, 1);
    row_put(&w, HF_OP_LABEL_CLEAR, cells, 2);
    row_put(&w, HF_OP_ATTRIBUTE_CLEAR, cells, 2);
    row_put(&w, HF_OP_FAILURE_CLEAR, cells, 2);
    row_put(&w, HF_OP_SUMMARY_DELETE, cells, 1);
    *out_rows = w.rows;
    return w.tail ? HF_OK : hf_err_nomem(err, "the rows of a projection");
}
