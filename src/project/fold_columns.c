/* fold_columns.c: what lists show of a run, event by event: see fold.h. */
#include <string.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/json.h"
#include "model/limit.h"
#include "project/edge.h"
#include "project/fold.h"
#include "project/track.h"

enum { MESSAGE_MAX = 1000, PRINT_BYTES = 16 };

/* One call: what it works with. */
typedef struct columns_work {
    hf_runfold_columns *columns;
    hf_mem *mem;
    hf_slice type;
    const hf_event *events; /* of this call */
    size_t done;            /* how many of them went through */
    hf_runfold_name *name;
    void *name_ctx;
    hf_sha256 *sha; /* made when the first failure comes */
} columns_work;

/* ---- failures */

static hf_slice step_name(const columns_work *work, int64_t step)
{
    hf_slice name = {0};

    for (size_t i = work->done; i-- > 0;) {
        const hf_event *event = &work->events[i];

        if (event->step == step &&
            (hf_event_text(event, HF_KEY_ACTIVITY_TYPE, &name) ||
             hf_event_text(event, HF_KEY_CHILD_WORKFLOW_TYPE, &name)) &&
            hf_event_opens_step(event))
            return name;
    }
    return work->name ? work->name(work->name_ctx, step) : (hf_slice){0};
}

/* At most MESSAGE_MAX bytes, whole characters, and no NUL, which no database column takes. */
static hf_slice message_keep(hf_mem *mem, hf_slice message)
{
    size_t len = message.len < MESSAGE_MAX ? message.len : MESSAGE_MAX;
    char *copy;

    while (len && len < message.len && ((uint8_t)message.ptr[len] & 0xc0) == 0x80)
        len--;
    copy = hf_mem_text(mem, hf_slice_from(message.ptr ? message.ptr : "", len));
    for (size_t i = 0; copy && i < len; i++)
        if (copy[i] == '\0')
            copy[i] = ' ';
    return hf_slice_from(copy, copy ? len : 0);
}

/* Failures that differ in ids and amounts only are one kind of failure: a run of digits is one
   sign. */
static void message_mask(hf_buf *buf, hf_slice message)
{
    bool digits = false;

    for (size_t i = 0; i < message.len; i++) {
        bool digit = message.ptr[i] >= '0' && message.ptr[i] <= '9';

        if (!digit)
            hf_buf_add_byte(buf, (uint8_t)message.ptr[i]);
        else if (!digits)
            hf_buf_add_byte(buf, '#');
        digits = digit;
    }
}

hf_status hf_runfold_print(hf_sha256 *sha, hf_slice name, hf_slice type, hf_slice message,
                           char out_print[HF_RUNFOLD_PRINT_SIZE], hf_err *err)
{
    uint8_t digest[HF_SHA256_BYTES];
    hf_buf text = {0};
    hf_status st;

    hf_buf_add_slice(&text, name);
    hf_buf_add_byte(&text, '\n');
    hf_buf_add_slice(&text, type);
    hf_buf_add_byte(&text, '\n');
    message_mask(&text, message);
    st = hf_buf_ok(&text) ? hf_sha256_digest(sha, hf_buf_slice(&text), digest, err)
                          : hf_err_nomem(err, "a failure");
    if (!st)
        hf_hex_print(hf_slice_from(digest, PRINT_BYTES), out_print);
    hf_buf_fini(&text);
    return st;
}

static hf_status failure_add(columns_work *work, const hf_event *event, int64_t seq,
                             hf_failure_source_kind source, hf_err *err)
{
    hf_runfold_failure *failure = hf_mem_alloc(work->mem, sizeof(*failure));
    hf_slice name = work->type;
    hf_slice type = {0};
    hf_slice message = {0};
    hf_status st;

    if (!failure)
        return hf_err_nomem(err, "a failure");
    if (source == HF_FAILURE_SOURCE_KIND_WORKFLOW_COMMAND)
        (void)hf_event_text(event, HF_KEY_UPDATE_NAME, &name);
    else if (source != HF_FAILURE_SOURCE_KIND_WORKFLOW_RUN)
        name = step_name(work, event->step);
    if (!hf_event_text(event, HF_KEY_EXCEPTION_TYPE, &type) &&
        !hf_event_text(event, HF_KEY_TIMEOUT_KIND, &type))
        (void)hf_event_text(event, HF_KEY_FAILURE_CATEGORY, &type);
    (void)hf_event_text(event, HF_KEY_MESSAGE, &message);
    *failure = (hf_runfold_failure){.next = work->columns->failures,
                                    .seq = seq,
                                    .step = event->step,
                                    .at_us = event->time_us,
                                    .source = source,
                                    .name = message_keep(work->mem, name),
                                    .type = message_keep(work->mem, type),
                                    .message = message_keep(work->mem, message)};
    if (!failure->name.ptr || !failure->type.ptr || !failure->message.ptr)
        return hf_err_nomem(err, "a failure");
    st = work->sha ? HF_OK : hf_sha256_new(&work->sha, err);
    if (!st)
        st = hf_runfold_print(work->sha, failure->name, failure->type, failure->message,
                              failure->print, err);
    if (st)
        return st;
    work->columns->failures = failure;
    work->columns->failure_print = hf_slice_of(failure->print);
    work->columns->exception_count++;
    return HF_OK;
}

