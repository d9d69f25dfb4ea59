/* decide_limit.c: the structural limits, looked at before the first decision is taken. The rule: a
   turn that breaks one fails its run and nothing else of it is written, so that no half of a
   barrier is ever scheduled. */
#include <stdio.h>

#include "base/json.h"
#include "decide/decide_impl.h"
#include "model/metadata.h"

/* What is pending of one kind, and what the turn adds to it. */
typedef struct pending {
    hf_limit limit;
    int64_t before;
    int64_t now;
} pending;

typedef struct limit_check {
    hf_decide *decide;
    pending activities;
    pending children;
    pending timers;
    hf_slice memo;
    hf_slice attributes;
    hf_limit broken; /* 0: none */
    int64_t value;
    int64_t configured;
    const char *invalid; /* metadata that is not allowed; NULL: none */
} limit_check;

static void limit_break(limit_check *check, hf_limit limit, int64_t value)
{
    if (check->broken)
        return;
    check->broken = limit;
    check->value = value;
    check->configured = hf_limits_get(check->decide->limits, limit);
}

/* One more; trips when as many as allowed are there already. */
static void pending_add(limit_check *check, pending *kind)
{
    if (hf_limit_trips(kind->limit, hf_limits_get(check->decide->limits, kind->limit), kind->now))
        limit_break(check, kind->limit, kind->now);
    kind->now++;
}

/* Facts of this unit have closed some of what was open before it. */
static void pending_less(limit_check *check)
{
    const hf_event_builder *events = hf_unit_events(check->decide->unit, 0);

    for (size_t i = 0; i < events->count; i++) {
        switch ((int)events->events[i].type) {
        case HF_EVENT_ACTIVITY_COMPLETED:
        case HF_EVENT_ACTIVITY_FAILED:
        case HF_EVENT_ACTIVITY_TIMED_OUT:
            check->activities.now--;
            break;
        case HF_EVENT_TIMER_FIRED:
            check->timers.now--;
            break;
        }
    }
}

static void pending_count(limit_check *check)
{
    const hf_decide_run *run = check->decide->run;

    check->activities.limit = HF_LIMIT_PENDING_ACTIVITY_COUNT;
    check->children.limit = HF_LIMIT_PENDING_CHILD_COUNT;
    check->timers.limit = HF_LIMIT_PENDING_TIMER_COUNT;
    for (size_t i = 0; i < run->open_count; i++)
        ++*(run->open[i].is_timer ? &check->timers.now : &check->activities.now);
    check->children.now = (int64_t)run->child_count;
    pending_less(check);
    check->activities.before = check->activities.now;
    check->children.before = check->children.now;
    check->timers.before = check->timers.now;
}

/* The decision that closes a run is the last one of its turn. */
static bool turn_closes(const hf_decision_row *rows, size_t count)
{
    switch (count ? (int)rows[count - 1].kind : 0) {
    case HF_DECISION_COMPLETE_WORKFLOW:
    case HF_DECISION_FAIL_WORKFLOW:
    case HF_DECISION_CONTINUE_AS_NEW:
    case HF_DECISION_COMPLETE_CANCELLED:
        return true;
    }
    return false;
}

/* A history that is full takes what closes its run. A turn that writes nothing may pass. */
static void history_check(limit_check *check, const hf_decision_row *rows, size_t count)
{
    int64_t facts = (int64_t)hf_unit_events(check->decide->unit, 0)->count;
    int64_t length = check->decide->run->base->last_seq + facts;

    if ((count || facts) && !turn_closes(rows, count) &&
        hf_limit_trips(HF_LIMIT_MAX_EVENTS_PER_RUN,
                       hf_limits_get(check->decide->limits, HF_LIMIT_MAX_EVENTS_PER_RUN), length))
        limit_break(check, HF_LIMIT_MAX_EVENTS_PER_RUN, length);
}

