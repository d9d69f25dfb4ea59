/* part_head.c: the head of a run's page: what it is, how it stands, what can be done to it, where
   it came from: see part.h. */
#include <string.h>

#include "base/json.h"
#include "project/edge.h"
#include "project/part_impl.h"
#include "project/why_short.h"

/* ---- actions */

/* Reasons that no list of the model has. */
static const char *own_sentence(const char *reason)
{
    static const char *const rows[][2] = {
        {"not_now", "This is an earlier moment; nothing can be done to it."},
        {"run_closed", "The run is over."},
        {"run_archived", "The run is archived already."},
        {"run_paused", "The run is paused already."},
        {"run_not_paused", "The run is not paused."},
        {"workflow_definition_unavailable", "No program or worker that is here knows its code."}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(reason, rows[i][0]) == 0)
            return rows[i][1];
    return NULL;
}

static const char *sentence_of(const char *reason)
{
    static const hf_vocab *const lists[] = {&hf_rejection_reason_list,
                                            &hf_repair_blocked_reason_list};
    const char *own = own_sentence(reason);

    for (size_t i = 0; !own && i < sizeof(lists) / sizeof(lists[0]); i++) {
        const hf_vocab_item *item = hf_vocab_by_text(lists[i], hf_slice_of(reason));

        own = item ? item->sentence : NULL;
    }
    return own;
}

/* From can_X and X_blocked_reason, which older readers have. */
static hf_value actions_make(hf_mem *mem, hf_value detail)
{
    static const char *const names[] = {"signal",    "update", "query",  "cancel",
                                        "terminate", "pause",  "resume", "repair",
                                        "archive",   "fork",   "reset"};
    hf_value_list *actions = hf_value_object(mem);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *can = hf_mem_format(mem, "can_%s", names[i]);
        const char *why = hf_mem_format(mem, "%s_blocked_reason", names[i]);
        const char *reason = why ? hf_str(detail, why, NULL) : NULL;
        bool allowed = can && hf_bool(detail, can, false);

        hf_value_put(actions, names[i],
                     hf_json_(mem, "{'allowed': %p, 'reason': %s, 'text': %s}",
                              (const void *)hf_value_bool(allowed), allowed ? NULL : reason,
                              allowed || !reason ? NULL : sentence_of(reason)));
    }
    return hf_value_finish(actions);
}

/* ---- where it came from */

static hf_value parent_make(const hf_detail_view *v)
{
    const hf_dossier_run *parent = &v->dossier.parent;
    hf_value_list *object = hf_value_object(v->mem);
    hf_ulid id;

    if (parent->key == HF_NONE)
        return hf_value_null();
    id = hf_dossier_run_id(parent);
    hf_value_put(object, "workflow_id", hf_edge_text(v->mem, parent->instance_id));
    hf_value_put(object, "run_id", hf_edge_id(v->mem, &id));
    hf_value_put(object, "workflow_type", hf_edge_text(v->mem, parent->type));
    hf_value_put(object, "step", hf_value_int(v->mem, v->dossier.parent_step));
    return hf_value_finish(object);
}

/* Who started it, as far as the command that did says. */
static hf_status starter_make(const hf_detail_view *v, hf_value *out_starter, hf_err *err)
{
    const hf_dossier_command *c = v->dossier.commands;
    hf_value body = NULL;
    hf_value context;
    hf_ulid id;
    hf_status st = HF_OK;

    while (c && (c->type != HF_COMMAND_TYPE_START || c->status != HF_COMMAND_STATUS_ACCEPTED))
        c = c->next;
    *out_starter = hf_value_null();
    if (!c)
        return HF_OK;
    if (c->body.len)
        st = hf_edge_json(v->mem, c->body, &body, err);
    if (st)
        return st;
    context = hf_value_find(body, HF_SLICE("context"));
    id = hf_ulid_form(c->recorded_us, c->key, 0);
    *out_starter = hf_json_(
        v->mem,
        "{'principal': %p, 'caller': %p, 'ip': %s, 'user_agent': %s, 'at': %p, 'command_id': %p}",
        (const void *)hf_get(context, "principal"), (const void *)hf_get(context, "caller"),
        hf_str(context, "request.ip", NULL), hf_str(context, "request.user_agent", NULL),
        (const void *)hf_edge_time(v->mem, c->recorded_us), (const void *)hf_edge_id(v->mem, &id));
    return *out_starter ? HF_OK : hf_err_nomem(err, "a command");
}

/* ---- the whole */

static hf_value counts_make(const hf_detail_view *v, const hf_liveness *live)
{
    hf_part_counts n = hf_part_count(v);

    return hf_json_(v->mem,
                    "{'events': %zu, 'commands': %lld, 'waits_open': %zu, 'activities': %lld, "
                    "'activities_open': %lld, 'timers': %lld, 'failures': %lld, 'children': %lld, "
                    "'children_open': %lld, 'updates': %lld, 'signals': %lld}",
                    v->dossier.event_count, (long long)n.commands, live->open_waits,
                    (long long)n.activities, (long long)n.activities_open, (long long)n.timers,
                    (long long)n.failures, (long long)n.children, (long long)n.children_open,
                    (long long)n.updates, (long long)n.signals);
}

/* What only the head has, over all the rest. */
static hf_status own_make(hf_detail_view *v, const hf_liveness *live, hf_value why, hf_value rest,
                          hf_value *out_own, hf_err *err)
{
    const hf_dossier *d = &v->dossier;
    hf_value starter = NULL;
    hf_sheet sh = hf_sheet_begin(&v->section, err);

    sh.st = starter_make(v, &starter, err);
    hf_sheet_text(&sh, "workflow_id", d->run.instance_id);
    hf_sheet_text(&sh, "glyph", hf_slice_of(hf_glyph(rest, why)));
    hf_sheet_field(&sh, "visibility_labels", hf_compose_started(v->compose),
                   HF_KEY_VISIBILITY_LABELS);
    hf_sheet_put(&sh, "why", why);
    hf_sheet_put(&sh, "actions", actions_make(v->mem, rest));
    hf_sheet_put(&sh, "counts", counts_make(v, live));
    hf_sheet_put(&sh, "parent", parent_make(v));
    hf_sheet_put(&sh, "started_by", starter);
    return hf_sheet_end(&sh, out_own);
}

hf_status hf_part_head(hf_detail_view *v, const hf_part_query *query, hf_value *out_part,
                       hf_err *err)
{
    hf_liveness live;
    hf_value why = NULL;
    hf_value base = NULL;
    hf_value own = NULL;
    hf_value head = NULL;
    hf_sheet sh;
    hf_status st = hf_detail_ends(v, err);

    if (!st)
        st = hf_detail_chain_read(v, err);
    if (!st)
        st = hf_detail_pass(v, err);
    if (!st)
        st = hf_detail_state(v, query->detail.world, &live, &why, err);
    if (!st)
        st = hf_section_workflow(&v->section, &base, err);
    if (st)
        return st;
    sh = hf_sheet_begin(&v->section, err);
    hf_detail_head_put(&sh, v, &query->detail, &live);
    hf_detail_chain_put(&sh, v);
    st = hf_sheet_end(&sh, &head);
    base = hf_value_merge(v->mem, base, hf_liveness_value(&live, &v->dossier, v->mem));
    base = hf_value_merge(v->mem, base, head);
    if (!st)
        st = own_make(v, &live, why, base, &own, err);
    if (st)
        return st;
    *out_part = hf_value_merge(v->mem, base, own);
    return *out_part ? HF_OK : hf_err_nomem(err, "the head of a run");
}
