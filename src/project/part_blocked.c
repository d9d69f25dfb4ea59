/* part_blocked.c: a run whose code and history disagree, as it was stored when that was found, and
   the steps around the place: see part.h. No code is run for it. */
#include <string.h>

#include "base/json.h"
#include "project/edge.h"
#include "project/part_impl.h"
#include "project/replay_rows.h"

/* The task that is blocked; NULL: none is. */
static hf_status task_find(const hf_detail_view *v, const hf_dossier_task **out_task,
                           hf_value *out_body, hf_err *err)
{
    hf_status st = HF_OK;

    *out_task = NULL;
    for (const hf_dossier_task *t = v->now ? v->dossier.tasks : NULL; !st && t; t = t->next) {
        hf_value body = NULL;

        if (t->kind != HF_TASK_TYPE_WORKFLOW || t->status != HF_TASK_STATUS_FAILED || !t->body.len)
            continue;
        st = hf_edge_json(v->mem, t->body, &body, err);
        if (st || !hf_bool(body, "replay_blocked", false))
            continue;
        *out_task = t;
        *out_body = body;
    }
    return st;
}

/* "TimerScheduled, TimerFired" as a list. */
static hf_value types_value(hf_mem *mem, const char *text)
{
    hf_value_list *list = hf_value_array(mem);
    hf_slice rest = hf_slice_of(text);
    hf_slice word;

    while (rest.len && hf_slice_split(&rest, ',', &word))
        hf_value_append(list, hf_value_string(mem, hf_slice_trim(word)));
    return hf_value_finish(list);
}

static hf_value condition_value(hf_mem *mem, hf_value body)
{
    if (!hf_str(body, "replay_blocked_condition_wait_id", NULL))
        return hf_value_null();
    return hf_json_(
        mem,
        "{'recorded_key': %p, 'wanted_key': %p, 'recorded_fingerprint': %p, 'wanted_fingerprint': "
        "%p}",
        (const void *)hf_get(body, "replay_blocked_recorded_condition_key"),
        (const void *)hf_get(body, "replay_blocked_current_condition_key"),
        (const void *)hf_get(body, "replay_blocked_recorded_condition_definition_fingerprint"),
        (const void *)hf_get(body, "replay_blocked_current_condition_definition_fingerprint"));
}

static hf_status blocked_make(hf_detail_view *v, const hf_part_query *query,
                              const hf_dossier_task *task, hf_value body, hf_value *out_blocked,
                              hf_err *err)
{
    const hf_dossier *d = &v->dossier;
    const char *reason = hf_str(body, "replay_blocked_reason", "");
    const hf_replay_outcome outcome = {
        .step = hf_int(body, "replay_blocked_workflow_sequence", 0),
        .shape = hf_slice_of(hf_str(body, "replay_blocked_expected_history_shape", "")),
        .line = hf_slice_of(hf_str(body, "source_line", "")),
        .entered = INT64_MAX};
    char signature[HF_WHY_SIGNATURE_SIZE] = "";
    hf_liveness live;
    hf_value why = NULL;
    hf_value rows = NULL;
    hf_status st = hf_detail_pass(v, err);

    if (!st)
        st = hf_detail_state(v, query->detail.world, &live, &why, err);
    if (!st)
        st = hf_why_signature(why, d->run.type, hf_slice_of(hf_str(why, "liveness.queue", "")),
                              signature, err);
    if (!st)
        st = hf_replay_rows(v->mem, d->events, d->event_count, d->run.key, &outcome, &rows, err);
    if (st)
        return st;
    *out_blocked = hf_value_merge(
        v->mem,
        hf_json_(
            v->mem,
            "{'reason': %s, 'code': %s, 'since': %p, 'step': %lld, 'text': %p, 'source_line': "
            "%p, 'expected_shape': %p, 'recorded_events': %p, 'build': %p, 'worker': %p, "
            "'condition': %p, 'guard': %p, 'signature': %s}",
            reason, hf_str(why, "code", NULL), (const void *)hf_edge_time(v->mem, task->created_us),
            (long long)outcome.step, (const void *)hf_get(body, "message"),
            (const void *)hf_get(body, "source_line"),
            (const void *)hf_get(body, "replay_blocked_expected_history_shape"),
            (const void *)types_value(v->mem,
                                      hf_str(body, "replay_blocked_recorded_event_types", "")),
            (const void *)hf_get(body, "build"), (const void *)hf_get(body, "worker"),
            (const void *)condition_value(v->mem, body),
            (const void *)hf_replay_guard(v->mem, d->run.type, hf_slice_of(reason), outcome.step),
            signature),
        rows);
    return *out_blocked ? HF_OK : hf_err_nomem(err, "a blocked run");
}

hf_status hf_part_blocked(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                          hf_err *err)
{
    const hf_dossier_task *task = NULL;
    hf_value body = NULL;
    hf_value blocked = hf_value_null();
    hf_sheet sh;
    hf_status st = task_find(v, &task, &body, err);

    if (!st && task)
        st = blocked_make(v, query, task, body, &blocked, err);
    if (st)
        return st;
    sh = hf_sheet_begin(&v->section, err);
    hf_sheet_text(&sh, "workflow_id", v->dossier.run.instance_id);
    hf_sheet_run(&sh, "run_id", &v->dossier.run);
    hf_sheet_text(&sh, "workflow_type", v->dossier.run.type);
    hf_sheet_put(&sh, "blocked", blocked);
    return hf_sheet_end(&sh, out_part);
}
