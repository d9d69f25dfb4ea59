/* cmd_look.c: the verbs that look at one run: show, watch, result, history. They change nothing. */
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"
#include "cli/follow.h"
#include "cli/noun.h"
#include "cli/rows.h"
#include "cli/show.h"
#include "cli/target.h"
#include "cli/tree.h"
#include "holdfast/view.h"

enum { TREE_TICK_MS = 2000 };

/* ---- show and result */

static hf_status look_open(hf_cli_call *call, hf_cli_target **out_target, hf_cli_aim *out_aim,
                           hf_err *err)
{
    hf_status st = hf_cli_target_open(call, false, out_target, err);

    return st ? st : hf_cli_target_aim(*out_target, call->args[0], out_aim, err);
}

static const hf_cli_column run_columns[] = {{"workflow_id", 26, false},
                                            {"workflow_type", 16, false},
                                            {"status", 10, false},
                                            {"started_at", 27, false},
                                            {"closed_at", 27, false},
                                            {"run_id", 0, false},
                                            {NULL, 0, false}};

static hf_status run_print(hf_cli_call *call, hf_value run, hf_err *err)
{
    if (call->print.format == HF_CLI_TABLE || call->print.format == HF_CLI_WIDE)
        return hf_cli_show_run(call, run, err);
    return hf_cli_thing_print(call, run_columns, run, err);
}

/* One step: what it waits for, the activity behind it, and its events. */
static hf_status step_print(hf_cli_target *target, hf_value run, int64_t step, hf_err *err)
{
    hf_cli_call *call = hf_cli_target_call(target);
    const hf_cli_aim aim = {.id = hf_str(run, "workflow_id", ""),
                            .run_id = hf_str(run, "run_id", "")};
    hf_value wait = hf_cli_show_find(run, step);
    hf_value_list *events = hf_value_array(call->mem);
    int64_t after = 0;
    hf_value whole;
    hf_status st = HF_OK;
    bool more = true;

    if (!wait) {
        call->next = "holdfast help {verb}";
        return hf_err_set(err, HF_NOTFOUND, "%s has no step %lld", aim.id, (long long)step);
    }
    while (!st && more) {
        hf_value page = NULL;
        hf_value items;

        st = hf_cli_target_history(target, &aim, after, call->mem, &page, err);
        items = hf_get(page, "events");
        for (size_t i = 0; !st && i < hf_len(items); i++) {
            if (hf_int(hf_at(items, i), "payload.sequence", -1) == step)
                hf_value_append(events, hf_at(items, i));
            after = hf_int(hf_at(items, i), "sequence", after);
        }
        more = hf_len(items) > 0 && after < hf_int(page, "last_sequence", 0);
    }
    if (st)
        return st;
    whole = hf_json_(call->mem,
                     "{'workflow_id': %s, 'run_id': %s, 'step': %lld, 'wait': %p, 'activity': %p, "
                     "'events': %p}",
                     aim.id, aim.run_id, (long long)step, (const void *)wait,
                     hf_cli_show_activity(run, wait) ? (const void *)hf_cli_show_activity(run, wait)
                                                     : (const void *)hf_value_null(),
                     (const void *)hf_value_finish(events));
    if (call->print.format == HF_CLI_TABLE || call->print.format == HF_CLI_WIDE) {
        hf_cli_show_step(call, run, wait, true);
        (void)fputc('\n', call->print.out);
    }
    return whole ? hf_cli_thing_print(call, run_columns, whole, err) : hf_err_nomem(err, "a step");
}

hf_status hf_cli_show(hf_cli_call *call, hf_err *err)
{
    hf_cli_target *target = NULL;
    hf_value run = NULL;
    hf_cli_aim aim = {0};
    int64_t step = 0;
    hf_status st = hf_cli_count(call, HF_CLI_FLAG_STEP, 0, &step, err);

    if (st)
        return st;
    if (call->flags[HF_CLI_FLAG_WATCH])
        return hf_cli_watch(call, err);
    st = look_open(call, &target, &aim, err);
    if (!st)
        st = hf_cli_target_run(target, &aim, call->mem, &run, err);
    if (!st)
        st = step ? step_print(target, run, step, err) : run_print(call, run, err);
    hf_cli_target_close(target);
    return st;
}

