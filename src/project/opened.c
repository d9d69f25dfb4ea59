/* opened.c: see opened.h. */
#include "project/opened.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "model/vocab.h"
#include "project/bundle_read.h"
#include "project/fold.h"

/* ---- members of a bundle */

static hf_slice text_of(hf_mem *mem, hf_value object, const char *name, hf_err *err)
{
    hf_slice text = hf_value_slice(hf_value_find(object, hf_slice_of(name)));

    if (!text.ptr)
        return (hf_slice){0};
    text.ptr = hf_mem_text(mem, text);
    if (!text.ptr)
        (void)hf_err_nomem(err, "a run");
    return text;
}

static int64_t time_of(hf_value object, const char *name)
{
    int64_t us = 0;
    hf_slice text = hf_value_slice(hf_value_find(object, hf_slice_of(name)));

    return text.len && hf_clock_parse(text, &us) ? us : HF_NONE;
}

/* The number of a word; `otherwise` when the list has none. */
static int64_t word_of(hf_value object, const char *name, const hf_vocab *list, int64_t otherwise)
{
    const hf_vocab_item *item =
        hf_vocab_by_text(list, hf_value_slice(hf_value_find(object, hf_slice_of(name))));

    return item ? item->number : otherwise;
}

static int64_t count_of(hf_value object, const char *name, int64_t otherwise)
{
    int64_t number = hf_int(object, name, otherwise);

    return number >= 0 ? number : otherwise;
}

/* Which run an id names: an id of another kind names none of ours, and has the key 0. */
static void run_id_take(hf_slice text, int64_t began_us, hf_dossier_run *run)
{
    hf_ulid id;

    run->key = 0;
    run->created_us = began_us;
    if (!hf_ulid_parse(text, &id))
        return;
    run->key = hf_ulid_key(&id);
    if (began_us / 1000 != hf_ulid_time_ms(&id))
        run->created_us = hf_ulid_time_ms(&id) * 1000;
}

/* ---- commands */

/* What is stored with a command beside its columns. */
static hf_slice body_of(hf_mem *mem, hf_value command, hf_err *err)
{
    static const char *const names[] = {"context", "payload", "reason", "request_id",
                                        "validation_errors"};
    hf_mem *work = hf_mem_new_small();
    hf_value_list *body = work ? hf_value_object(work) : NULL;
    hf_buf json = {0};
    hf_slice kept = {0};

    for (size_t i = 0; body && i < sizeof(names) / sizeof(names[0]); i++) {
        hf_value value = hf_value_find(command, hf_slice_of(names[i]));

        if (value && hf_value_kind_of(value) != HF_VALUE_NULL)
            hf_value_set(body, hf_slice_of(names[i]), value);
    }
    hf_json_write(&json, body ? hf_value_finish(body) : NULL);
    if (body && hf_buf_ok(&json))
        kept = hf_slice_from(hf_mem_text(mem, hf_buf_slice(&json)), json.len);
    if (!kept.ptr)
        (void)hf_err_nomem(err, "a command");
    hf_buf_fini(&json);
    hf_mem_free(work);
    return kept;
}

static void command_take(hf_mem *mem, hf_value from, hf_dossier_command *c, hf_err *err)
{
    hf_ulid id;
    int64_t accepted_us = time_of(from, "accepted_at");

    *c = (hf_dossier_command){
        .type = word_of(from, "type", &hf_command_type_list, 0),
        .status = word_of(from, "status", &hf_command_status_list, 0),
        .outcome = word_of(from, "outcome", &hf_cmd_outcome_list, HF_NONE),
        .rejection = word_of(from, "rejection_reason", &hf_rejection_reason_list, HF_NONE),
        .scope = word_of(from, "target_scope", &hf_target_scope_list, 0),
        .source = word_of(from, "source", &hf_command_source_list, 0),
        .command_seq = count_of(from, "sequence", HF_NONE),
        .message_seq = count_of(from, "message_sequence", HF_NONE),
        .recorded_us = accepted_us != HF_NONE ? accepted_us : time_of(from, "rejected_at"),
        .applied_us = time_of(from, "applied_at"),
        .closed_us = time_of(from, "closed_at")};
    if (hf_ulid_parse(hf_value_slice(hf_value_find(from, HF_SLICE("id"))), &id))
        c->key = hf_ulid_key(&id);
    if (c->recorded_us == HF_NONE)
        c->recorded_us = 0;
    c->name = text_of(mem, from, "target_name", err);
    c->body = body_of(mem, from, err);
}

