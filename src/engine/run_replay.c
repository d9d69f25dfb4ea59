/* run_replay.c: hf_run_replay: the history of a run against the code of today, without any effect:
   by this program when it has the code, by a worker that has it, or by nobody, which is said; and
   hf_run_blocked: what is stored of a run that is blocked. */
#include <string.h>

#include "base/json.h"
#include "engine/ask.h"
#include "engine/call.h"
#include "engine/look.h"
#include "engine/opened.h"
#include "engine/replay_job.h"
#include "holdfast/view.h"
#include "project/dossier.h"
#include "project/edge.h"

enum { TIMEOUT_MS = 30000, REPLAYS_MAX = 2, TIMEOUT_MS_MAX = 60000 };

/* A replay under way. */
typedef struct replay {
    hf_call *call;
    hf_replay_job *job;
    hf_mem *mem; /* the job's, in which the run is */
    int64_t timeout_ms;
    hf_intake_target target; /* of a run of the store */
    hf_slice code;           /* the type whose code it has */
    hf_dossier dossier;
    const hf_event *events; /* with all values */
    hf_slice run_id;
    bool stored;
    bool left; /* the job is not ours any more */
    /* what it came to */
    const char *verdict;
    const char *reason;
    hf_value ran;
    int64_t elapsed_us;
    hf_value blocked; /* as a blocked task has it; NULL: it is not, or at its end */
    hf_replay_outcome outcome;
    const char *text;
} replay;

/* ---- the run */

static hf_status stored_read(replay *r, hf_value request, hf_err *err)
{
    hf_call *c = r->call;
    hf_ulid id;
    char text[HF_ULID_TEXT_SIZE];
    hf_status st = hf_call_aim(c, hf_look_member(request, "id"), hf_look_member(request, "run_id"),
                               &r->target, err);

    if (!st && r->target.base.run == HF_NONE)
        st = hf_err_set(err, HF_NOTFOUND, "the instance was never started");
    if (!st)
        st = hf_call_code(c, &r->target, r->mem, &r->code, err);
    if (st)
        return st;
    r->code = hf_slice_from(hf_mem_text(r->mem, r->code), r->code.len);
    hf_call_read_begin(c);
    st = hf_dossier_read(c->in.db, r->mem, r->target.base.run, &r->dossier, err);
    hf_call_read_end(c);
    if (st)
        return st;
    id = hf_dossier_run_id(&r->dossier.run);
    hf_ulid_print(&id, text);
    r->run_id = hf_slice_of(hf_mem_text(r->mem, hf_slice_of(text)));
    r->stored = true;
    r->events = r->dossier.events;
    return r->code.ptr && r->run_id.ptr ? HF_OK : hf_err_nomem(err, "a replay");
}

/* Read again, because code that does not come back keeps what it was given. */
static hf_status opened_read(replay *r, const hf_bundle_view *view, hf_err *err)
{
    hf_opened opened;
    size_t len = 0;
    const char *text = hf_bundle_view_text(view, &len);
    hf_status st = hf_opened_read(r->mem, hf_slice_from(text, len), &opened, err);

    if (st)
        return st;
    r->dossier = opened.dossier;
    r->events = opened.whole;
    r->code = opened.dossier.run.type;
    r->run_id = opened.run_id;
    return HF_OK;
}

/* ---- who replays it */

static hf_status replay_here(replay *r, const hf_registry_workflow *workflow, hf_err *err)
{
    const hf_app *app = r->call->engine->app;
    hf_replay_info info =
        hf_replay_check_info(workflow, r->dossier.run.instance_id, r->run_id, r->dossier.run.key);
    const hf_replay_verdict *v;
    hf_err why = {0};
    hf_status st = hf_replay_job_run(r->job, &info, r->events, r->dossier.event_count,
                                     r->timeout_ms, &r->left, &why);

    if (r->left || (st && st != HF_REPLAY_BLOCKED && st != HF_CORRUPT))
        return hf_err_set(err, st, "%s", why.text);
    v = hf_replay_job_verdict(r->job);
    r->verdict = !st ? "ok" : st == HF_CORRUPT ? "unreadable" : "blocked";
    r->reason = v->reason;
    r->blocked = v->blocked;
    r->text = st ? hf_mem_text(r->mem, hf_slice_of(why.text)) : NULL;
    r->elapsed_us = hf_replay_job_elapsed_us(r->job);
    r->ran = hf_json_(r->mem, "{'kind': 'program', 'build': %s}", app ? app->build_id : NULL);
    r->outcome = (hf_replay_outcome){
        .step = v->step,
        .shape = hf_slice_of(hf_str(v->blocked, "replay_blocked_expected_history_shape", "")),
        .line = hf_slice_of(v->at),
        .entered = hf_replay_job_entered(r->job),
        .line_of = hf_replay_job_line,
        .ctx = r->job};
    return r->ran ? HF_OK : hf_err_nomem(err, "a replay");
}

/* Nobody who is here has the code, or can say. */
static void replay_nowhere(replay *r, const char *text)
{
    r->verdict = "elsewhere";
    r->ran = NULL;
    r->text = text;
}

