/* why_value.c: the catalogue of answers (why.def), and one of them as an object: code, sentence,
   subject, evidence, what would move it. What the answer is was decided in why.c. */
#include <stdio.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "project/edge.h"
#include "project/why_impl.h"
#include "project/why_text.h"

const hf_why_row hf_why_rows[HF_WHY_COUNT] = {
#define HF_WHY(enumerator, code, severity, text, action, docs)                                     \
    [enumerator] = {code, severity, text, action, docs},
#include "project/why.def"
#undef HF_WHY
};

const char *hf_why_severity_text(hf_why_severity severity)
{
    switch (severity) {
    case HF_WHY_OK:
        return "ok";
    case HF_WHY_NOTICE:
        return "notice";
    case HF_WHY_ATTENTION:
        return "attention";
    }
    return "attention";
}

static const char *answer_text(const hf_why_answer *a)
{
    int64_t now_us = a->world->live.now_us;
    const char *step =
        a->step == HF_NONE ? NULL : hf_mem_format(a->mem, "%lld", (long long)a->step);
    const char *number =
        a->number == HF_NONE ? NULL : hf_mem_format(a->mem, "%lld", (long long)a->number);
    const hf_track_step *parked =
        a->code == HF_WHY_WAITING_FOR_SIGNAL && a->live->step && a->live->step->awaited.ptr
            ? a->live->step
            : NULL;
    const hf_why_word words[] = {
        {"name", parked ? hf_why_text_choice(a->mem, parked->awaited) : a->name},
        {"detail", a->detail},
        {"queue", a->queue},
        {"step", step},
        {"attempt", number},
        {"since", a->since_us == HF_NONE ? NULL : hf_why_text_span(a->mem, now_us - a->since_us)},
        {"until", a->until_us == HF_NONE ? NULL : hf_why_text_span(a->mem, a->until_us - now_us)}};

    return hf_why_text_make(a->mem, hf_why_rows[a->code].text, words,
                            sizeof(words) / sizeof(words[0]));
}

static hf_value subject_value(const hf_why_answer *a)
{
    hf_value_list *subject = hf_value_object(a->mem);

    hf_value_set(subject, HF_SLICE("kind"),
                 hf_value_string(a->mem, hf_slice_of(a->subject ? a->subject : "run")));
    hf_value_set(subject, HF_SLICE("name"),
                 a->name ? hf_value_string(a->mem, hf_slice_of(a->name)) : hf_value_null());
    hf_value_set(subject, HF_SLICE("step"),
                 a->step != HF_NONE ? hf_value_int(a->mem, a->step) : hf_value_null());
    hf_value_set(subject, HF_SLICE("source_line"),
                 a->line ? hf_value_string(a->mem, hf_slice_of(a->line)) : hf_value_null());
    return hf_value_finish(subject);
}

static hf_value evidence_value(const hf_why_answer *a)
{
    hf_value_list *evidence = hf_value_array(a->mem);
    hf_value_list *item;

    if (a->event) {
        item = hf_value_object(a->mem);
        hf_value_set(item, HF_SLICE("event"),
                     hf_value_int(a->mem, a->event - a->dossier->events + 1));
        hf_value_append(evidence, hf_value_finish(item));
    }
    if (a->live->task) {
        hf_ulid id = hf_ulid_form(a->live->task->created_us, a->live->task->key, 0);

        item = hf_value_object(a->mem);
        hf_value_set(item, HF_SLICE("task"), hf_edge_id(a->mem, &id));
        hf_value_append(evidence, hf_value_finish(item));
    }
    return hf_value_finish(evidence);
}

static void action_add(const hf_why_answer *a, hf_value_list *next, const char *action,
                       const char *target, bool primary)
{
    hf_value_list *item = hf_value_object(a->mem);

    hf_value_set(item, HF_SLICE("action"), hf_value_string(a->mem, hf_slice_of(action)));
    if (target)
        hf_value_set(item, HF_SLICE("target"), hf_value_string(a->mem, hf_slice_of(target)));
    if (primary)
        hf_value_set(item, HF_SLICE("primary"), hf_value_bool(true));
    hf_value_append(next, hf_value_finish(item));
}

