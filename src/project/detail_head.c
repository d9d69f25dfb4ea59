/* detail_head.c: what a run is, says and promises, without its lists; and what can be done to it:
   see detail_impl.h. */

#include "model/limit.h"
#include "project/detail_impl.h"
#include "project/edge.h"
#include "project/fleet.h"
#include "project/fold.h"

/* ---- contracts */

/* Every declared target with its parameters when a contract is known. */
static hf_status targets_make(hf_detail_view *v, hf_slice names_json, hf_slice contracts_json,
                              hf_value *out_list, hf_err *err)
{
    hf_value_list *list = hf_value_array(v->mem);
    hf_value names = NULL;
    hf_value contracts = NULL;
    hf_status st = hf_edge_json(v->mem, names_json, &names, err);

    if (!st)
        st = hf_edge_json(v->mem, contracts_json, &contracts, err);
    for (size_t i = 0; !st && i < hf_len(names); i++) {
        hf_value parameters = NULL;
        const char *name = hf_str(hf_at(names, i), "", "");

        for (size_t j = 0; j < hf_len(contracts); j++)
            if (hf_slice_equal(hf_slice_of(hf_str(hf_at(contracts, j), "name", "")),
                               hf_slice_of(name)))
                parameters = hf_get(hf_at(contracts, j), "parameters");
        hf_value_append(
            list, hf_json_(v->mem, "{'name': %s, 'has_contract': %p, 'parameters': %p}", name,
                           (const void *)hf_value_bool(parameters != NULL),
                           (const void *)(parameters ? parameters
                                                     : hf_value_finish(hf_value_array(v->mem)))));
    }
    return hf_sheet_list(list, st, out_list, err);
}

static void contracts_put(hf_sheet *sh, hf_detail_view *v)
{
    const hf_definition_snapshot *def = v->dossier.definition;
    const struct {
        const char *word;
        const hf_definition_targets *targets;
    } kinds[] = {{"query", def ? &def->queries : NULL},
                 {"signal", def ? &def->signals : NULL},
                 {"update", def ? &def->updates : NULL}};
    static const char *const plural[] = {"queries", "signals", "updates"};

    for (size_t i = 0; !sh->st && i < 3; i++) {
        const hf_slice none = HF_SLICE("[]");
        hf_slice names = kinds[i].targets ? kinds[i].targets->names : none;
        hf_slice contracts = kinds[i].targets ? kinds[i].targets->contracts : none;
        hf_value value = NULL;

        sh->st = hf_edge_json(v->mem, names, &value, sh->err);
        hf_sheet_put(sh, hf_mem_format(v->mem, "declared_%s", plural[i]), value);
        if (!sh->st)
            sh->st = hf_edge_json(v->mem, contracts, &value, sh->err);
        hf_sheet_put(sh, hf_mem_format(v->mem, "declared_%s_contracts", kinds[i].word), value);
        if (!sh->st)
            sh->st = targets_make(v, names, contracts, &value, sh->err);
        hf_sheet_put(sh, hf_mem_format(v->mem, "declared_%s_targets", kinds[i].word), value);
    }
    hf_sheet_text(sh, "declared_entry_mode",
                  def ? hf_slice_of(hf_entry_mode_text(HF_ENTRY_MODE_CANONICAL)) : (hf_slice){0});
}

/* ---- code */

/* What the worker said when code and history disagreed; null: they do not. */
static hf_status findings_make(const hf_detail_view *v, hf_value *out_findings, hf_err *err)
{
    hf_value_list *list = hf_value_array(v->mem);
    hf_status st = HF_OK;

    for (const hf_dossier_task *t = v->now ? v->dossier.tasks : NULL; !st && t; t = t->next) {
        hf_value body = NULL;

        if (t->kind != HF_TASK_TYPE_WORKFLOW || t->status != HF_TASK_STATUS_FAILED || !t->body.len)
            continue;
        st = hf_edge_json(v->mem, t->body, &body, err);
        hf_value_append(list, body);
    }
    return hf_sheet_list(list, st, out_findings, err);
}

/* Whether the code that is here is the code that the run was started with. */
static void definition_put(hf_sheet *sh, const hf_detail_view *v, const hf_detail_query *q)
{
    const hf_event *started = hf_compose_started(v->compose);
    hf_value findings = NULL;
    hf_slice recorded = {0};
    bool same;

    if (started)
        (void)hf_event_text(started, HF_KEY_WORKFLOW_DEFINITION_FINGERPRINT, &recorded);
    same = recorded.len && hf_slice_equal(recorded, q->fingerprint);
    if (!sh->st)
        sh->st = findings_make(v, &findings, sh->err);
    hf_sheet_text(sh, "workflow_definition_current_fingerprint", q->fingerprint);
    hf_sheet_put(sh, "workflow_definition_matches_current",
                 q->fingerprint.ptr ? hf_value_bool(same) : hf_value_null());
    hf_sheet_text(sh, "workflow_determinism_status",
                  hf_len(findings)      ? HF_SLICE("blocked")
                  : !q->fingerprint.ptr ? HF_SLICE("unavailable")
                  : same                ? HF_SLICE("clean")
                                        : HF_SLICE("drift"));
    hf_sheet_text(sh, "workflow_determinism_source",
                  !q->fingerprint.ptr ? HF_SLICE("unavailable")
                  : same              ? HF_SLICE("live_definition")
                                      : HF_SLICE("definition_drift"));
    hf_sheet_put(sh, "workflow_determinism_findings", findings ? findings : hf_value_null());
}