static hf_status replay_far(replay *r, hf_err *err)
{
    hf_ask_replay said;
    int64_t began_us = hf_clock_mono_us(hf_clock_system());
    hf_status st = hf_ask_replayed(r->call, &r->target, r->mem, &said, err);

    if (st)
        return st;
    if (!said.verdict) {
        replay_nowhere(r, said.why);
        return HF_OK;
    }
    r->verdict = said.verdict;
    r->blocked = said.blocked;
    r->reason = hf_str(said.blocked, "replay_blocked_reason", NULL);
    r->text = hf_str(said.blocked, "message", NULL);
    r->elapsed_us = hf_clock_mono_us(hf_clock_system()) - began_us;
    r->ran = hf_json_(r->mem, "{'kind': 'worker', 'build': null}");
    r->outcome = (hf_replay_outcome){
        .step = hf_int(said.blocked, "replay_blocked_workflow_sequence", 0),
        .shape = hf_slice_of(hf_str(said.blocked, "replay_blocked_expected_history_shape", "")),
        .line = hf_slice_of(hf_str(said.blocked, "source_line", "")),
        .entered = INT64_MAX};
    return r->ran ? HF_OK : hf_err_nomem(err, "a replay");
}

static hf_status replay_somewhere(replay *r, hf_err *err)
{
    hf_engine *engine = r->call->engine;
    const hf_registry_workflow *workflow = hf_registry_find_workflow(engine->registry, r->code);
    bool machine = hf_dossier_is_machine(&r->dossier);

    if (workflow)
        return replay_here(r, workflow, err);
    if (r->stored && !machine && engine->matching)
        return replay_far(r, err);
    replay_nowhere(r, machine     ? "the code of this machine is not in this process"
                      : r->stored ? "the code of this run is not in this process"
                                  : "the code of the run in this bundle is not in this process");
    return HF_OK;
}

/* ---- the answer */

static hf_status report_make(replay *r, hf_value *out, hf_err *err)
{
    hf_mem *mem = r->mem;
    const hf_dossier *d = &r->dossier;
    hf_value rows = hf_json_(mem, "{'rows': [], 'rows_before': 0, 'rows_after': 0}");
    hf_value ran = hf_value_null();
    hf_value step = r->outcome.step ? hf_value_int(mem, r->outcome.step) : hf_value_null();
    hf_status st = HF_OK;

    if (r->ran) {
        st = hf_replay_rows(mem, r->events, d->event_count, d->run.key, &r->outcome, &rows, err);
        ran = hf_value_merge(mem, r->ran,
                             hf_json_(mem, "{'elapsed_ms': %g}", (double)r->elapsed_us / 1000));
    }
    if (st)
        return st;
    *out = hf_value_merge(
        mem,
        hf_json_(
            mem,
            "{'workflow_id': %p, 'run_id': %p, 'workflow_type': %p, 'events': %zu, "
            "'verdict': %s, 'ran': %p, 'reason': %s, 'step': %p, 'source_line': %p, "
            "'text': %s, 'guard': %p}",
            (const void *)hf_edge_text(mem, d->run.instance_id),
            (const void *)hf_value_string(mem, r->run_id),
            (const void *)hf_edge_text(mem, d->run.type), d->event_count, r->verdict,
            (const void *)ran, r->reason, (const void *)step,
            (const void *)(r->outcome.line.len ? hf_value_string(mem, r->outcome.line)
                                               : hf_value_null()),
            r->text,
            (const void *)hf_replay_guard(mem, r->code, hf_slice_of(r->reason), r->outcome.step)),
        rows);
    return *out ? HF_OK : hf_err_nomem(err, "a report");
}

static hf_status replay_run(hf_call *c, hf_value request, const hf_bundle_view *view, hf_mem *mem,
                            hf_value *out, hf_err *err)
{
    replay r = {.call = c, .timeout_ms = hf_int(request, "timeout_ms", TIMEOUT_MS)};
    hf_value report = NULL;
    hf_status st = hf_replay_job_new(&r.job, err);

    if (st)
        return st;
    r.mem = hf_replay_job_mem(r.job);
    st = view ? opened_read(&r, view, err) : stored_read(&r, request, err);
    if (!st)
        st = replay_somewhere(&r, err);
    if (!st)
        st = report_make(&r, &report, err);
    if (!st) {
        *out = hf_value_copy(mem, report);
        st = *out ? HF_OK : hf_err_nomem(err, "a report");
    }
    if (!r.left)
        hf_replay_job_free(r.job);
    return st;
}

hf_status hf_run_replay(hf_engine *engine, hf_value request, const hf_bundle_view *view,
                        hf_mem *mem, hf_value *out)
{
    int64_t timeout_ms = hf_int(request, "timeout_ms", TIMEOUT_MS);
    hf_call c;
    hf_status st = hf_look_begin(&c, engine, request, "id run_id timeout_ms", mem, out);

    if (st)
        return st;
    if (timeout_ms < 1 || timeout_ms > TIMEOUT_MS_MAX)
        return hf_err_set(&c.slot->err, HF_INVALID, "a replay takes 1 to %d ms",
                          (int)TIMEOUT_MS_MAX);
    if (atomic_fetch_add(&engine->replays, 1) >= REPLAYS_MAX)
        st =
            hf_err_set(&c.slot->err, HF_BUSY, "%d replays are under way already", (int)REPLAYS_MAX);
    if (!st)
        st = replay_run(&c, request, view, mem, out, &c.slot->err);
    (void)atomic_fetch_sub(&engine->replays, 1);
    return st;
}
