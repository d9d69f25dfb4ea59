/* schedule.c: see schedule.h. Events of schedules are made here and nowhere else. */
#include "intake/schedule.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/json.h"
#include "base/value.h"
#include "intake/intake_impl.h"
#include "model/name.h"

/* ---- reading */

static int64_t int_or_zero(hf_db_cursor *row, size_t column)
{
    return hf_db_column_null(row, column) ? 0 : hf_db_column_int(row, column);
}

hf_status hf_schedule_row_read(hf_db_cursor *row, hf_mem *mem, hf_schedule *out_schedule,
                               hf_err *err)
{
    hf_slice id = hf_db_column_bytes(row, 2);

    *out_schedule = (hf_schedule){.key = hf_db_column_int(row, 0),
                                  .namespace_key = hf_db_column_int(row, 1),
                                  .id = hf_slice_from(hf_mem_text(mem, id), id.len),
                                  .status = (hf_schedule_status)hf_db_column_int(row, 3),
                                  .revision = hf_db_column_int(row, 4),
                                  .next_us = int_or_zero(row, 5),
                                  .events = hf_db_column_int(row, 6),
                                  .fires = hf_db_column_int(row, 7),
                                  .latest_instance = int_or_zero(row, 8),
                                  .created_us = hf_db_column_int(row, 9)};
    if (!out_schedule->id.ptr)
        return hf_err_nomem(err, "a schedule");
    return hf_schedule_decode(mem, hf_db_column_bytes(row, 10), out_schedule, err);
}

static hf_status schedule_query(hf_db *db, hf_mem *mem, hf_stmt stmt, const hf_db_value *params,
                                size_t count, hf_schedule *out_schedule, hf_err *err)
{
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(db, stmt, params, count, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_NOTFOUND, "there is no such schedule");
    if (!st)
        st = hf_schedule_row_read(cursor, mem, out_schedule, err);
    hf_db_end(cursor);
    return st;
}

hf_status hf_schedule_get(hf_db *db, hf_mem *mem, int64_t namespace_key, hf_slice id,
                          hf_schedule *out_schedule, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(namespace_key), hf_db_text(id)};

    return schedule_query(db, mem, HF_STMT_SCHEDULE_GET, params, 2, out_schedule, err);
}

hf_status hf_schedule_read(hf_db *db, hf_mem *mem, int64_t key, hf_schedule *out_schedule,
                           hf_err *err)
{
    const hf_db_value param = hf_db_int(key);

    return schedule_query(db, mem, HF_STMT_SCHEDULE_READ, &param, 1, out_schedule, err);
}

hf_status hf_schedule_open_run(hf_db *db, int64_t instance, int64_t *out_run, hf_err *err)
{
    const hf_db_value param = hf_db_int(instance);
    bool found = false;
    hf_status st = HF_OK;

    *out_run = 0;
    if (instance)
        st = hf_db_number(db, HF_STMT_SCHEDULE_LATEST, &param, 1, &found, out_run, err);
    return st;
}

/* ---- one change */

typedef struct change {
    const hf_intake *in;
    hf_unit *unit;
    hf_mem *mem;
    hf_schedule *schedule;
    const hf_schedule_spec *spec;
    int64_t expected;
    int64_t run;     /* that it starts, HF_NONE: none */
    int64_t slot_us; /* that it uses up, HF_NONE: none */
} change;

static hf_status change_begin(change *c, const hf_intake *in, hf_schedule *schedule, hf_unit *unit,
                              hf_err *err)
{
    hf_status st;

    *c = (change){.in = in,
                  .unit = unit,
                  .mem = hf_unit_mem(unit),
                  .schedule = schedule,
                  .expected = schedule->revision,
                  .run = HF_NONE,
                  .slot_us = HF_NONE};
    st = hf_schedule_spec_parse(c->mem, schedule->spec, &c->spec, err);
    return st ? st : hf_keys_take(in->keys, 1, &schedule->revision, err);
}

const char *hf_schedule_time_text(hf_mem *mem, int64_t at_us)
{
    char text[HF_CLOCK_TEXT_SIZE];

    return at_us && hf_clock_print(at_us, text) ? hf_mem_text(mem, hf_slice_of(text)) : NULL;
}