static hf_status upsert_check(limit_check *check, bool attributes, const hf_decision_row *row,
                              hf_err *err)
{
    const hf_decide_host *host = check->decide->host;
    const hf_metadata_types types = {.ctx = host ? host->ctx : NULL,
                                     .keyword = host ? host->keyword : NULL};
    hf_mem *mem = hf_unit_mem(check->decide->unit);
    hf_slice *now = attributes ? &check->attributes : &check->memo;
    hf_slice before = attributes ? check->decide->run->attributes : check->decide->run->memo;
    hf_limit limit = (hf_limit)0;
    int64_t value = 0;
    hf_err why = {0};
    hf_status st =
        hf_metadata_merge(mem, attributes, types.keyword ? &types : NULL, now->ptr ? *now : before,
                          row->value.bytes, now, &limit, &value, &why);

    if (st == HF_INVALID && !check->invalid) {
        check->invalid = hf_mem_text(mem, hf_slice_of(why.text));
        st = check->invalid ? HF_OK : hf_err_nomem(err, "a refusal");
    } else if (st) {
        return hf_err_set(err, st, "%s", why.text);
    }
    if (limit)
        limit_break(check, limit, value);
    return st;
}

static hf_status row_check(limit_check *check, const hf_decision_row *row, hf_err *err)
{
    hf_status st = HF_OK;

    switch ((int)row->kind) {
    case HF_DECISION_SCHEDULE_ACTIVITY:
        pending_add(check, &check->activities);
        break;
    case HF_DECISION_START_CHILD_WORKFLOW:
        pending_add(check, &check->children);
        break;
    case HF_DECISION_START_TIMER:
        if (row->timer.delay_us > 0)
            pending_add(check, &check->timers);
        break;
    case HF_DECISION_OPEN_SIGNAL_WAIT:
    case HF_DECISION_OPEN_CONDITION_WAIT:
        if (row->wait.timeout_us > 0)
            pending_add(check, &check->timers);
        break;
    case HF_DECISION_CANCEL_TIMER:
        check->timers.now--;
        break;
    case HF_DECISION_UPSERT_MEMO:
    case HF_DECISION_UPSERT_SEARCH_ATTRIBUTES:
        st = upsert_check(check, row->kind != HF_DECISION_UPSERT_MEMO, row, err);
        break;
    }
    return st;
}

/* Told once: when this turn is the one that came near. */
static void near_warn(hf_decide *decide, hf_limit limit, int64_t before, int64_t now)
{
    const hf_limits *limits = decide->limits;
    int64_t from = hf_limit_warning(hf_limits_get(limits, limit),
                                    hf_limits_get(limits, HF_LIMIT_WARNING_THRESHOLD_PERCENT));
    hf_effect *effect;

    if (from <= 0 || before >= from || now < from)
        return;
    effect = hf_decide_effect(decide, HF_EFFECT_WARN, decide->run->base->run);
    if (!effect)
        return;
    effect->limit = limit;
    effect->key = now;
}

static void pending_warn(const limit_check *check, const pending *kind)
{
    near_warn(check->decide, kind->limit, kind->before, kind->now);
}

/* By the tighter of the two sizes that each of them has. */
static void metadata_warn(const limit_check *check)
{
    const hf_decide_run *run = check->decide->run;

    near_warn(check->decide, HF_LIMIT_MEMO_TOTAL_BYTES, (int64_t)run->memo.len,
              (int64_t)check->memo.len);
    near_warn(check->decide, HF_LIMIT_SEARCH_ATTRIBUTE_SIZE_BYTES, (int64_t)run->attributes.len,
              (int64_t)check->attributes.len);
}

static void payload_warn(const limit_check *check, const hf_decision_row *rows, size_t count)
{
    size_t most = 0;

    for (size_t i = 0; i < count; i++)
        if (rows[i].value.bytes.len > most)
            most = rows[i].value.bytes.len;
    near_warn(check->decide, HF_LIMIT_PAYLOAD_SIZE_BYTES, 0, (int64_t)most);
}