hf_status hf_cli_result(hf_cli_call *call, hf_err *err)
{
    hf_cli_target *target = NULL;
    hf_cli_aim aim = {0};
    int64_t timeout_ms = -1;
    hf_status st = hf_cli_timeout(call, &timeout_ms, err);

    if (!st)
        st = look_open(call, &target, &aim, err);
    if (!st)
        st = hf_cli_follow(target, &aim, timeout_ms, NULL, NULL, err);
    if (!st)
        st = hf_cli_end_print(target, &aim, err);
    hf_cli_target_close(target);
    return st;
}

/* ---- watch */

typedef struct watch_job {
    hf_cli_call *call;
    hf_cli_target *target;
    const hf_cli_aim *aim;
    bool redraw;     /* on a terminal the newest picture takes the place of the one before */
    int lines;       /* of that one */
    hf_mem *scratch; /* of one picture */
} watch_job;

static bool is_table(const hf_cli_call *call)
{
    return call->print.format == HF_CLI_TABLE || call->print.format == HF_CLI_WIDE;
}

/* The run and its steps, or the tree of them. */
static hf_status picture_print(watch_job *job, hf_value run, hf_err *err)
{
    hf_cli_call *call = job->call;
    int below = 0;
    hf_status st = HF_OK;

    if (job->redraw && job->lines)
        (void)fprintf(call->print.out, "\033[%dA\033[J", job->lines);
    job->lines = hf_cli_show_head(call, run);
    if (call->flags[HF_CLI_FLAG_TREE])
        st = hf_cli_tree_print(job->target, run, &below, err);
    else if (job->redraw || hf_bool(run, "is_terminal", false))
        below = hf_cli_show_steps(call, run);
    job->lines += below;
    return st;
}

static hf_status watch_changed(void *ctx, hf_value row, hf_err *err)
{
    watch_job *job = ctx;
    hf_cli_call *call = job->call;
    hf_mem *kept = call->mem;
    hf_value run = NULL;
    hf_status st;

    if (is_table(call)) {
        hf_mem_reset(job->scratch); /* somebody may watch for days */
        call->mem = job->scratch;
        st = hf_cli_target_run(job->target, job->aim, call->mem, &run, err);
        if (!st)
            st = picture_print(job, run, err);
        call->mem = kept;
    } else {
        st = hf_cli_thing_print(call, run_columns, row, err);
    }
    return st ? st : hf_cli_print_flush(&call->print, err);
}

/* Until it is closed. What children do is no event of their parent: a tree on a terminal is drawn
   anew from time to time. */
static hf_status watch_follow(watch_job *job, int64_t timeout_ms, hf_err *err)
{
    bool ticks = job->redraw && job->call->flags[HF_CLI_FLAG_TREE];
    hf_status st = HF_TIMEOUT;

    while (st == HF_TIMEOUT) {
        bool last = !ticks || (timeout_ms >= 0 && timeout_ms <= TREE_TICK_MS);

        st = hf_cli_follow(job->target, job->aim, last ? timeout_ms : TREE_TICK_MS, watch_changed,
                           job, err);
        if (last)
            break;
        if (timeout_ms >= 0)
            timeout_ms -= TREE_TICK_MS;
    }
    return st;
}