const char *hf_schedule_ulid_text(hf_mem *mem, int64_t time_us, int64_t key)
{
    hf_ulid id = hf_ulid_form(time_us, key, 0);
    char text[HF_ULID_TEXT_SIZE];

    hf_ulid_print(&id, text);
    return hf_mem_text(mem, hf_slice_of(text));
}

/* Who asked for the change. */
static hf_slice context_text(const change *c)
{
    return c->in->context.ptr
               ? c->in->context
               : HF_SLICE("{\"auth\":{\"method\":null,\"status\":\"not_applicable\"},"
                          "\"caller\":{\"label\":\"Schedules\",\"type\":\"engine\"}}");
}

static hf_status body_sign(const change *c, hf_value *io_body, hf_err *err)
{
    hf_value context = NULL;
    hf_status st = hf_json_read(c->mem, context_text(c), NULL, &context, err);

    if (!st && *io_body)
        *io_body = hf_value_merge(
            c->mem, *io_body, hf_json_(c->mem, "{'command_context': %p}", (const void *)context));
    return !st && !*io_body ? hf_err_nomem(err, "a schedule's event") : st;
}

/* An event of the schedule's history; rows of a unit that starts a run hang on that run. */
static hf_status event_add(change *c, hf_event_type type, hf_value body, hf_err *err)
{
    hf_schedule *s = c->schedule;
    hf_buf text = {0};
    hf_schedule_event_row row = {.schedule = s->key,
                                 .sequence = ++s->events,
                                 .revision = s->revision,
                                 .type = type,
                                 .recorded_us = c->in->now_us,
                                 .run = HF_NONE,
                                 .slot_us = HF_NONE};
    hf_status st = body_sign(c, &body, err);

    if (st)
        return st;
    if (type == HF_EVENT_SCHEDULE_TRIGGERED || type == HF_EVENT_SCHEDULE_TRIGGER_SKIPPED) {
        row.run = c->run;
        row.slot_us = c->slot_us;
    }
    hf_json_write_canonical(&text, body);
    if (!hf_buf_ok(&text)) {
        hf_buf_fini(&text);
        return hf_err_nomem(err, "a schedule's event");
    }
    row.body = hf_buf_slice(&text);
    hf_unit_row(c->unit, 0,
                c->run == HF_NONE ? hf_row_schedule_note(c->mem, &row)
                                  : hf_row_schedule_event(c->mem, &row));
    hf_buf_fini(&text);
    return HF_OK;
}

/* The schedule's own row comes first: of rows without a run it is the one that says whether the
   change was made. */
static hf_status row_add(change *c, hf_row *(*make)(hf_mem *, const hf_schedule_row *),
                         int64_t events, hf_err *err)
{
    const hf_schedule *s = c->schedule;
    const hf_schedule_row row = {.key = s->key,
                                 .namespace_key = s->namespace_key,
                                 .id = s->id,
                                 .status = s->status,
                                 .expected = c->expected,
                                 .revision = s->revision,
                                 .next_us = s->next_us,
                                 .events = s->events + events,
                                 .fires = s->fires,
                                 .latest_instance = s->latest_instance,
                                 .created_us = s->created_us,
                                 .body = hf_schedule_encode(c->mem, s)};

    if (!row.body.ptr)
        return hf_err_nomem(err, "a schedule");
    hf_unit_row(c->unit, 0, make(c->mem, &row));
    return HF_OK;
}

/* By wall time, whatever it did. */
static void plan(change *c)
{
    hf_schedule_plan(c->schedule, c->spec, c->in->now_us + c->in->wall_ahead_us,
                     (uint64_t)c->schedule->revision);
}

/* A whole number of seconds of the action, in microseconds. */
static int64_t seconds_us(hf_value action, const char *key)
{
    return hf_int(action, key, 0) * 1000000;
}

static hf_slice json_of(hf_mem *mem, hf_value object)
{
    return object ? hf_slice_of(hf_text(mem, object)) : (hf_slice){0};
}