static hf_status commands_take(hf_mem *mem, hf_value list, hf_dossier *d, hf_err *err)
{
    hf_dossier_command **tail = &d->commands;

    for (size_t i = 0; !err->status && i < hf_len(list); i++) {
        hf_dossier_command *c = hf_mem_alloc(mem, sizeof(*c));

        if (!c)
            return hf_err_nomem(err, "a command");
        command_take(mem, hf_at(list, i), c, err);
        *tail = c;
        tail = &c->next;
    }
    return err->status;
}

/* ---- the definition */

/* A list of the first events, as the JSON text that a definition has; "[]" when it says none. */
static hf_slice list_of(hf_mem *mem, hf_value payload, const char *name, hf_err *err)
{
    hf_value list = hf_value_find(payload, hf_slice_of(name));
    hf_buf json = {0};
    hf_slice text = {0};

    if (hf_value_kind_of(list) != HF_VALUE_ARRAY)
        return HF_SLICE("[]");
    hf_json_write(&json, list);
    if (hf_buf_ok(&json))
        text = hf_slice_from(hf_mem_text(mem, hf_buf_slice(&json)), json.len);
    if (!text.ptr)
        (void)hf_err_nomem(err, "a definition");
    hf_buf_fini(&json);
    return text;
}

/* What the run was started with, as its start says: who shows events repeats it. */
static void definition_take(hf_mem *mem, hf_value bundle, hf_dossier *d, hf_err *err)
{
    hf_value payload = NULL;
    hf_definition_snapshot *def;

    for (size_t i = 0; !payload && i < d->event_count; i++)
        if (d->events[i].type == HF_EVENT_WORKFLOW_STARTED)
            payload =
                hf_get(hf_at(hf_value_find(bundle, HF_SLICE("history_events")), i), "payload");
    if (hf_value_kind_of(hf_value_find(payload, HF_SLICE("declared_signals"))) != HF_VALUE_ARRAY)
        return;
    def = hf_mem_alloc(mem, sizeof(*def));
    if (!def) {
        (void)hf_err_nomem(err, "a definition");
        return;
    }
    (void)snprintf(def->fingerprint, sizeof(def->fingerprint), "%s",
                   hf_str(payload, "workflow_definition_fingerprint", ""));
    def->params = HF_SLICE("null");
    def->queries.names = list_of(mem, payload, "declared_queries", err);
    def->queries.contracts = list_of(mem, payload, "declared_query_contracts", err);
    def->signals.names = list_of(mem, payload, "declared_signals", err);
    def->signals.contracts = list_of(mem, payload, "declared_signal_contracts", err);
    def->updates.names = list_of(mem, payload, "declared_updates", err);
    def->updates.contracts = list_of(mem, payload, "declared_update_contracts", err);
    d->definition = def;
}

/* ---- the run */

static void parent_take(hf_mem *mem, hf_value bundle, hf_dossier *d, hf_err *err)
{
    hf_value parents = hf_get(bundle, "links.parents");

    d->parent.key = HF_NONE;
    for (size_t i = 0; i < hf_len(parents); i++) {
        hf_value parent = hf_at(parents, i);
        hf_slice run = hf_value_slice(hf_value_find(parent, HF_SLICE("workflow_run_id")));

        if (!hf_slice_equal(hf_slice_of(hf_str(parent, "link_type", "")),
                            hf_slice_of(hf_link_type_text(HF_LINK_TYPE_CHILD_WORKFLOW))))
            continue;
        run_id_take(run, 0, &d->parent);
        d->parent.instance_id = text_of(mem, parent, "workflow_instance_id", err);
        d->parent.type = text_of(mem, parent, "workflow_type", err);
        d->parent_step = count_of(parent, "sequence", 0);
        return;
    }
}