/* Who may take its tasks: this process, and the workers that are there. */
static void compatibility_put(hf_sheet *sh, const hf_detail_view *v, const hf_detail_query *q)
{
    const hf_event *started = hf_compose_started(v->compose);
    hf_slice queue = v->dossier.queue;
    hf_slice marker = {0};
    bool pinned;
    bool here;
    bool served;

    if (started)
        (void)hf_event_text(started, HF_KEY_COMPATIBILITY, &marker);
    pinned = q->pins && hf_fleet_pinned(q->pins, queue, marker);
    here = pinned ? hf_slice_equal(q->build, marker)
                  : !q->own.ptr || hf_fleet_supports(q->own, marker);
    served = here || (q->fleet && (pinned ? hf_fleet_has_build(q->fleet, queue, marker)
                                          : hf_fleet_serves(q->fleet, queue, marker)));
    hf_sheet_text(sh, "compatibility_namespace", q->scope.len ? q->scope : (hf_slice){0});
    hf_sheet_put(sh, "compatibility_supported", hf_value_bool(here));
    hf_sheet_text(sh, "compatibility_reason",
                  here ? (hf_slice){0}
                       : hf_slice_of(hf_mem_format(v->mem, "this process does not support %.*s",
                                                   (int)marker.len, marker.ptr)));
    hf_sheet_put(sh, "compatibility_supported_in_fleet", hf_value_bool(served));
    hf_sheet_text(sh, "compatibility_fleet_reason",
                  served
                      ? (hf_slice){0}
                      : hf_slice_of(hf_mem_format(
                            v->mem, "no worker that is there serves queue %.*s and supports %.*s",
                            (int)queue.len, queue.ptr, (int)marker.len, marker.ptr)));
    hf_sheet_put(sh, "compatibility_fleet",
                 q->fleet ? hf_fleet_value(q->fleet, marker, v->mem)
                          : hf_value_finish(hf_value_array(v->mem)));
}

/* ---- actions */

/* Whether something can be done, or why not. */
static void action_put(hf_sheet *sh, const char *name, const char *blocked)
{
    hf_mem *mem = sh->s->mem;

    hf_sheet_put(sh, hf_mem_format(mem, "can_%s", name), hf_value_bool(!blocked));
    hf_sheet_text(sh, hf_mem_format(mem, "%s_blocked_reason", name), hf_slice_of(blocked));
}

/* Why nobody could run its code; NULL: somebody can. */
static const char *code_missing(const hf_detail_view *v, const hf_detail_query *q)
{
    const hf_why_world *world = q->world;

    return q->fingerprint.ptr || !world->knows_workflow ||
                   world->knows_workflow(world->live.ctx, v->dossier.run.type)
               ? NULL
               : "workflow_definition_unavailable";
}

static void actions_put(hf_sheet *sh, const hf_detail_view *v, const hf_detail_query *q,
                        const hf_liveness *live)
{
    const hf_dossier *d = &v->dossier;
    bool closed = d->base.closed_us != HF_NONE;
    bool paused = live->state == HF_LIVENESS_RUN_PAUSED;
    const char *not_now = v->now ? NULL : "not_now";
    const char *not_current = not_now                        ? not_now
                              : d->current.key != d->run.key ? "selected_run_not_current"
                                                             : NULL;
    const char *open = !not_current && closed ? "run_closed" : not_current;
    const char *code = code_missing(v, q);

    action_put(sh, "cancel", open);
    action_put(sh, "terminate", open);
    action_put(sh, "signal", open);
    action_put(sh, "update", open ? open : code);
    action_put(sh, "query", not_now ? not_now : code);
    action_put(sh, "archive",
               not_now                     ? not_now
               : !closed                   ? "run_not_closed"
               : d->archived_us != HF_NONE ? "run_archived"
                                           : NULL);
    action_put(sh, "pause", !open && paused ? "run_paused" : open);
    action_put(sh, "resume", !open && !paused ? "run_not_paused" : open);
    action_put(sh, "fork", v->db ? NULL : "not_now"); /* from any event that ends a step */
    action_put(sh, "reset", not_current);
    if (not_now) { /* what liveness says of a repair is about now */
        action_put(sh, "repair", not_now);
        hf_sheet_put(sh, "repair_blocked", hf_value_null());
    }
    hf_sheet_put(sh, "can_issue_terminal_commands", hf_value_bool(!open));
    hf_sheet_text(sh, "read_only_reason", hf_slice_of(open));
}

/* ---- the head */

