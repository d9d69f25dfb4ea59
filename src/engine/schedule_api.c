/* schedule_api.c: the functions of holdfast.h that change schedules. Each reads the schedule,
   drafts, commits, and begins anew when somebody else was faster. Looking at them is in
   schedule_show.c. */
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "base/value.h"
#include "engine/call.h"
#include "engine/schedule.h"
#include "engine/schedule_show.h"
#include "holdfast/host.h"
#include "model/words.h"

enum { TRIES_MAX = 64, BACKFILL_MAX = 1000 };

/* ---- options */

static hf_status spec_refuse(hf_err *err, const char *what)
{
    return hf_err_set(err, HF_INVALID, "schedule: %s", what);
}

/* Every line of the text is an expression. */
static hf_value crons_value(hf_mem *mem, const char *lines)
{
    hf_value_list *list = hf_value_array(mem);
    hf_slice rest = hf_slice_of(lines);
    hf_slice line;

    while (hf_slice_split(&rest, '\n', &line))
        if (hf_slice_trim(line).len)
            hf_value_append(list, hf_value_string(mem, hf_slice_trim(line)));
    return hf_value_finish(list);
}

static hf_status intervals_value(hf_mem *mem, const hf_schedule_opts *o, hf_value *out, hf_err *err)
{
    if (o->every < 1000 || o->every % 1000 || o->offset < 0 || o->offset % 1000)
        return spec_refuse(err, "an interval and its offset are whole seconds, at least one");
    *out = hf_json_(mem, "[{'every': %lld, 'offset': %lld}]", (long long)(o->every / 1000),
                    (long long)(o->offset / 1000));
    return *out ? HF_OK : hf_err_nomem(err, "a schedule");
}

/* What people say must be text and fit. */
static hf_status words_check(const char *text, hf_err *err)
{
    hf_slice words = hf_slice_of(text);

    if (!hf_utf8_valid(words))
        return spec_refuse(err, "a note or reason is not well-formed UTF-8");
    if (words.len > HF_WORDS_MESSAGE_MAX)
        return hf_err_set(err, HF_TOOBIG, "schedule: a note or reason has at most %d bytes",
                          HF_WORDS_MESSAGE_MAX);
    return HF_OK;
}

/* Whether all that is text is text. */
static hf_status texts_check(const hf_schedule_opts *o, hf_err *err)
{
    const char *const texts[] = {o->type,  o->cron,         o->timezone, o->overlap, o->note,
                                 o->queue, o->business_key, o->labels,   o->memo,    o->attributes};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (!hf_utf8_valid(hf_slice_of(texts[i])))
            return spec_refuse(err, "an option is not well-formed UTF-8");
    return words_check(o->note, err);
}

/* The specification that the options make of the one before (NULL: none). */
static hf_status spec_make(hf_mem *mem, const hf_schedule_opts *o, hf_value before, hf_value *out,
                           hf_err *err)
{
    bool times = o->cron || o->every || o->offset;
    hf_value crons = times ? NULL : hf_get(before, "cron_expressions");
    hf_value intervals = times ? NULL : hf_get(before, "intervals");
    hf_value zone = hf_get(before, "timezone");
    hf_value_list *spec = hf_value_object(mem);
    hf_status st = texts_check(o, err);

    *out = before;
    if (st)
        return st;
    if (o->spec) {
        *out = o->spec;
        return times || o->timezone
                   ? spec_refuse(err, "give a spec, or cron, every, offset and timezone")
                   : HF_OK;
    }
    if (!times && !o->timezone)
        return before ? HF_OK : spec_refuse(err, "it needs cron, every or a spec");
    if (o->cron)
        crons = crons_value(mem, o->cron);
    if (o->every || o->offset)
        st = intervals_value(mem, o, &intervals, err);
    if (o->timezone)
        zone = hf_value_string(mem, hf_slice_of(o->timezone));
    if (crons)
        hf_value_set(spec, HF_SLICE("cron_expressions"), crons);
    if (intervals)
        hf_value_set(spec, HF_SLICE("intervals"), intervals);
    if (zone)
        hf_value_set(spec, HF_SLICE("timezone"), zone);
    *out = hf_value_finish(spec);
    return st ? st : *out ? HF_OK : hf_err_nomem(err, "a schedule");
}

