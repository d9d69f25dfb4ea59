/* schedule_show.c: schedules as callers see them, in the published fields. It only reads. */
#include "engine/schedule_show.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/options.h"
#include "base/value.h"

enum {
    LIST_LIMIT = 50,
    LIST_MAX = 200,
    HISTORY_LIMIT = 100,
    HISTORY_MAX = 1000,
    TIMES_MAX = 10000
};

void hf_schedule_wake(hf_call *call, const hf_fired *fired)
{
    int64_t stopped = 0;

    if (!fired->made)
        return;
    hf_core_notify(call->engine->core, fired->run.base.run);
    hf_call_read_begin(call);
    if (hf_schedule_open_run(call->in.db, fired->stops, &stopped, NULL))
        stopped = 0; /* a hint only: its task is in the store */
    hf_call_read_end(call);
    if (stopped)
        hf_core_notify(call->engine->core, stopped);
}

hf_status hf_schedule_answer(hf_call *call, const hf_schedule *before, const hf_fire *fire,
                             const hf_fired *fired, hf_value *out)
{
    hf_mem *mem = call->slot->mem;
    bool buffered = fired->verdict.outcome == HF_TRIGGER_OUTCOME_BUFFERED;

    *out = hf_json_(mem,
                    "{'outcome': %s, 'reason': %s, 'workflow_id': %s, 'run_id': %s, "
                    "'buffer_depth': %lld, 'occurrence_time': %s}",
                    hf_trigger_outcome_text(fired->verdict.outcome),
                    fired->verdict.reason ? hf_skip_reason_text(fired->verdict.reason) : NULL,
                    fired->made ? fired->id : NULL,
                    fired->made ? hf_schedule_ulid_text(mem, call->in.now_us, fired->run.base.run)
                                : NULL,
                    (long long)(before->buffered_count + (buffered ? 1 : 0)),
                    hf_schedule_time_text(mem, fire->occurrence_us));
    return *out ? HF_OK : hf_err_nomem(&call->slot->err, "an answer");
}

static hf_value number_or_null(hf_mem *mem, int64_t number)
{
    return number ? hf_value_int(mem, number) : hf_value_null();
}

static hf_value buffered_value(hf_mem *mem, const hf_schedule *s)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < s->buffered_count; i++)
        hf_value_append(list, hf_json_(mem, "{'occurrence_time': %s}",
                                       hf_schedule_time_text(mem, s->buffered[i])));
    return hf_value_finish(list);
}

/* The instance that it started last; null: it never did, or long ago. */
static hf_value latest_value(hf_value recent)
{
    for (size_t i = 0; i < hf_len(recent); i++) {
        hf_value id = hf_get(hf_at(recent, i), "workflow_id");

        if (hf_value_kind_of(id) == HF_VALUE_STRING)
            return id;
    }
    return hf_value_null();
}

/* A copy in the call's arena: what was read dies with the call. */
static hf_value schedule_value(const hf_call *c, const hf_schedule *s)
{
    hf_mem *mem = c->slot->mem;
    hf_value remaining =
        s->max_runs ? hf_value_int(mem, hf_schedule_remaining(s)) : hf_value_null();
    hf_value recent = s->recent ? s->recent : hf_value_finish(hf_value_array(mem));

    return hf_json_(
        mem,
        "{'id': %s, 'schedule_id': %s, 'namespace': %s, 'status': %s, 'paused': %p, "
        "'workflow_type': %p, 'spec': %p, 'action': %p, 'overlap_policy': %s, 'note': %s, "
        "'jitter_seconds': %lld, 'max_runs': %p, 'remaining_actions': %p, 'fires_count': %lld, "
        "'failures_count': %lld, 'skipped_trigger_count': %lld, 'last_skip_reason': %s, "
        "'last_skipped_at': %s, 'last_fired_at': %s, 'next_fire_at': %s, 'paused_at': %s, "
        "'deleted_at': %s, 'latest_workflow_instance_id': %p, 'recent_actions': %p, "
        "'buffered_actions': %p, 'created_at': %s, 'updated_at': %s}",
        hf_schedule_ulid_text(mem, s->created_us, s->key), s->id.ptr, c->slot->namespace_name,
        hf_schedule_status_text(s->status),
        (const void *)hf_value_bool(s->status == HF_SCHEDULE_STATUS_PAUSED),
        (const void *)hf_get(s->action, "workflow_type"), (const void *)s->spec,
        (const void *)s->action, hf_overlap_policy_text(s->overlap),
        s->note.ptr ? hf_mem_text(mem, s->note) : NULL, (long long)s->jitter_s,
        (const void *)number_or_null(mem, s->max_runs), (const void *)remaining,
        (long long)s->fires, (long long)s->failures, (long long)s->skipped,
        s->last_skip ? hf_skip_reason_text((hf_skip_reason)s->last_skip) : NULL,
        hf_schedule_time_text(mem, s->last_skipped_us),
        hf_schedule_time_text(mem, s->last_fired_us), hf_schedule_time_text(mem, s->next_us),
        hf_schedule_time_text(mem, s->paused_us), hf_schedule_time_text(mem, s->deleted_us),
        (const void *)latest_value(recent), (const void *)recent,
        (const void *)buffered_value(mem, s), hf_schedule_time_text(mem, s->created_us),
        hf_schedule_time_text(mem, s->updated_us));
}