hf_intake_start hf_schedule_start(hf_mem *mem, const hf_schedule *s)
{
    hf_value action = s->action;

    return (hf_intake_start){.type = hf_value_slice(hf_get(action, "workflow_type")),
                             .input = hf_get(action, "input"),
                             .business_key = hf_value_slice(hf_get(action, "business_key")),
                             .labels = json_of(mem, hf_get(action, "visibility_labels")),
                             .memo = json_of(mem, hf_get(action, "memo")),
                             .attributes = json_of(mem, hf_get(action, "search_attributes")),
                             .queue = hf_slice_of(hf_str(action, "task_queue", "default")),
                             .execution_timeout_us =
                                 seconds_us(action, "execution_timeout_seconds"),
                             .run_timeout_us = seconds_us(action, "run_timeout_seconds")};
}

/* What every start gets must be what a start may have, so that whoever plans it learns of it and
   not whoever reads why it failed. */
static hf_status action_check(const change *c, hf_err *err)
{
    hf_intake_start start = hf_schedule_start(c->mem, c->schedule);
    hf_intake_refusal refusal = {0};
    hf_slice json;
    hf_status st = hf_intake_start_check(c->in, &start, c->mem, err);

    if (!st)
        st = hf_intake_payload_fit(c->in, c->mem, start.input, &json, &refusal, err);
    return !st && refusal.outcome ? hf_err_set(err, HF_INVALID, "%s", refusal.why) : st;
}

/* ---- changes without a run */

hf_status hf_schedule_create_draft(const hf_intake *in, hf_schedule *s, hf_unit *unit, hf_err *err)
{
    change c;
    hf_status st = hf_name_check(HF_NAME_SCHEDULE, s->id, err);

    if (!st)
        st = hf_keys_take(in->keys, 1, &s->key, err);
    if (!st)
        st = change_begin(&c, in, s, unit, err);
    if (!st)
        st = action_check(&c, err);
    if (st)
        return st;
    s->namespace_key = in->namespace_key;
    s->created_us = s->updated_us = in->now_us;
    if (s->status == HF_SCHEDULE_STATUS_PAUSED)
        s->paused_us = in->now_us;
    plan(&c);
    st = row_add(&c, hf_row_schedule_new, 1, err);
    if (st)
        return st;
    return event_add(
        &c, HF_EVENT_SCHEDULE_CREATED,
        hf_json_(c.mem, "{'spec': %p, 'action': %p, 'overlap_policy': %s, 'next_fire_at': %s}",
                 (const void *)s->spec, (const void *)s->action, hf_overlap_policy_text(s->overlap),
                 hf_schedule_time_text(c.mem, s->next_us)),
        err);
}

hf_status hf_schedule_update_draft(const hf_intake *in, hf_schedule *s, hf_value fields,
                                   hf_unit *unit, hf_err *err)
{
    change c;
    hf_status st = change_begin(&c, in, s, unit, err);

    if (!st)
        st = action_check(&c, err);
    if (st)
        return st;
    s->updated_us = in->now_us;
    plan(&c);
    st = row_add(&c, hf_row_schedule_move, 1, err);
    if (st)
        return st;
    return event_add(
        &c, HF_EVENT_SCHEDULE_UPDATED,
        hf_json_(c.mem,
                 "{'changed_fields': %p, 'spec': %p, 'action': %p, 'overlap_policy': %s, "
                 "'next_fire_at': %s}",
                 (const void *)fields, (const void *)s->spec, (const void *)s->action,
                 hf_overlap_policy_text(s->overlap), hf_schedule_time_text(c.mem, s->next_us)),
        err);
}

hf_status hf_schedule_pause_draft(const hf_intake *in, hf_schedule *s, const char *reason,
                                  hf_unit *unit, hf_err *err)
{
    change c;
    hf_status st = change_begin(&c, in, s, unit, err);

    if (st)
        return st;
    s->status = HF_SCHEDULE_STATUS_PAUSED;
    s->paused_us = in->now_us;
    plan(&c);
    st = row_add(&c, hf_row_schedule_move, 1, err);
    return st ? st
              : event_add(&c, HF_EVENT_SCHEDULE_PAUSED,
                          hf_json_(c.mem, "{'reason': %s, 'paused_at': %s}", reason,
                                   hf_schedule_time_text(c.mem, s->paused_us)),
                          err);
}