static hf_status object_member(hf_mem *mem, hf_value_list *action, const char *key,
                               const char *text, hf_value before, hf_err *err)
{
    hf_value value = before;

    if (text) {
        value = hf_parse_(mem, text, strlen(text));
        if (hf_value_kind_of(value) != HF_VALUE_OBJECT)
            return hf_err_set(err, HF_INVALID, "schedule: %s: it is no JSON object", key);
    }
    if (value)
        hf_value_set(action, hf_slice_of(key), value);
    return HF_OK;
}

static void text_member(hf_mem *mem, hf_value_list *action, const char *key, const char *text,
                        hf_value before)
{
    if (text)
        hf_value_set(action, hf_slice_of(key), hf_value_string(mem, hf_slice_of(text)));
    else if (before)
        hf_value_set(action, hf_slice_of(key), before);
}

static hf_status timeout_member(hf_mem *mem, hf_value_list *action, const char *key, hf_ms timeout,
                                hf_value before, hf_err *err)
{
    if (timeout && timeout < 1000)
        return hf_err_set(err, HF_INVALID, "a workflow timeout must be at least 1 second");
    if (timeout > hf_years(100))
        return hf_err_set(err, HF_INVALID, "a workflow timeout is at most a hundred years");
    if (timeout) /* wire fields in seconds round up */
        hf_value_set(action, hf_slice_of(key), hf_value_int(mem, (timeout + 999) / 1000));
    else if (before)
        hf_value_set(action, hf_slice_of(key), before);
    return HF_OK;
}

/* What it starts, in the published form. */
static hf_status action_make(hf_mem *mem, const hf_schedule_opts *o, hf_value before, hf_value *out,
                             hf_err *err)
{
    hf_value_list *action = hf_value_object(mem);
    hf_value input = o->in ? o->in : hf_get(before, "input");
    int64_t bytes = 0;
    hf_status st;

    if (!o->type && !before)
        return spec_refuse(err, "it needs the type of a workflow");
    if (hf_value_broken(o->in, &bytes))
        return hf_err_set(err, bytes ? HF_TOOBIG : HF_INVALID, "schedule: the input is %s",
                          bytes ? "too big" : "no JSON");
    text_member(mem, action, "workflow_type", o->type, hf_get(before, "workflow_type"));
    text_member(mem, action, "task_queue", o->queue, hf_get(before, "task_queue"));
    text_member(mem, action, "business_key", o->business_key, hf_get(before, "business_key"));
    if (input)
        hf_value_set(action, HF_SLICE("input"), input);
    st = object_member(mem, action, "visibility_labels", o->labels,
                       hf_get(before, "visibility_labels"), err);
    if (!st)
        st = object_member(mem, action, "memo", o->memo, hf_get(before, "memo"), err);
    if (!st)
        st = object_member(mem, action, "search_attributes", o->attributes,
                           hf_get(before, "search_attributes"), err);
    if (!st)
        st = timeout_member(mem, action, "execution_timeout_seconds", o->execution_timeout,
                            hf_get(before, "execution_timeout_seconds"), err);
    if (!st)
        st = timeout_member(mem, action, "run_timeout_seconds", o->run_timeout,
                            hf_get(before, "run_timeout_seconds"), err);
    *out = hf_value_finish(action);
    return st ? st : *out ? HF_OK : hf_err_nomem(err, "a schedule");
}

static hf_status overlap_read(const char *text, hf_overlap_policy *policy, hf_err *err)
{
    if (text && !hf_overlap_policy_parse(hf_slice_of(text), policy))
        return hf_err_set(err, HF_INVALID, "schedule: there is no overlap policy %s", text);
    return HF_OK;
}

static hf_status numbers_read(const hf_schedule_opts *o, hf_schedule *s, hf_err *err)
{
    if (o->jitter < -1 || o->jitter > INT64_C(86400000) * 366 || o->max_runs < -1)
        return spec_refuse(err, "jitter or max_runs is out of range");
    if (o->jitter)
        s->jitter_s = o->jitter < 0 ? 0 : (o->jitter + 999) / 1000;
    if (o->max_runs)
        s->max_runs = o->max_runs < 0 ? 0 : o->max_runs;
    if (o->note)
        s->note = hf_slice_of(o->note);
    return overlap_read(o->overlap, &s->overlap, err);
}

/* ---- one change, until it is made */