static void budget_put(hf_sheet *sh, const hf_detail_view *v)
{
    const hf_dossier *d = &v->dossier;
    int64_t fan_out = hf_runfold_fan_out(d->events, d->event_count);
    int64_t pressure = hf_runfold_pressure(d->base.last_seq, d->base.history_bytes, fan_out);

    hf_sheet_int(sh, "history_fan_out", fan_out);
    hf_sheet_int(sh, "history_event_threshold",
                 hf_limit_get(HF_LIMIT_BUDGET_EVENT_THRESHOLD)->standard);
    hf_sheet_int(sh, "history_size_bytes_threshold",
                 hf_limit_get(HF_LIMIT_BUDGET_SIZE_BYTES_THRESHOLD)->standard);
    hf_sheet_int(sh, "history_fan_out_threshold",
                 hf_limit_get(HF_LIMIT_BUDGET_FAN_OUT_THRESHOLD)->standard);
    hf_sheet_word(sh, "history_budget_pressure", &hf_history_budget_pressure_list, pressure);
    hf_sheet_put(sh, "continue_as_new_recommended",
                 hf_value_bool(pressure == HF_HISTORY_BUDGET_PRESSURE_CONTINUE_AS_NEW_RECOMMENDED));
}

/* Timeouts are stored as the deadlines they lead to. */
static void timeout_put(hf_sheet *sh, const hf_event *started, const char *name,
                        int64_t deadline_us)
{
    hf_sheet_int(sh, name,
                 started && deadline_us != HF_NONE
                     ? (deadline_us - started->time_us + 999999) / 1000000
                     : HF_NONE);
}

/* When, by which command and why it was put away. */
static void archive_put(hf_sheet *sh, const hf_detail_view *v)
{
    const hf_event *archived = NULL;
    hf_ulid id;

    for (size_t i = v->dossier.event_count; !archived && i-- > 0;)
        if (v->dossier.events[i].type == HF_EVENT_WORKFLOW_ARCHIVED)
            archived = &v->dossier.events[i];
    hf_sheet_event_time(sh, "archived_at", archived);
    if (archived && hf_event_id(archived, HF_KEY_ARCHIVE_COMMAND_ID, &id))
        hf_sheet_id(sh, "archive_command_id", &id);
    else
        hf_sheet_put(sh, "archive_command_id", hf_value_null());
    hf_sheet_field(sh, "archive_reason", archived, HF_KEY_REASON);
}

/* Where lists have it. */
static void sort_put(hf_sheet *sh, const hf_detail_view *v)
{
    const hf_dossier *d = &v->dossier;
    hf_ulid id = hf_dossier_run_id(&d->run);
    hf_value at = hf_edge_time(v->mem, d->run.created_us);
    char text[HF_ULID_TEXT_SIZE];

    hf_ulid_print(&id, text);
    hf_sheet_put(sh, "sort_timestamp", at);
    hf_sheet_text(sh, "sort_key",
                  hf_slice_of(hf_mem_format(v->mem, "%s#%s", hf_str(at, "", ""), text)));
    hf_sheet_int(sh, "projection_schema_version", HF_RUNFOLD_VERSION);
}

void hf_detail_head_put(hf_sheet *sh, hf_detail_view *v, const hf_detail_query *q,
                        const hf_liveness *live)
{
    const hf_dossier *d = &v->dossier;
    const hf_event *started = hf_compose_started(v->compose);
    const hf_event *completed = NULL;

    for (size_t i = d->event_count; !completed && i-- > 0;)
        if (d->events[i].type == HF_EVENT_WORKFLOW_COMPLETED)
            completed = &d->events[i];
    hf_sheet_run(sh, "id", &d->run);
    hf_sheet_text(sh, "instance_id", d->run.instance_id);
    hf_sheet_run(sh, "selected_run_id", &d->run);
    hf_sheet_text(sh, "engine_source", HF_SLICE("v2"));
    hf_sheet_text(sh, "class", d->run.type);
    hf_sheet_put(sh, "is_terminal", hf_value_bool(d->base.closed_us != HF_NONE));
    hf_sheet_put(sh, "duration_ms",
                 d->base.closed_us == HF_NONE
                     ? hf_value_null()
                     : hf_value_int(v->mem, (d->base.closed_us - d->run.created_us) / 1000));
    hf_sheet_payload(sh, "arguments", started, HF_KEY_ARGUMENTS);
    hf_sheet_payload(sh, "output", completed, HF_KEY_OUTPUT);
    timeout_put(sh, started, "execution_timeout_seconds", d->execution_deadline_us);
    timeout_put(sh, started, "run_timeout_seconds", d->run_deadline_us);
    hf_sheet_time(sh, "execution_deadline_at", d->execution_deadline_us);
    hf_sheet_time(sh, "run_deadline_at", d->run_deadline_us);
    hf_sheet_int(sh, "history_event_count", d->base.last_seq);
    hf_sheet_int(sh, "history_size_bytes", d->base.history_bytes);
    hf_sheet_put(sh, "as_of_event", hf_value_int(v->mem, (int64_t)d->event_count));
    hf_sheet_put(sh, "is_now", hf_value_bool(v->now));
    definition_put(sh, v, q);
    budget_put(sh, v);
    contracts_put(sh, v);
    compatibility_put(sh, v, q);
    archive_put(sh, v);
    sort_put(sh, v);
    actions_put(sh, v, q, live);
}