hf_status hf_schedule_resume_draft(const hf_intake *in, hf_schedule *s, hf_unit *unit, hf_err *err)
{
    change c;
    hf_status st = change_begin(&c, in, s, unit, err);

    if (st)
        return st;
    s->status = HF_SCHEDULE_STATUS_ACTIVE;
    s->paused_us = 0;
    plan(&c);
    st = row_add(&c, hf_row_schedule_move, 1, err);
    return st ? st
              : event_add(&c, HF_EVENT_SCHEDULE_RESUMED,
                          hf_json_(c.mem, "{'next_fire_at': %s}",
                                   hf_schedule_time_text(c.mem, s->next_us)),
                          err);
}

static void schedule_end(hf_schedule *s, int64_t now_us)
{
    s->status = HF_SCHEDULE_STATUS_DELETED;
    s->deleted_us = now_us;
    s->next_us = s->slot_us = 0;
    s->buffered_count = 0;
}

static hf_status deleted_add(change *c, hf_schedule_delete_reason reason, hf_err *err)
{
    return event_add(c, HF_EVENT_SCHEDULE_DELETED,
                     hf_json_(c->mem, "{'reason': %s, 'deleted_at': %s}",
                              hf_schedule_delete_reason_text(reason),
                              hf_schedule_time_text(c->mem, c->schedule->deleted_us)),
                     err);
}

hf_status hf_schedule_delete_draft(const hf_intake *in, hf_schedule *s, hf_unit *unit, hf_err *err)
{
    change c;
    hf_status st = change_begin(&c, in, s, unit, err);

    if (st)
        return st;
    schedule_end(s, in->now_us);
    st = row_add(&c, hf_row_schedule_move, 1, err);
    return st ? st : deleted_add(&c, HF_SCHEDULE_DELETE_REASON_DELETED, err);
}

/* ---- firing */

static const char *instance_name(hf_mem *mem, const hf_schedule *s, const hf_fire *fire)
{
    char stamp[HF_SCHEDULE_STAMP_SIZE];

    hf_schedule_stamp(fire->occurrence_us, stamp);
    return hf_mem_format(mem, "schedule:%.*s:%s%s", (int)s->id.len, s->id.ptr,
                         fire->kind == HF_FIRE_BACKFILL ? "backfill:" : "", stamp);
}

/* The expression that names the time; NULL for an interval and for what somebody asked for. */
static const char *cron_text(const change *c, const hf_fire *fire)
{
    hf_schedule_slot slot;

    if (fire->kind == HF_FIRE_TRIGGER ||
        !hf_schedule_spec_next(c->spec, fire->occurrence_us - 1, &slot) ||
        slot.at_us != fire->occurrence_us || !slot.cron.ptr)
        return NULL;
    return slot.cron.ptr; /* the parser's copy ends with a NUL */
}

static void triggered_put(const change *c, const hf_fire *fire, const hf_verdict *verdict)
{
    hf_event_builder *events = hf_unit_events(c->unit, 0);
    const hf_schedule *s = c->schedule;
    const char *cron = cron_text(c, fire);

    hf_event_begin(events, HF_EVENT_SCHEDULE_TRIGGERED, c->in->now_us, 0);
    hf_event_put_text(events, HF_KEY_SCHEDULE_ID, s->id);
    hf_event_put_id(events, HF_KEY_SCHEDULE_ULID, hf_ulid_form(s->created_us, s->key, 0));
    if (cron)
        hf_event_put_text(events, HF_KEY_CRON_EXPRESSION, hf_slice_of(cron));
    hf_event_put_text(events, HF_KEY_TIMEZONE, hf_schedule_spec_zone(c->spec));
    hf_event_put_text(events, HF_KEY_OVERLAP_POLICY,
                      hf_slice_of(hf_overlap_policy_text(s->overlap)));
    hf_event_put_text(events, HF_KEY_OUTCOME,
                      hf_slice_of(hf_trigger_outcome_text(verdict->outcome)));
    hf_event_put_text(events, HF_KEY_EFFECTIVE_OVERLAP_POLICY,
                      hf_slice_of(hf_overlap_policy_text(verdict->effective)));
    hf_event_put_int(events, HF_KEY_TRIGGER_NUMBER, s->fires);
    hf_event_put_time(events, HF_KEY_OCCURRENCE_TIME, fire->occurrence_us);
    hf_event_put_json(events, HF_KEY_COMMAND_CONTEXT, context_text(c));
}

