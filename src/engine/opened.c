/* opened.c: bundles that are looked at without a store: hf_bundle_view_open and what belongs to it.
   What makes the answers is what makes those of runs in a store. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "engine/look.h"
#include "engine/opened.h"
#include "holdfast/view.h"
#include "project/bundle_verify.h"

struct hf_bundle_view {
    hf_mem *mem; /* in which it is itself */
    hf_slice text;
    hf_opened opened;
    hf_value report; /* of the check */
};

const hf_opened *hf_bundle_view_opened(const hf_bundle_view *view)
{
    return &view->opened;
}

/* ---- opening */

/* The first rule that does not hold; NULL: all do. */
static hf_value broken_find(hf_value report)
{
    hf_value findings = hf_get(report, "findings");

    for (size_t i = 0; i < hf_len(findings); i++)
        if (strcmp(hf_str(hf_at(findings, i), "severity", ""), "failed") == 0)
            return hf_at(findings, i);
    return NULL;
}

/* Whether the rule says that it is no bundle at all, and not that something happened to one. */
static bool rule_is_of_shape(const char *rule)
{
    return hf_slice_starts(hf_slice_of(rule), HF_SLICE("bundle.")) &&
           strcmp(rule, "bundle.last_history_sequence_stale") != 0;
}

/* Why a bundle cannot be opened: what is newer says so by itself; anything else is told by the
   first rule that does not hold. */
static hf_status refusal(hf_status st, hf_value report, const char *text, hf_err *err)
{
    hf_value broken = st == HF_INVALID || !st ? broken_find(report) : NULL;

    if (!broken)
        return st ? hf_err_set(err, st, "%s", text) : HF_OK;
    return hf_err_set(err, rule_is_of_shape(hf_str(broken, "rule", "")) ? HF_INVALID : HF_CORRUPT,
                      "%s (%s %s)", hf_str(broken, "message", ""), hf_str(broken, "rule", ""),
                      hf_str(broken, "path", ""));
}

static hf_status view_fill(hf_bundle_view *view, const char *text, size_t len, hf_err *err)
{
    hf_err why = {0};
    hf_status st;

    view->text = hf_slice_from(hf_mem_text(view->mem, hf_slice_from(text, len)), len);
    if (!view->text.ptr)
        return hf_err_nomem(err, "a bundle");
    st = hf_opened_read(view->mem, view->text, &view->opened, &why);
    if (st && st != HF_INVALID)
        return hf_err_set(err, st, "%s", why.text);
    if (hf_bundle_verify_text(view->mem, view->text, NULL, &view->report, err))
        return err->status;
    return refusal(st, view->report, why.text, err);
}

hf_status hf_bundle_view_open(const char *text, size_t len, hf_bundle_view **out_view, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    hf_bundle_view *view = mem ? hf_mem_alloc(mem, sizeof(*view)) : NULL;
    hf_err own = {0};
    hf_status st;

    if (out_view)
        *out_view = NULL;
    if (!view)
        st = hf_err_nomem(&own, "a bundle");
    else if (!text || !out_view)
        st = hf_err_set(&own, HF_MISUSE, "a text and a place for the view are needed");
    else {
        view->mem = mem;
        st = view_fill(view, text, len, &own);
    }
    if (st) {
        hf_mem_free(mem);
        return hf_err_set(err, st, "%s", own.text);
    }
    *out_view = view;
    return HF_OK;
}

void hf_bundle_view_close(hf_bundle_view *view)
{
    if (view)
        hf_mem_free(view->mem);
}

size_t hf_bundle_view_held(const hf_bundle_view *view)
{
    return hf_mem_held(view->mem);
}

const char *hf_bundle_view_text(const hf_bundle_view *view, size_t *out_len)
{
    *out_len = view->text.len;
    return view->text.ptr;
}

/* ---- what it is */

static bool found(hf_value report, const char *rule)
{
    hf_value findings = hf_get(report, "findings");

    for (size_t i = 0; i < hf_len(findings); i++)
        if (strcmp(hf_str(hf_at(findings, i), "rule", ""), rule) == 0)
            return true;
    return false;
}

hf_value hf_bundle_view_about(const hf_bundle_view *view, hf_mem *mem)
{
    const hf_opened *o = &view->opened;
    const char *signature = found(view->report, "integrity.signature_key_unavailable")
                                ? "not_verified"
                            : found(view->report, "integrity.ed25519_key_unavailable") ? "ed25519"
                                                                                       : "none";
    hf_value verification =
        hf_json_(mem, "{'status': %s, 'checksum': 'ok', 'signature': %s, 'findings': %p}",
                 hf_str(view->report, "status", ""), signature,
                 (const void *)hf_get(view->report, "findings"));

    return hf_json_(
        mem,
        "{'workflow_id': %p, 'run_id': %p, 'workflow_type': %p, 'events': %zu, "
        "'bytes': %zu, 'complete': %p, 'ours': %p, 'exported_at': %p, "
        "'redacted': %p, 'verification': %p}",
        (const void *)hf_value_string(mem, o->dossier.run.instance_id),
        (const void *)hf_value_string(mem, o->run_id),
        (const void *)hf_value_string(mem, o->dossier.run.type), o->dossier.event_count,
        view->text.len, (const void *)hf_value_bool(o->complete),
        (const void *)hf_value_bool(o->ours), (const void *)hf_value_string(mem, o->exported_at),
        (const void *)(o->redaction ? o->redaction : hf_value_null()), (const void *)verification);
}

/* ---- its run */

hf_status hf_bundle_view_part(const hf_bundle_view *view, hf_value request, hf_mem *mem,
                              hf_value *out, hf_err *err)
{
    const hf_why_world world = {
        .live = {.now_us = hf_clock_wall_us(hf_clock_system()), .past = true}};
    hf_detail_query query = {.opened = view ? &view->opened : NULL,
                             .at = hf_int(request, "at", INT64_MAX),
                             .limit = hf_int(request, "limit", 0),
                             .world = &world};
    hf_projection_state state;
    hf_part_query part;
    hf_mem *work;
    hf_value answer = NULL;
    hf_err why = {0};
    hf_status st;

    if (!view || !mem || !out)
        return hf_err_set(err, HF_MISUSE, "a view, memory and a place for the answer are needed");
    *out = NULL;
    work = hf_mem_new();
    st = work ? hf_look_members(request, HF_LOOK_OPENED, &why) : hf_err_nomem(&why, "an answer");
    if (!st)
        st = hf_look_part(request, &query, &part, &why);
    if (!st)
        st = hf_part_read(NULL, work, &part, &answer, &state, &why);
    if (!st && hf_value_find(answer, HF_SLICE("run_id"))) /* others make ids in another way */
        answer = hf_value_merge(work, answer,
                                hf_json_(work, "{'run_id': %p}",
                                         (const void *)hf_value_string(work, view->opened.run_id)));
    st = hf_look_give(mem, answer, st, out, work, &why);
    return st ? hf_err_set(err, st, "%s", why.text) : HF_OK;
}