/* Reads the schedule of an id; the caller ends the reading. */
static hf_status show_begin(hf_call *c, hf_engine *engine, const char *id, hf_value *out,
                            hf_schedule *out_schedule)
{
    hf_status st = hf_call_begin(c, engine);

    if (st)
        return st;
    if (!id || !out)
        return hf_err_set(&c->slot->err, HF_MISUSE, "an id and a place for the answer are needed");
    *out = NULL;
    hf_mem_reset(c->slot->scratch);
    hf_call_read_begin(c);
    st = hf_schedule_get(c->in.db, c->slot->scratch, c->in.namespace_key, hf_slice_of(id),
                         out_schedule, &c->slot->err);
    if (st) {
        hf_call_read_end(c);
        return hf_err_because(&c->slot->err, st, "schedule %s", id);
    }
    return HF_OK;
}

static hf_status answer_check(hf_call *c, hf_status st, hf_value out)
{
    return st || out ? st : hf_err_nomem(&c->slot->err, "an answer");
}

hf_status hf_schedule_show(hf_engine *engine, const char *id, hf_value *out)
{
    hf_schedule s;
    hf_call c;
    hf_status st = show_begin(&c, engine, id, out, &s);

    if (st)
        return st;
    hf_call_read_end(&c);
    *out = schedule_value(&c, &s);
    return answer_check(&c, HF_OK, *out);
}

/* "1767225600000000.nightly": where a page of the list ended. */
static bool token_read(const char *token, int64_t *out_us, hf_slice *out_id)
{
    hf_slice rest = hf_slice_of(token);
    hf_slice time;

    return hf_slice_split(&rest, '.', &time) && rest.ptr && rest.len &&
           hf_slice_int(time, out_us) && (*out_id = rest, true);
}

static bool schedule_fits(const hf_schedule *s, const hf_schedule_list_opts *o)
{
    if (o->status && strcmp(o->status, hf_schedule_status_text(s->status)) != 0)
        return false;
    return !o->type || strcmp(o->type, hf_str(s->action, "workflow_type", "")) == 0;
}

static hf_status page_read(hf_call *c, const hf_schedule_list_opts *o, int64_t before_us,
                           hf_slice after, size_t limit, hf_value *out)
{
    const hf_db_value params[] = {hf_db_int(c->in.namespace_key), hf_db_int(before_us),
                                  hf_db_text(after), hf_db_int(INT64_MAX)};
    hf_mem *mem = c->slot->mem;
    hf_value_list *list = hf_value_array(mem);
    const char *token = NULL;
    hf_db_cursor *cursor = NULL;
    size_t count = 0;
    bool row = true;
    hf_schedule last = {0};
    hf_status st = hf_db_query(c->in.db, HF_STMT_SCHEDULE_LIST, params, 4, &cursor, &c->slot->err);

    while (!st && row) {
        hf_schedule s;

        st = hf_db_step(cursor, &row, &c->slot->err);
        if (st || !row)
            break;
        st = hf_schedule_row_read(cursor, c->slot->scratch, &s, &c->slot->err);
        if (st || !schedule_fits(&s, o))
            continue;
        if (count == limit) { /* there is more */
            token = hf_mem_format(mem, "%lld.%.*s", (long long)last.created_us, (int)last.id.len,
                                  last.id.ptr);
            break;
        }
        hf_value_append(list, schedule_value(c, &s));
        last = s;
        count++;
    }
    hf_db_end(cursor);
    if (st)
        return st;
    *out = hf_json_(mem, "{'schedules': %p, 'schedule_count': %zu, 'next_page_token': %s}",
                    (const void *)hf_value_finish(list), count, token);
    return HF_OK;
}

hf_status hf_schedule_list_with(hf_engine *engine, const hf_schedule_list_opts *o, hf_value *out)
{
    hf_schedule_list_opts opts = {0};
    int64_t before_us = INT64_MAX;
    hf_slice after = HF_SLICE("");
    hf_schedule_status status;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!o || !out)
        return hf_err_set(&c.slot->err, HF_MISUSE, "options and a place for the answer are needed");
    *out = NULL;
    st = hf_options_take(&opts, sizeof(opts), o, &c.slot->err);
    if (st)
        return st;
    if (opts.limit < 0 || opts.limit > LIST_MAX)
        return hf_err_set(&c.slot->err, HF_INVALID, "a page has 1 to %d schedules", LIST_MAX);
    if (opts.status && !hf_schedule_status_parse(hf_slice_of(opts.status), &status))
        return hf_err_set(&c.slot->err, HF_INVALID, "there is no status %s", opts.status);
    if (opts.after && !token_read(opts.after, &before_us, &after))
        return hf_err_set(&c.slot->err, HF_INVALID, "malformed_schedule_page_token: %s",
                          opts.after);
    hf_mem_reset(c.slot->scratch);
    hf_call_read_begin(&c);
    st = page_read(&c, &opts, before_us, after,
                   opts.limit ? (size_t)opts.limit : (size_t)LIST_LIMIT, out);
    hf_call_read_end(&c);
    return answer_check(&c, st, *out);
}