static hf_value triggered_value(const change *c, const hf_fire *fire, const hf_fired *fired)
{
    const hf_schedule *s = c->schedule;
    hf_value number = fired->made ? hf_value_int(c->mem, s->fires) : hf_value_null();

    return hf_json_(
        c->mem,
        "{'workflow_instance_id': %s, 'workflow_run_id': %s, 'schedule_id': %s, "
        "'schedule_ulid': %s, 'cron_expression': %s, 'timezone': %s, 'overlap_policy': %s, "
        "'outcome': %s, 'effective_overlap_policy': %s, 'trigger_number': %p, "
        "'occurrence_time': %s, 'error': %s}",
        fired->made ? fired->id : NULL,
        fired->made ? hf_schedule_ulid_text(c->mem, c->in->now_us, fired->run.base.run) : NULL,
        s->id.ptr, hf_schedule_ulid_text(c->mem, s->created_us, s->key), cron_text(c, fire),
        hf_mem_text(c->mem, hf_schedule_spec_zone(c->spec)), hf_overlap_policy_text(s->overlap),
        hf_trigger_outcome_text(fired->verdict.outcome),
        hf_overlap_policy_text(fired->verdict.effective), (const void *)number,
        hf_schedule_time_text(c->mem, fire->occurrence_us),
        fired->verdict.outcome == HF_TRIGGER_OUTCOME_FAILED ? fire->fails : NULL);
}

/* What it did last, newest first, for people who look at it. */
static hf_status recent_add(change *c, const hf_fire *fire, const hf_fired *fired, hf_err *err)
{
    hf_value_list *list = hf_value_array(c->mem);

    hf_value_append(
        list,
        hf_json_(c->mem, "{'occurrence_time': %s, 'at': %s, 'outcome': %s, 'workflow_id': %s}",
                 hf_schedule_time_text(c->mem, fire->occurrence_us),
                 hf_schedule_time_text(c->mem, c->in->now_us),
                 hf_trigger_outcome_text(fired->verdict.outcome), fired->made ? fired->id : NULL));
    for (size_t i = 0; i + 1 < HF_SCHEDULE_RECENT && i < hf_len(c->schedule->recent); i++)
        hf_value_append(list, hf_at(c->schedule->recent, i));
    c->schedule->recent = hf_value_finish(list);
    return c->schedule->recent ? HF_OK : hf_err_nomem(err, "a schedule");
}

/* The run, with the event that says where it comes from. */
static hf_status start_add(change *c, const hf_fire *fire, const hf_intake_start *start,
                           hf_fired *fired, hf_err *err)
{
    const hf_command_row row = {.type = HF_COMMAND_TYPE_START,
                                .status = HF_COMMAND_STATUS_ACCEPTED,
                                .rejection = HF_NONE,
                                .scope = HF_TARGET_SCOPE_INSTANCE,
                                .source = HF_COMMAND_SOURCE_WORKFLOW,
                                .command_ahead = 1,
                                .message_ahead = HF_NONE,
                                .state = HF_NONE,
                                .recorded_us = c->in->now_us};
    hf_schedule *s = c->schedule;
    hf_intake_start named = *start;
    hf_intake_refusal refusal = {0};
    int64_t command = 0;
    hf_status st;

    named.id = hf_slice_of(fired->id);
    hf_unit_fires(c->unit, s->key, c->expected, s->revision);
    st = hf_intake_start_draft(c->in, &named, row, c->unit, &fired->run, &command, &refusal, err);
    if (!st && refusal.outcome)
        st = hf_err_set(err, HF_INVALID, "%s", refusal.why);
    if (st)
        return st;
    if (fired->verdict.stops_other)
        fired->stops = s->latest_instance;
    fired->made = true;
    c->run = fired->run.base.run;
    s->fires++;
    s->latest_instance = fired->run.instance.key;
    s->last_fired_us = c->in->now_us;
    triggered_put(c, fire, &fired->verdict);
    return HF_OK;
}