static hf_status handled_add(columns_work *work, const hf_event *event, hf_err *err)
{
    hf_runfold_handled *handled = hf_mem_alloc(work->mem, sizeof(*handled));

    if (!handled)
        return hf_err_nomem(err, "a failure");
    *handled = (hf_runfold_handled){.next = work->columns->handled, .step = event->step};
    work->columns->handled = handled;
    return HF_OK;
}

/* ---- search attributes */

static hf_status attributes_merge(columns_work *work, const hf_event *event, hf_event_key key,
                                  hf_err *err)
{
    hf_runfold_columns *c = work->columns;
    hf_payload_value payload;
    hf_value before = hf_value_null();
    hf_value changes = NULL;
    hf_buf text = {0};
    hf_status st;

    if (!hf_event_payload(event, key, &payload) || payload.form == HF_PAYLOAD_FORM_REFERENCE)
        return HF_OK;
    st = hf_edge_plain(work->mem, &payload, &changes, err);
    if (st || hf_value_kind_of(changes) != HF_VALUE_OBJECT)
        return st;
    if (c->attributes.len)
        st = hf_edge_json(work->mem, c->attributes, &before, err);
    if (st)
        return st;
    changes = hf_edge_merge(work->mem, before, changes);
    if (changes)
        hf_json_write_canonical(&text, changes);
    if (!changes || !hf_buf_ok(&text)) {
        st = hf_err_nomem(err, "search attributes");
    } else {
        const char *kept = hf_len(changes) ? hf_mem_text(work->mem, hf_buf_slice(&text)) : NULL;

        if (hf_len(changes) && !kept)
            st = hf_err_nomem(err, "search attributes");
        c->attributes = hf_slice_of(kept);
        c->attributes_changed = true;
    }
    hf_buf_fini(&text);
    return st;
}

/* ---- the run */

static hf_status run_begun(columns_work *work, const hf_event *event, hf_err *err)
{
    hf_runfold_columns *c = work->columns;
    hf_slice labels = {0};

    (void)hf_event_text(event, HF_KEY_COMPATIBILITY, &c->compatibility);
    if (hf_event_json(event, HF_KEY_VISIBILITY_LABELS, &labels) && labels.len > 2) {
        c->labels = labels;
        c->labels_changed = true;
    }
    return attributes_merge(work, event, HF_KEY_SEARCH_ATTRIBUTES, err);
}

/* What a step of this shape is among the things that can be open; false for those that are over at
   once. */
static bool shape_open(hf_history_shape shape, hf_runfold_open *out_open)
{
    switch ((int)shape) {
    case HF_HISTORY_SHAPE_ACTIVITY:
        *out_open = HF_RUNFOLD_ACTIVITY;
        return true;
    case HF_HISTORY_SHAPE_CONDITION_WAIT:
        *out_open = HF_RUNFOLD_CONDITION;
        return true;
    case HF_HISTORY_SHAPE_TIMER:
        *out_open = HF_RUNFOLD_TIMER;
        return true;
    case HF_HISTORY_SHAPE_CHILD_WORKFLOW:
        *out_open = HF_RUNFOLD_CHILD;
        return true;
    case HF_HISTORY_SHAPE_SIGNAL_WAIT:
        *out_open = HF_RUNFOLD_SIGNAL;
        return true;
    default:
        return false;
    }
}

static void open_move(hf_runfold_columns *c, const hf_event *event, int64_t by)
{
    hf_runfold_open open;

    c->open_steps += by;
    if (c->open_steps < 0)
        c->open_steps = 0;
    if (event->type == HF_EVENT_TIMER_FIRED && by < 0 && !hf_event_resolves_step(event))
        open = HF_RUNFOLD_SIGNAL;
    else if (!shape_open(hf_event_shape(event->type), &open))
        return;
    c->open[open] += by;
    if (c->open[open] < 0)
        c->open[open] = 0;
}

static void open_add(hf_runfold_columns *c, hf_runfold_open open, int64_t by)
{
    c->open[open] += by;
    if (c->open[open] < 0)
        c->open[open] = 0;
}

/* Timers that stand behind a wait. That of a condition counts until the code knows that it fired:
   until then something must wake the code. */