/* Drafts the change of a schedule that was just read; *out_done: there is nothing to do. */
typedef hf_status change_fn(const hf_intake *in, hf_schedule *s, const void *ctx, hf_unit *unit,
                            bool *out_done, hf_err *err);

static hf_status schedule_find(hf_call *c, const char *id, hf_schedule *out_schedule,
                               int64_t *out_open)
{
    hf_err *err = &c->slot->err;
    hf_status st;

    if (!id)
        return hf_err_set(err, HF_MISUSE, "the id of a schedule is needed");
    hf_mem_reset(c->slot->scratch);
    hf_call_read_begin(c);
    st = hf_schedule_get(c->in.db, c->slot->scratch, c->in.namespace_key, hf_slice_of(id),
                         out_schedule, err);
    if (!st)
        st = hf_schedule_open_run(c->in.db, out_schedule->latest_instance, out_open, err);
    hf_call_read_end(c);
    return hf_err_because(err, st, "schedule %s", id);
}

static hf_status unit_commit(hf_call *c, hf_unit *unit, bool bare)
{
    hf_err *err = &c->slot->err;
    hf_status st = hf_unit_seal(unit, &c->slot->stager, err);

    if (!st)
        st = hf_engine_commit(c->engine, unit, err);
    if (!st && bare && !hf_unit_row_applied(unit, 0))
        st = hf_err_set(err, HF_CONFLICT, "the schedule was changed by somebody else");
    return st;
}

static hf_status schedule_change(hf_engine *engine, const char *id, change_fn *draft,
                                 const void *ctx)
{
    hf_call c;
    hf_status begun = hf_call_begin(&c, engine);
    hf_status st = begun ? begun : HF_CONFLICT;

    for (int i = 0; st == HF_CONFLICT && i < TRIES_MAX; i++) {
        hf_unit *unit = hf_unit_new(NULL, NULL);
        bool done = false;
        hf_schedule s;
        int64_t open;

        if (!unit)
            return hf_err_nomem(&c.slot->err, "a schedule");
        st = schedule_find(&c, id, &s, &open);
        hf_call_read_begin(&c);
        if (!st)
            st = draft(&c.in, &s, ctx, unit, &done, &c.slot->err);
        hf_call_read_end(&c);
        if (!st && !done)
            st = unit_commit(&c, unit, true);
        if (!st && !done)
            hf_core_notify_schedule(engine->core, s.key);
        hf_unit_free(unit);
    }
    return st;
}

static hf_status deleted_refuse(hf_err *err)
{
    return hf_err_set(err, HF_REJECTED, "schedule_deleted: the schedule is deleted");
}

hf_status hf_schedule_create_with(hf_engine *engine, const char *id, const hf_schedule_opts *o)
{
    hf_schedule s = {.status = HF_SCHEDULE_STATUS_ACTIVE, .overlap = HF_OVERLAP_POLICY_SKIP};
    hf_schedule_opts opts = {0};
    hf_unit *unit = NULL;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!id || !o)
        return hf_err_set(&c.slot->err, HF_MISUSE, "an id and options are needed");
    st = hf_options_take(&opts, sizeof(opts), o, &c.slot->err);
    if (st)
        return st;
    unit = hf_unit_new(NULL, NULL);
    if (!unit)
        return hf_err_nomem(&c.slot->err, "a schedule");
    s.id = hf_slice_of(id);
    if (opts.paused)
        s.status = HF_SCHEDULE_STATUS_PAUSED;
    st = spec_make(hf_unit_mem(unit), &opts, NULL, &s.spec, &c.slot->err);
    if (!st)
        st = action_make(hf_unit_mem(unit), &opts, NULL, &s.action, &c.slot->err);
    if (!st)
        st = numbers_read(&opts, &s, &c.slot->err);
    hf_call_read_begin(&c);
    if (!st)
        st = hf_schedule_create_draft(&c.in, &s, unit, &c.slot->err);
    hf_call_read_end(&c);
    if (!st)
        st = unit_commit(&c, unit, true);
    if (st == HF_CONFLICT)
        st = hf_err_set(&c.slot->err, HF_EXISTS, "a schedule called %s exists already", id);
    if (!st)
        hf_core_notify_schedule(engine->core, s.key);
    hf_unit_free(unit);
    return st;
}