static hf_status outcome_record(change *c, const hf_fire *fire, const hf_fired *fired, hf_err *err)
{
    hf_schedule *s = c->schedule;
    bool skipped = fired->verdict.outcome == HF_TRIGGER_OUTCOME_SKIPPED ||
                   fired->verdict.outcome == HF_TRIGGER_OUTCOME_BUFFER_FULL;

    if (!skipped)
        return event_add(c, HF_EVENT_SCHEDULE_TRIGGERED, triggered_value(c, fire, fired), err);
    return event_add(
        c, HF_EVENT_SCHEDULE_TRIGGER_SKIPPED,
        hf_json_(c->mem, "{'reason': %s, 'skipped_trigger_count': %lld, 'last_skipped_at': %s}",
                 hf_skip_reason_text(fired->verdict.reason), (long long)s->skipped,
                 hf_schedule_time_text(c->mem, s->last_skipped_us)),
        err);
}

/* Counters and buffers, by what came of it. */
static hf_status outcome_count(change *c, const hf_fire *fire, const hf_verdict *verdict,
                               hf_err *err)
{
    hf_schedule *s = c->schedule;

    if (fire->kind == HF_FIRE_DRAIN)
        hf_schedule_unbuffer(s);
    switch (verdict->outcome) {
    case HF_TRIGGER_OUTCOME_TRIGGERED:
    case HF_TRIGGER_OUTCOME_DRAINED:
        break;
    case HF_TRIGGER_OUTCOME_FAILED:
        s->failures++;
        break;
    case HF_TRIGGER_OUTCOME_BUFFERED:
        if (!hf_schedule_buffer(c->mem, s, fire->occurrence_us))
            return hf_err_nomem(err, "a schedule");
        break;
    case HF_TRIGGER_OUTCOME_SKIPPED:
    case HF_TRIGGER_OUTCOME_BUFFER_FULL:
        s->skipped++;
        s->last_skip = verdict->reason;
        s->last_skipped_us = c->in->now_us;
        break;
    }
    return HF_OK;
}

hf_status hf_schedule_fire_draft(const hf_intake *in, hf_schedule *s, const hf_fire *fire,
                                 bool latest_open, const hf_intake_start *start, hf_unit *unit,
                                 hf_fired *out_fired, hf_err *err)
{
    change c;
    bool over;
    hf_status st = change_begin(&c, in, s, unit, err);

    *out_fired = (hf_fired){.verdict = hf_schedule_judge(s, fire, latest_open)};
    if (st)
        return st;
    out_fired->id = instance_name(c.mem, s, fire);
    if (!out_fired->id)
        return hf_err_nomem(err, "an id");
    if (out_fired->verdict.starts && !start)
        out_fired->verdict = (hf_verdict){.outcome = HF_TRIGGER_OUTCOME_FAILED,
                                          .effective = out_fired->verdict.effective};
    if (out_fired->verdict.starts)
        st = start_add(&c, fire, start, out_fired, err);
    if (!st)
        st = outcome_count(&c, fire, &out_fired->verdict, err);
    if (!st)
        st = recent_add(&c, fire, out_fired, err);
    if (st)
        return st;
    if (fire->kind == HF_FIRE_TICK) {
        c.slot_us = s->last_slot_us = fire->occurrence_us;
        plan(&c);
    }
    over = out_fired->made && !hf_schedule_remaining(s);
    if (over)
        schedule_end(s, in->now_us);
    st = row_add(&c, out_fired->made ? hf_row_schedule_set : hf_row_schedule_move, over ? 2 : 1,
                 err);
    if (!st)
        st = outcome_record(&c, fire, out_fired, err);
    if (!st && over)
        st = deleted_add(&c, HF_SCHEDULE_DELETE_REASON_MAX_RUNS_EXHAUSTED, err);
    return st;
}