static void timeouts_count(hf_runfold_columns *c, const hf_event *event)
{
    hf_slice kind = {0};

    if (event->type == HF_EVENT_CONDITION_WAIT_TIMED_OUT) {
        open_add(c, HF_RUNFOLD_TIMEOUT, -1);
        return;
    }
    if ((event->type != HF_EVENT_TIMER_SCHEDULED && event->type != HF_EVENT_TIMER_FIRED &&
         event->type != HF_EVENT_TIMER_CANCELLED) ||
        !hf_event_text(event, HF_KEY_TIMER_KIND, &kind))
        return;
    if (event->type == HF_EVENT_TIMER_SCHEDULED)
        open_add(c, HF_RUNFOLD_TIMEOUT, 1);
    else if (event->type == HF_EVENT_TIMER_CANCELLED ||
             hf_slice_equal(kind, HF_SLICE("signal_timeout")))
        open_add(c, HF_RUNFOLD_TIMEOUT, -1);
}

/* A step of a machine that parked waits for signals until the next one. */
static void machine_count(hf_runfold_columns *c, const hf_event *event)
{
    hf_step_outcome outcome = 0;
    hf_slice word = {0};

    if (event->type != HF_EVENT_STEP_COMPLETED)
        return;
    (void)hf_event_text(event, HF_KEY_OUTCOME, &word);
    (void)hf_step_outcome_parse(word, &outcome);
    c->open[HF_RUNFOLD_SIGNAL] = outcome == HF_STEP_OUTCOME_PARK;
}

/* How many steps are open, and how many there were at most. */
static void steps_count(hf_runfold_columns *c, const hf_event *event)
{
    bool opens = hf_event_opens_step(event);
    bool resolves = hf_event_resolves_step(event);
    hf_slice kind;

    if (opens && !resolves)
        open_move(c, event, 1);
    else if (resolves && !opens)
        open_move(c, event, -1);
    else if (event->type == HF_EVENT_TIMER_FIRED &&
             hf_event_text(event, HF_KEY_TIMER_KIND, &kind) &&
             hf_slice_equal(kind, HF_SLICE("signal_timeout")))
        open_move(c, event, -1); /* a signal wait that timed out has no event of its own */
    else if (event->type == HF_EVENT_UPDATE_ACCEPTED)
        c->open[HF_RUNFOLD_UPDATE]++;
    else if (event->type == HF_EVENT_UPDATE_COMPLETED && c->open[HF_RUNFOLD_UPDATE] > 0)
        c->open[HF_RUNFOLD_UPDATE]--;
    if (c->open_steps > c->fan_out)
        c->fan_out = c->open_steps;
}

static hf_status event_fold(columns_work *work, const hf_event *event, hf_err *err)
{
    hf_failure_source_kind source;
    hf_propagation_kind propagation;
    hf_status st = HF_OK;

    work->columns->seq++;
    steps_count(work->columns, event);
    timeouts_count(work->columns, event);
    machine_count(work->columns, event);
    if (event->type == HF_EVENT_WORKFLOW_STARTED)
        st = run_begun(work, event, err);
    else if (event->type == HF_EVENT_SEARCH_ATTRIBUTES_UPSERTED)
        st = attributes_merge(work, event, HF_KEY_ATTRIBUTES, err);
    else if (event->type == HF_EVENT_FAILURE_HANDLED)
        st = handled_add(work, event, err);
    else if (hf_track_failure_kind(event, &source, &propagation))
        st = failure_add(work, event, work->columns->seq, source, err);
    return st;
}

hf_status hf_runfold_columns_add(hf_runfold_columns *columns, hf_mem *mem, hf_slice type,
                                 const hf_event *events, size_t count, hf_runfold_name *name,
                                 void *name_ctx, hf_err *err)
{
    columns_work work = {.columns = columns,
                         .mem = mem,
                         .type = type,
                         .events = events,
                         .name = name,
                         .name_ctx = name_ctx};
    hf_status st = HF_OK;

    for (; !st && work.done < count; work.done++)
        st = event_fold(&work, &events[work.done], err);
    hf_sha256_free(work.sha);
    return st;
}

int64_t hf_runfold_fan_out(const hf_event *events, size_t count)
{
    hf_runfold_columns columns = {0};

    for (size_t i = 0; i < count; i++)
        steps_count(&columns, &events[i]);
    return columns.fan_out;
}

int64_t hf_runfold_pressure(int64_t events, int64_t bytes, int64_t fan_out)
{
    static const struct {
        hf_limit warning, threshold;
    } budgets[] = {
        {HF_LIMIT_BUDGET_EVENT_WARNING, HF_LIMIT_BUDGET_EVENT_THRESHOLD},
        {HF_LIMIT_BUDGET_SIZE_BYTES_WARNING, HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD},
        {HF_LIMIT_BUDGET_FAN_OUT_WARNING, HF_LIMIT_BUDGET_FAN_OUT_THRESHOLD},
    };
    const int64_t values[] = {events, bytes, fan_out};
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