hf_status hf_cli_watch(hf_cli_call *call, hf_err *err)
{
    hf_cli_aim aim = {0};
    watch_job job = {.call = call, .aim = &aim, .redraw = isatty(fileno(call->print.out)) == 1};
    int64_t timeout_ms = -1;
    hf_status st = hf_cli_timeout(call, &timeout_ms, err);

    if (!st)
        st = look_open(call, &job.target, &aim, err);
    if (call->print.format == HF_CLI_JSON)
        call->print.format = HF_CLI_JSONL; /* what has no end yet is no JSON text */
    job.scratch = hf_mem_new();
    if (!st && !job.scratch)
        st = hf_err_nomem(err, "a picture");
    if (!st)
        st = watch_follow(&job, timeout_ms, err);
    if (!st)
        st = hf_cli_end_print(job.target, &aim, err);
    hf_cli_target_close(job.target);
    hf_mem_free(job.scratch);
    return st;
}

/* ---- history */

static const hf_cli_column event_columns[] = {{"sequence", 8, false},
                                              {"recorded_at", 27, false},
                                              {"type", 26, false},
                                              {"about", 0, false},
                                              {NULL, 0, false}};

typedef struct history_job {
    hf_cli_call *call;
    hf_cli_target *target;
    hf_cli_aim aim;
    int64_t after;         /* printed so far */
    hf_value_list *events; /* json */
} history_job;