hf_status hf_schedule_context(hf_engine *engine, hf_value context)
{
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    hf_buf_fini(&c.slot->context);
    if (!context)
        return HF_OK;
    if (hf_value_kind_of(context) != HF_VALUE_OBJECT)
        return hf_err_set(&c.slot->err, HF_INVALID, "schedule: the context must be an object");
    hf_json_write_canonical(&c.slot->context, context);
    if (hf_buf_ok(&c.slot->context))
        return HF_OK;
    hf_buf_fini(&c.slot->context);
    return hf_err_nomem(&c.slot->err, "a context");
}

static void field_note(hf_mem *mem, hf_value_list *fields, const char *name, bool changed)
{
    if (changed)
        hf_value_append(fields, hf_value_string(mem, hf_slice_of(name)));
}

static hf_status update_draft(const hf_intake *in, hf_schedule *s, const void *ctx, hf_unit *unit,
                              bool *out_done, hf_err *err)
{
    hf_schedule_opts opts = {0};
    hf_mem *mem = hf_unit_mem(unit);
    hf_schedule before = *s;
    hf_value_list *fields = hf_value_array(mem);
    hf_value list;
    hf_status st;

    if (!ctx)
        return hf_err_set(err, HF_MISUSE, "options are needed");
    if (s->status == HF_SCHEDULE_STATUS_DELETED)
        return deleted_refuse(err);
    st = hf_options_take(&opts, sizeof(opts), ctx, err);
    if (!st)
        st = spec_make(mem, &opts, before.spec, &s->spec, err);
    if (!st)
        st = action_make(mem, &opts, before.action, &s->action, err);
    if (!st)
        st = numbers_read(&opts, s, err);
    if (st)
        return st;
    field_note(mem, fields, "spec", !hf_value_equal(s->spec, before.spec));
    field_note(mem, fields, "action", !hf_value_equal(s->action, before.action));
    field_note(mem, fields, "overlap_policy", s->overlap != before.overlap);
    field_note(mem, fields, "jitter_seconds", s->jitter_s != before.jitter_s);
    field_note(mem, fields, "max_runs", s->max_runs != before.max_runs);
    field_note(mem, fields, "note", !hf_slice_equal(s->note, before.note));
    list = hf_value_finish(fields);
    if (!list)
        return hf_err_nomem(err, "a schedule");
    *out_done = hf_len(list) == 0;
    return *out_done ? HF_OK : hf_schedule_update_draft(in, s, list, unit, err);
}

hf_status hf_schedule_update_with(hf_engine *engine, const char *id, const hf_schedule_opts *o)
{
    return schedule_change(engine, id, update_draft, o);
}

static hf_status pause_draft(const hf_intake *in, hf_schedule *s, const void *ctx, hf_unit *unit,
                             bool *out_done, hf_err *err)
{
    hf_status st;

    if (s->status == HF_SCHEDULE_STATUS_DELETED)
        return deleted_refuse(err);
    st = words_check(ctx, err);
    *out_done = s->status == HF_SCHEDULE_STATUS_PAUSED;
    return st || *out_done ? st : hf_schedule_pause_draft(in, s, ctx, unit, err);
}

hf_status hf_schedule_pause(hf_engine *engine, const char *id, const char *reason)
{
    return schedule_change(engine, id, pause_draft, reason);
}

static hf_status resume_draft(const hf_intake *in, hf_schedule *s, const void *ctx, hf_unit *unit,
                              bool *out_done, hf_err *err)
{
    (void)ctx;
    if (s->status == HF_SCHEDULE_STATUS_DELETED)
        return deleted_refuse(err);
    *out_done = s->status == HF_SCHEDULE_STATUS_ACTIVE;
    return *out_done ? HF_OK : hf_schedule_resume_draft(in, s, unit, err);
}

hf_status hf_schedule_resume(hf_engine *engine, const char *id)
{
    return schedule_change(engine, id, resume_draft, NULL);
}

static hf_status delete_draft(const hf_intake *in, hf_schedule *s, const void *ctx, hf_unit *unit,
                              bool *out_done, hf_err *err)
{
    (void)ctx;
    *out_done = s->status == HF_SCHEDULE_STATUS_DELETED;
    return *out_done ? HF_OK : hf_schedule_delete_draft(in, s, unit, err);
}