static void base_take(hf_value bundle, hf_dossier *d)
{
    hf_value run = hf_value_find(bundle, HF_SLICE("workflow"));

    d->base = (hf_run_base){
        .run = d->run.key,
        .last_seq = (int64_t)d->event_count,
        .last_us = d->events[d->event_count - 1].time_us,
        .history_bytes = count_of(bundle, "summary.history_size_bytes", 0),
        .command_seq = count_of(run, "last_command_sequence", 0),
        .message_cursor = count_of(run, "message_cursor_position", 0),
        .status = word_of(run, "status", &hf_run_status_list, HF_RUN_STATUS_WAITING),
        .closed_reason = word_of(run, "closed_reason", &hf_closed_reason_list, HF_NONE),
        .closed_us = time_of(run, "closed_at")};
}

static hf_status dossier_take(hf_mem *keep, hf_value bundle, const hf_bundle_history *history,
                              hf_dossier *d, hf_err *err)
{
    hf_value run = hf_value_find(bundle, HF_SLICE("workflow"));
    int64_t began_us = time_of(run, "started_at");

    *d = (hf_dossier){.events = history->events,
                      .event_count = history->count,
                      .archived_us = time_of(run, "archived_at"),
                      .execution_deadline_us = time_of(run, "execution_deadline_at"),
                      .run_deadline_us = time_of(run, "run_deadline_at"),
                      .blocked = HF_RUN_BLOCKED_NOT};
    run_id_take(history->run_id, began_us != HF_NONE ? began_us : history->events[0].time_us,
                &d->run);
    d->run.instance_id = text_of(keep, run, "instance_id", err);
    d->run.type = text_of(keep, run, "workflow_type", err);
    d->run.number = count_of(run, "run_number", 1);
    d->queue = text_of(keep, run, "queue", err);
    d->business_key = text_of(keep, run, "business_key", err);
    d->current = d->run;
    base_take(bundle, d);
    parent_take(keep, bundle, d, err);
    definition_take(keep, bundle, d, err);
    return err->status ? err->status
                       : commands_take(keep, hf_value_find(bundle, HF_SLICE("commands")), d, err);
}

hf_status hf_opened_read(hf_mem *keep, hf_slice text, hf_opened *out, hf_err *err)
{
    hf_bundle_history history;
    hf_mem *work = hf_mem_new();
    hf_value bundle = NULL;
    hf_err why = {0};
    hf_status st =
        work ? hf_bundle_open(work, text, &bundle, &why) : hf_err_nomem(&why, "a bundle");

    *out = (hf_opened){0};
    if (!st)
        st = hf_bundle_history_of(keep, bundle, &history, &why);
    if (!st)
        st = dossier_take(keep, bundle, &history, &out->dossier, &why);
    if (!st)
        st = hf_runfold_thin(keep, history.events, history.count, &out->dossier.events, &why);
    if (!st) {
        out->run_id = text_of(keep, hf_get(bundle, "workflow"), "run_id", &why);
        out->exported_at = text_of(keep, bundle, "exported_at", &why);
        out->whole = history.events;
        out->complete = history.complete;
        out->ours = hf_value_kind_of(hf_get(bundle, "holdfast.stored")) == HF_VALUE_ARRAY;
        if (hf_bool(bundle, "redaction.applied", false))
            out->redaction = hf_json_(keep, "{'policy': %s, 'paths': %zu}",
                                      hf_str(bundle, "redaction.policy", NULL),
                                      hf_len(hf_get(bundle, "redaction.paths")));
        st = why.status;
    }
    hf_mem_free(work);
    return st ? hf_err_set(err, st, "%s", why.text) : HF_OK;
}

hf_status hf_opened_dossier(const hf_opened *opened, hf_mem *mem, hf_dossier *out, hf_err *err)
{
    hf_dossier_command **tail = &out->commands;

    *out = opened->dossier;
    out->events = hf_mem_array(mem, out->event_count, sizeof(*out->events));
    if (!out->events)
        return hf_err_nomem(err, "a history");
    memcpy(out->events, opened->dossier.events, out->event_count * sizeof(*out->events));
    for (const hf_dossier_command *c = opened->dossier.commands; c; c = c->next) {
        hf_dossier_command *copy = hf_mem_alloc(mem, sizeof(*copy));

        if (!copy)
            return hf_err_nomem(err, "a command");
        *copy = *c;
        *tail = copy;
        tail = &copy->next;
    }
    return HF_OK;
}