/* The first word of a type: "Activity" of ActivityStarted. */
static hf_slice family_of(const char *type)
{
    return hf_slice_from(type, 1 + strcspn(type + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
}

static bool family_is_new(size_t i)
{
    hf_slice family = family_of(hf_event_type_at(i));

    for (size_t j = 0; j < i; j++)
        if (hf_slice_equal(family_of(hf_event_type_at(j)), family))
            return false;
    return true;
}

/* Types that begin as the unknown one does, or the beginnings that there are. */
static hf_status kind_unknown(hf_slice kind, hf_err *err)
{
    hf_buf known = {0};
    const char *type;
    bool related;
    hf_status st;

    for (size_t i = 0; (type = hf_event_type_at(i)); i++)
        if (hf_slice_starts(kind, family_of(type)))
            hf_buf_add_format(&known, "%s%s", known.len ? ", " : "", type);
    related = known.len > 0;
    for (size_t i = 0; !related && (type = hf_event_type_at(i)); i++)
        if (family_is_new(i))
            hf_buf_add_format(&known, "%s%.*s...", known.len ? ", " : "", (int)family_of(type).len,
                              type);
    st = hf_buf_ok(&known)
             ? hf_err_set(err, HF_INVALID, "there is no event type %.*s; there are %.*s",
                          (int)kind.len, kind.ptr, (int)known.len, known.ptr)
             : hf_err_nomem(err, "the types of events");
    hf_buf_fini(&known);
    return st;
}

static hf_status kinds_check(const hf_cli_call *call, hf_err *err)
{
    hf_slice rest = hf_slice_of(call->flags[HF_CLI_FLAG_KINDS]);
    hf_slice kind;
    hf_status st = HF_OK;

    while (!st && hf_slice_split(&rest, ',', &kind)) {
        const char *type = NULL;

        kind = hf_slice_trim(kind);
        for (size_t i = 0; (type = hf_event_type_at(i)) && !hf_slice_equal(kind, hf_slice_of(type));
             i++)
            ;
        st = type ? HF_OK : kind_unknown(kind, err);
    }
    return st;
}

static bool event_wanted(const hf_cli_call *call, hf_value event)
{
    hf_slice rest = hf_slice_of(call->flags[HF_CLI_FLAG_KINDS]);
    hf_slice kind;

    if (!call->flags[HF_CLI_FLAG_KINDS])
        return true;
    while (hf_slice_split(&rest, ',', &kind))
        if (hf_slice_equal(hf_slice_trim(kind), hf_slice_of(hf_str(event, "type", ""))))
            return true;
    return false;
}

static hf_status event_print(history_job *job, hf_mem *mem, hf_value event, hf_err *err)
{
    hf_cli_call *call = job->call;

    if (!event_wanted(call, event))
        return HF_OK;
    if (call->print.format == HF_CLI_JSON) {
        hf_value_append(job->events, hf_value_copy(call->mem, event));
        return HF_OK;
    }
    if (call->print.format == HF_CLI_JSONL)
        return hf_cli_print_value(call->print.out, event, err);
    return hf_cli_print_row(
        &call->print, event_columns,
        hf_json_(mem, "{'sequence': %p, 'recorded_at': %p, 'type': %p, 'about': %s}",
                 (const void *)hf_get(event, "sequence"),
                 (const void *)hf_get(event, "recorded_at"), (const void *)hf_get(event, "type"),
                 hf_cli_show_event(mem, event)),
        err);
}

/* Everything that is there now behind what was printed. */
static hf_status events_print(history_job *job, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    bool more = true;
    hf_status st = mem ? HF_OK : hf_err_nomem(err, "a history");

    while (!st && more) {
        hf_value page = NULL;
        hf_value events;

        hf_mem_reset(mem);
        st = hf_cli_target_history(job->target, &job->aim, job->after, mem, &page, err);
        events = hf_get(page, "events");
        for (size_t i = 0; !st && i < hf_len(events); i++) {
            st = event_print(job, mem, hf_at(events, i), err);
            job->after = hf_int(hf_at(events, i), "sequence", job->after);
        }
        more = hf_len(events) > 0 && job->after < hf_int(page, "last_sequence", 0);
    }
    hf_mem_free(mem);
    return st ? st : hf_cli_print_flush(&job->call->print, err);
}

static hf_status history_changed(void *ctx, hf_value row, hf_err *err)
{
    (void)row;
    return events_print(ctx, err);
}

/* Events belong to a run: the newest, when none is named. */
static hf_status history_aim(history_job *job, hf_err *err)
{
    hf_value row = NULL;
    hf_status st = HF_OK;

    if (!job->aim.run_id)
        st = hf_cli_target_row(job->target, job->aim.id, job->call->mem, &row, err);
    if (!st && row)
        job->aim.run_id = hf_str(row, "run_id", "");
    return st;
}

static hf_status history_print(history_job *job, hf_err *err)
{
    hf_cli_call *call = job->call;
    bool follow = call->flags[HF_CLI_FLAG_FOLLOW] != NULL;
    int64_t timeout_ms = -1;
    hf_status st = hf_cli_timeout(call, &timeout_ms, err);

    if (follow && call->flags[HF_CLI_FLAG_AT])
        return hf_err_set(err, HF_INVALID, "--at is about a moment that is over: nothing follows");
    if (follow && call->print.format == HF_CLI_JSON)
        call->print.format = HF_CLI_JSONL; /* what has no end yet is no JSON text */
    if (!st)
        st = history_aim(job, err);
    if (!st && follow)
        st = hf_cli_follow(job->target, &job->aim, timeout_ms, history_changed, job, err);
    else if (!st)
        st = events_print(job, err);
    if (st || call->print.format != HF_CLI_JSON)
        return st;
    return hf_cli_print_value(
        call->print.out,
        hf_json_(call->mem,
                 "{'workflow_id': %s, 'run_id': %s, 'events': %p, 'last_sequence': %lld}",
                 job->aim.id, job->aim.run_id, (const void *)hf_value_finish(job->events),
                 (long long)job->after),
        err);
}

hf_status hf_cli_history(hf_cli_call *call, hf_err *err)
{
    history_job job = {.call = call, .events = hf_value_array(call->mem)};
    const char *after = call->flags[HF_CLI_FLAG_AFTER];
    hf_status st;

    if (after && (!hf_slice_int(hf_slice_of(after), &job.after) || job.after < 0))
        return hf_err_set(err, HF_INVALID, "--after takes the number of an event");
    st = kinds_check(call, err);
    if (!st)
        st = look_open(call, &job.target, &job.aim, err);
    if (!st)
        st = history_print(&job, err);
    hf_cli_target_close(job.target);
    return st;
}