static hf_status event_append(hf_call *c, const hf_schedule *s, hf_db_cursor *row,
                              hf_value_list *list)
{
    hf_mem *mem = c->slot->mem;
    int64_t sequence = hf_db_column_int(row, 0);
    hf_event_type type = (hf_event_type)hf_db_column_int(row, 1);
    int64_t recorded_us = hf_db_column_int(row, 2);
    hf_value body = NULL;
    hf_status st = hf_json_read(mem, hf_db_column_bytes(row, 4), NULL, &body, &c->slot->err);

    if (st)
        return st;
    hf_value_append(
        list, hf_json_(mem,
                       "{'sequence': %lld, 'namespace': %s, 'schedule_id': %s, 'event_type': %s, "
                       "'recorded_at': %s, 'workflow_instance_id': %p, 'workflow_run_id': %p, "
                       "'payload': %p}",
                       (long long)sequence, c->slot->namespace_name, s->id.ptr,
                       hf_event_type_text(type), hf_schedule_time_text(mem, recorded_us),
                       (const void *)hf_get(body, "workflow_instance_id"),
                       (const void *)hf_get(body, "workflow_run_id"), (const void *)body));
    return HF_OK;
}

hf_status hf_schedule_history(hf_engine *engine, const char *id, int64_t after, int limit,
                              hf_value *out)
{
    hf_db_cursor *cursor = NULL;
    hf_value_list *list;
    hf_db_value params[3];
    int64_t wanted = limit ? limit : HISTORY_LIMIT;
    int64_t seen = 0;
    bool row = true;
    hf_schedule s;
    hf_call c;
    hf_status st = show_begin(&c, engine, id, out, &s);

    if (st)
        return st;
    list = hf_value_array(c.slot->mem);
    if (limit < 0 || limit > HISTORY_MAX || after < 0)
        st = hf_err_set(&c.slot->err, HF_INVALID, "a page has 1 to %d events, after 0 or more",
                        HISTORY_MAX);
    params[0] = hf_db_int(s.key);
    params[1] = hf_db_int(after);
    params[2] = hf_db_int(wanted);
    if (!st)
        st = hf_db_query(c.in.db, HF_STMT_SCHEDULE_EVENTS, params, 3, &cursor, &c.slot->err);
    while (!st && row) {
        st = hf_db_step(cursor, &row, &c.slot->err);
        if (!st && row) {
            after = hf_db_column_int(cursor, 0);
            seen++;
            st = event_append(&c, &s, cursor, list);
        }
    }
    hf_db_end(cursor);
    hf_call_read_end(&c);
    if (!st)
        *out = hf_json_(
            c.slot->mem, "{'schedule_id': %s, 'events': %p, 'next_cursor': %p}", s.id.ptr,
            (const void *)hf_value_finish(list),
            (const void *)(seen == wanted ? hf_value_int(c.slot->mem, after) : hf_value_null()));
    return answer_check(&c, st, *out);
}

hf_status hf_schedule_times(hf_engine *engine, const char *id, int64_t from, int64_t to, int limit,
                            hf_value *out)
{
    const hf_schedule_spec *spec = NULL;
    hf_value_list *list;
    hf_schedule_slot slot = {0};
    int64_t at_us;
    hf_schedule s;
    hf_call c;
    hf_status st = show_begin(&c, engine, id, out, &s);

    if (st)
        return st;
    hf_call_read_end(&c);
    if (limit < 1 || limit > TIMES_MAX || from < 1 || from > HF_CLOCK_WALL_US_MAX / 1000 ||
        to > HF_CLOCK_WALL_US_MAX / 1000)
        return hf_err_set(&c.slot->err, HF_INVALID,
                          "times are asked for 1 to %d at a time, from 1970 to 9999", TIMES_MAX);
    st = hf_schedule_spec_parse(c.slot->scratch, s.spec, &spec, &c.slot->err);
    if (st)
        return st;
    list = hf_value_array(c.slot->mem);
    at_us = from * 1000 - 1;
    for (int i = 0; i < limit && hf_schedule_spec_next(spec, at_us, &slot); i++) {
        if (slot.at_us > to * 1000)
            break;
        hf_value_append(list, hf_value_int(c.slot->mem, slot.at_us / 1000));
        at_us = slot.at_us;
    }
    *out = hf_value_finish(list);
    return answer_check(&c, HF_OK, *out);
}