static hf_status failure_make(const limit_check *check, const hf_decision_row **out_fail,
                              hf_err *err)
{
    hf_mem *mem = hf_unit_mem(check->decide->unit);
    hf_decision_row *row = hf_mem_alloc(mem, sizeof(*row));
    char *message;
    char *details = NULL;

    if (!row)
        return hf_err_nomem(err, "a failure");
    row->kind = HF_DECISION_FAIL_WORKFLOW;
    if (check->broken) {
        message = hf_mem_format(mem, "%s is limited to %lld, this turn needs %lld",
                                hf_limit_text(check->broken), (long long)check->configured,
                                (long long)check->value +
                                    (hf_limit_get(check->broken)->rule == HF_LIMIT_RULE_COUNT));
        details = hf_mem_format(mem,
                                "{\"structural_limit_kind\":\"%s\",\"structural_limit_value\":%lld,"
                                "\"structural_limit_configured\":%lld}",
                                hf_limit_text(check->broken), (long long)check->value,
                                (long long)check->configured);
        row->failure.category = HF_FAILURE_CATEGORY_STRUCTURAL_LIMIT;
        row->failure.type = HF_SLICE("structural_limit");
    } else {
        message = hf_mem_text(mem, hf_slice_of(check->invalid));
        row->failure.category = HF_FAILURE_CATEGORY_TASK_FAILURE;
        row->failure.type = HF_SLICE("invalid_metadata");
    }
    if (!message || (check->broken && !details))
        return hf_err_nomem(err, "a failure");
    row->failure.message = hf_slice_of(message);
    if (details)
        row->failure.details =
            (hf_decision_payload){.codec = HF_PAYLOAD_CODEC_JSON, .bytes = hf_slice_of(details)};
    *out_fail = row;
    return HF_OK;
}

/* What the checks below must know of the run. */
static void know(hf_decide *decide, const hf_decision_row *rows, size_t count)
{
    unsigned what = 0;

    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind == HF_DECISION_START_CHILD_WORKFLOW)
            what |= HF_KNOW_CHILDREN;
        else if (rows[i].kind == HF_DECISION_UPSERT_MEMO ||
                 rows[i].kind == HF_DECISION_UPSERT_SEARCH_ATTRIBUTES)
            what |= HF_KNOW_META;
    }
    hf_decide_know(decide, what);
}

hf_status hf_decide_check(hf_decide *decide, const hf_decision_row *rows, size_t count,
                          const hf_decision_row **out_fail, hf_err *err)
{
    limit_check check = {.decide = decide};
    hf_status st = HF_OK;

    *out_fail = NULL;
    know(decide, rows, count);
    if (decide->failure.status)
        return hf_err_set(err, decide->failure.status, "%s", decide->failure.text);
    pending_count(&check);
    history_check(&check, rows, count);
    for (size_t i = 0; !st && !check.broken && !check.invalid && i < count; i++)
        st = row_check(&check, &rows[i], err);
    if (st)
        return st;
    if (check.broken || check.invalid)
        return failure_make(&check, out_fail, err);
    pending_warn(&check, &check.activities);
    pending_warn(&check, &check.children);
    pending_warn(&check, &check.timers);
    near_warn(decide, HF_LIMIT_COMMAND_BATCH_SIZE, 0, (int64_t)count);
    payload_warn(&check, rows, count);
    metadata_warn(&check);
    return HF_OK;
}

void hf_decide_near(hf_decide *decide, size_t facts)
{
    int64_t before = decide->run->base->last_seq;
    int64_t count = (int64_t)hf_unit_events(decide->unit, 0)->count;

    if (decide->closed)
        return;
    near_warn(decide, HF_LIMIT_HISTORY_TRANSACTION_SIZE, 0, count - (int64_t)facts);
    near_warn(decide, HF_LIMIT_MAX_EVENTS_PER_RUN, before, before + count);
}