static hf_value next_value(const hf_why_answer *a)
{
    hf_value_list *next = hf_value_array(a->mem);
    const char *action = hf_why_rows[a->code].action;

    if (a->world->live.past)
        return hf_value_finish(next); /* nothing can be done about it any more */
    if (action[0] && a->live->repair_blocked != HF_REPAIR_BLOCKED_UNSUPPORTED_HISTORY)
        action_add(a, next, action, a->name, true);
    if (a->live->state != HF_LIVENESS_CLOSED)
        action_add(a, next, "cancel", NULL, false);
    return hf_value_finish(next);
}

/* Whether today's definition is the one that the run was started with: what is known of today's
   code says nothing of a run that follows another one. Null: nobody can say. */
static hf_value determinism_value(const hf_why_answer *a)
{
    const hf_why_world *world = a->world;
    hf_slice current = {0};

    if (world->fingerprint)
        current = world->fingerprint(world->live.ctx, a->dossier->run.type);
    if (!current.ptr || !a->dossier->definition)
        return hf_value_null();
    return hf_value_string(a->mem,
                           hf_slice_equal(current, hf_slice_of(a->dossier->definition->fingerprint))
                               ? HF_SLICE("live_definition")
                               : HF_SLICE("definition_drift"));
}

hf_status hf_why_answer_value(const hf_why_answer *a, hf_value *out_why, hf_err *err)
{
    const hf_why_row *row = &hf_why_rows[a->code];
    const char *text = answer_text(a);
    hf_value_list *why = hf_value_object(a->mem);
    hf_ulid id = hf_dossier_run_id(&a->dossier->run);

    if (!text)
        return hf_err_nomem(err, "an answer");
    hf_value_set(why, HF_SLICE("code"), hf_value_string(a->mem, hf_slice_of(row->code)));
    hf_value_set(why, HF_SLICE("severity"),
                 hf_value_string(a->mem, hf_slice_of(hf_why_severity_text(row->severity))));
    hf_value_set(why, HF_SLICE("text"), hf_value_string(a->mem, hf_slice_of(text)));
    hf_value_set(why, HF_SLICE("since"), hf_edge_time(a->mem, a->since_us));
    hf_value_set(why, HF_SLICE("until"), hf_edge_time(a->mem, a->until_us));
    hf_value_set(why, HF_SLICE("subject"), subject_value(a));
    hf_value_set(why, HF_SLICE("evidence"), evidence_value(a));
    hf_value_set(why, HF_SLICE("next"), next_value(a));
    hf_value_set(why, HF_SLICE("instance_id"), hf_edge_text(a->mem, a->dossier->run.instance_id));
    hf_value_set(why, HF_SLICE("run_id"), hf_edge_id(a->mem, &id));
    hf_value_set(why, HF_SLICE("as_of_event"),
                 hf_value_int(a->mem, (int64_t)a->dossier->event_count));
    hf_value_set(why, HF_SLICE("workflow_determinism_source"), determinism_value(a));
    hf_value_set(why, HF_SLICE("liveness"), hf_liveness_value(a->live, a->dossier, a->mem));
    *out_why = hf_value_finish(why);
    return *out_why ? HF_OK : hf_err_nomem(err, "an answer");
}

hf_status hf_why_signature(hf_value why, hf_slice type, hf_slice queue,
                           char out_text[HF_WHY_SIGNATURE_SIZE], hf_err *err)
{
    uint8_t digest[HF_SHA256_BYTES];
    char text[HF_SHA256_TEXT_SIZE];
    hf_sha256 *sha = NULL;
    hf_buf whole = {0};
    hf_status st = hf_sha256_new(&sha, err);

    hf_buf_add_format(&whole, "%s|%.*s|%.*s|%s", hf_str(why, "code", ""), (int)type.len, type.ptr,
                      (int)queue.len, queue.ptr ? queue.ptr : "", hf_str(why, "subject.name", ""));
    if (!st && !hf_buf_ok(&whole))
        st = hf_err_nomem(err, "a signature");
    if (!st)
        st = hf_sha256_digest(sha, hf_buf_slice(&whole), digest, err);
    if (!st) {
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), text);
        (void)snprintf(out_text, HF_WHY_SIGNATURE_SIZE, "%.16s", text);
    }
    hf_buf_fini(&whole);
    hf_sha256_free(sha);
    return st;
}