hf_status hf_schedule_delete(hf_engine *engine, const char *id)
{
    return schedule_change(engine, id, delete_draft, NULL);
}

/* ---- firing by hand */

/* Fires once, whatever comes of it; what waits in the buffer goes first. */
static hf_status schedule_fire(hf_call *c, const char *id, hf_fire fire, hf_value *out)
{
    const hf_engine *engine = c->engine;
    const hf_schedule_program program = {
        .registry = engine->registry,
        .compatibility = hf_slice_of(engine->app ? engine->app->build_id : NULL),
        .app = engine->app,
        .fleet_fails = engine->settings.fleet_fails,
        .far = engine->matching != NULL};
    int64_t refused_at = 0;
    hf_status st = HF_CONFLICT;

    for (int i = 0; st == HF_CONFLICT && i < TRIES_MAX; i++) {
        hf_unit *unit = NULL;
        hf_fire now = fire;
        hf_fired fired;
        hf_schedule s;
        int64_t open = 0;
        bool drain;

        st = schedule_find(c, id, &s, &open);
        if (st)
            return st;
        if (fire.kind == HF_FIRE_BACKFILL && s.status == HF_SCHEDULE_STATUS_DELETED)
            return deleted_refuse(&c->slot->err);
        drain = s.buffered_count && !open && s.status == HF_SCHEDULE_STATUS_ACTIVE;
        if (drain)
            now = (hf_fire){.kind = HF_FIRE_DRAIN, .occurrence_us = s.buffered[0]};
        else if (fire.kind == HF_FIRE_TRIGGER && refused_at == s.revision)
            now.occurrence_us = ++fire.occurrence_us; /* fired twice within a microsecond */
        hf_call_read_begin(c);
        st = hf_schedule_fire(&c->in, &program, &s, &now, open != 0,
                              now.kind != HF_FIRE_TRIGGER && refused_at == s.revision, &unit,
                              &fired, &c->slot->err);
        hf_call_read_end(c);
        if (!st)
            st = unit_commit(c, unit, !fired.made);
        if (st == HF_CONSTRAINT)
            st = HF_CONFLICT;
        refused_at = s.revision;
        if (!st) {
            hf_core_notify_schedule(engine->core, s.key);
            hf_schedule_wake(c, &fired);
            st = drain ? HF_CONFLICT : hf_schedule_answer(c, &s, &now, &fired, out);
        }
        hf_unit_free(unit);
    }
    return st;
}

hf_status hf_schedule_trigger(hf_engine *engine, const char *id, const char *overlap, hf_value *out)
{
    hf_fire fire = {.kind = HF_FIRE_TRIGGER};
    hf_value ignored = NULL;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = overlap_read(overlap, &fire.overlap, &c.slot->err);
    if (st)
        return st;
    fire.occurrence_us = c.in.now_us;
    return schedule_fire(&c, id, fire, out ? out : &ignored);
}

hf_status hf_schedule_backfill(hf_engine *engine, const char *id, int64_t from, int64_t to,
                               const char *overlap, hf_value *out)
{
    hf_fire fire = {.kind = HF_FIRE_BACKFILL};
    hf_value ignored = NULL;
    hf_value times = NULL;
    hf_value_list *answers;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = overlap_read(overlap, &fire.overlap, &c.slot->err);
    if (!st && (from > to || to > c.in.now_us / 1000))
        st = hf_err_set(&c.slot->err, HF_INVALID,
                        "invalid_time_range: it ends before it begins, "
                        "or in the future");
    if (!st)
        st = hf_schedule_times(engine, id, from, to, BACKFILL_MAX + 1, &times);
    if (!st && hf_len(times) > BACKFILL_MAX)
        st = hf_err_set(&c.slot->err, HF_TOOBIG, "the range has more than %d times", BACKFILL_MAX);
    if (st)
        return st;
    answers = hf_value_array(c.slot->mem);
    for (size_t i = 0; !st && i < hf_len(times); i++) {
        hf_value answer = NULL;

        fire.occurrence_us = hf_int(hf_at(times, i), "", 0) * 1000;
        st = schedule_fire(&c, id, fire, &answer);
        if (!st)
            hf_value_append(answers, answer);
    }
    if (!out)
        out = &ignored;
    *out = hf_value_finish(answers);
    return st ? st : *out ? HF_OK : hf_err_nomem(&c.slot->err, "a backfill");
}
