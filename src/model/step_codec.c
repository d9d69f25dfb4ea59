/* step_codec.c: see step_codec.h. */
#include "model/step_codec.h"

#include <string.h>

#include "base/value.h"
#include "model/decision_codec.h"
#include "model/envelope.h"
#include "model/member.h"
#include "model/name.h"

#define AFTER_MAX_US (INT64_C(101) * 366 * 24 * 3600 * 1000000)

/* ---- what a step sees */

static hf_status stored_set(hf_mem *mem, hf_value_list *object, const char *name,
                            const hf_decision_payload *payload, hf_err *err)
{
    hf_payload_codec codec = payload->codec ? payload->codec : HF_PAYLOAD_CODEC_JSON;
    const hf_decision_payload stored = {.codec = codec, .bytes = payload->bytes};
    hf_value value = NULL;
    hf_status st = hf_envelope_write(mem, &stored, codec, &value, err);

    if (!st)
        hf_value_set(object, hf_slice_of(name), value);
    return st;
}

static hf_status signal_write(hf_mem *mem, const hf_step_message *signal, hf_value_list *list,
                              hf_err *err)
{
    hf_value_list *object = hf_value_object(mem);
    hf_status st = stored_set(mem, object, "arguments", &signal->arguments, err);

    hf_member_int_set(mem, object, "seq", signal->seq);
    hf_member_text_set(mem, object, "id", hf_slice_of(signal->id));
    hf_member_text_set(mem, object, "name", signal->name);
    hf_value_set(object, HF_SLICE("awaited"), hf_value_bool(signal->awaited));
    hf_value_append(list, hf_value_finish(object));
    return st;
}

static hf_status child_write(hf_mem *mem, const hf_step_child *child, hf_value_list *list,
                             hf_err *err)
{
    hf_value_list *object = hf_value_object(mem);
    hf_status st = stored_set(mem, object, "result", &child->result, err);

    hf_member_text_set(mem, object, "id", child->id);
    hf_member_text_set(mem, object, "type", child->type);
    hf_member_text_set(mem, object, "status", child->status);
    hf_member_text_set(mem, object, "failure_type", child->failure_type);
    hf_member_text_set(mem, object, "message", child->message);
    hf_value_append(list, hf_value_finish(object));
    return st;
}

hf_status hf_step_work_write(hf_mem *mem, const hf_step_work *work, hf_value *out_value,
                             hf_err *err)
{
    hf_value_list *object = hf_value_object(mem);
    hf_value_list *signals = hf_value_array(mem);
    hf_value_list *children = hf_value_array(mem);
    hf_status st = stored_set(mem, object, "state", &work->state, err);

    for (size_t i = 0; !st && i < work->signal_count; i++)
        st = signal_write(mem, &work->signals[i], signals, err);
    for (size_t i = 0; !st && i < work->child_count; i++)
        st = child_write(mem, &work->children[i], children, err);
    hf_member_int_set(mem, object, "number", work->number);
    hf_member_int_set(mem, object, "entry", work->entry);
    hf_member_int_set(mem, object, "attempt", work->attempt);
    hf_member_text_set(mem, object, "name", work->name);
    hf_value_set(object, HF_SLICE("timed_out"), hf_value_bool(work->timed_out));
    hf_value_set(object, HF_SLICE("signals"), hf_value_finish(signals));
    hf_value_set(object, HF_SLICE("children"), hf_value_finish(children));
    *out_value = st ? NULL : hf_value_finish(object);
    return st ? st : *out_value ? HF_OK : hf_err_nomem(err, "a step");
}

static hf_status signal_read(hf_mem *mem, hf_value value, hf_step_message *out, hf_err *err)
{
    const char *id = hf_str(value, "id", "");

    *out = (hf_step_message){.seq = hf_int(value, "seq", 0),
                             .name = hf_slice_of(hf_str(value, "name", "")),
                             .awaited = hf_bool(value, "awaited", false)};
    if (strlen(id) < sizeof(out->id))
        memcpy(out->id, id, strlen(id) + 1);
    return hf_envelope_read(mem, hf_get(value, "arguments"), (hf_slice){0}, &out->arguments, err);
}

static hf_status child_read(hf_mem *mem, hf_value value, hf_step_child *out, hf_err *err)
{
    hf_status st;

    *out = (hf_step_child){.id = hf_slice_of(hf_str(value, "id", "")),
                           .type = hf_slice_of(hf_str(value, "type", "")),
                           .status = hf_slice_of(hf_str(value, "status", ""))};
    st = hf_member_text(value, "failure_type", &out->failure_type, err);
    if (!st)
        st = hf_member_text(value, "message", &out->message, err);
    return st ? st
              : hf_envelope_read(mem, hf_get(value, "result"), (hf_slice){0}, &out->result, err);
}

hf_status hf_step_work_read(hf_mem *mem, hf_value value, hf_step_work *out_work, hf_err *err)
{
    hf_value signals = hf_get(value, "signals");
    hf_value children = hf_get(value, "children");
    hf_status st;

    *out_work = (hf_step_work){.number = hf_int(value, "number", 0),
                               .entry = hf_int(value, "entry", 0),
                               .attempt = hf_int(value, "attempt", 1),
                               .name = hf_slice_of(hf_str(value, "name", "")),
                               .timed_out = hf_bool(value, "timed_out", false),
                               .signal_count = hf_len(signals),
                               .child_count = hf_len(children)};
    out_work->signals = hf_mem_array(mem, out_work->signal_count + 1, sizeof(hf_step_message));
    out_work->children = hf_mem_array(mem, out_work->child_count + 1, sizeof(hf_step_child));
    if (!out_work->signals || !out_work->children)
        return hf_err_nomem(err, "a step");
    st = hf_envelope_read(mem, hf_get(value, "state"), (hf_slice){0}, &out_work->state, err);
    for (size_t i = 0; !st && i < out_work->signal_count; i++)
        st = signal_read(mem, hf_at(signals, i), &out_work->signals[i], err);
    for (size_t i = 0; !st && i < out_work->child_count; i++)
        st = child_read(mem, hf_at(children, i), &out_work->children[i], err);
    return st;
}

/* ---- how it ended */

static hf_status children_write(hf_mem *mem, const hf_step_end *end, hf_value_list *object,
                                hf_err *err)
{
    hf_decision_row *rows = hf_mem_array(mem, end->start_count + 1, sizeof(*rows));
    hf_value list = NULL;
    hf_status st;

    if (!rows)
        return hf_err_nomem(err, "the end of a step");
    for (size_t i = 0; i < end->start_count; i++)
        rows[i] = (hf_decision_row){.kind = HF_DECISION_START_CHILD_WORKFLOW,
                                    .at = end->starts[i].at,
                                    .name = end->starts[i].type,
                                    .value = end->starts[i].input,
                                    .child = end->starts[i].options};
    st = hf_decisions_write(mem, rows, end->start_count, &list, err);
    if (!st)
        hf_value_set(object, HF_SLICE("children"), list);
    return st;
}

static void names_write(hf_mem *mem, const hf_step_end *end, hf_value_list *object)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < end->name_count; i++)
        hf_value_append(list, hf_value_string(mem, end->names[i]));
    hf_value_set(object, HF_SLICE("names"), hf_value_finish(list));
}

hf_status hf_step_end_write(hf_mem *mem, const hf_step_end *end, hf_value *out_value, hf_err *err)
{
    hf_value_list *object = hf_value_object(mem);
    hf_status st = hf_member_payload_set(mem, object, "state", &end->state, err);

    if (!st)
        st = hf_member_payload_set(mem, object, "result", &end->result, err);
    if (!st && end->outcome == HF_STEP_OUTCOME_FAN_OUT)
        st = children_write(mem, end, object, err);
    if (end->outcome == HF_STEP_OUTCOME_PARK)
        names_write(mem, end, object);
    hf_member_int_set(mem, object, "number", end->number);
    hf_member_text_set(mem, object, "name", end->name);
    hf_member_text_set(mem, object, "outcome", hf_slice_of(hf_step_outcome_text(end->outcome)));
    hf_value_set(object, HF_SLICE("handled"), hf_value_bool(end->handled));
    hf_member_text_set(mem, object, "at", hf_slice_of(end->at));
    hf_member_text_set(mem, object, "next", end->next);
    hf_member_int_set(mem, object, "after_us", end->after_us);
    hf_member_text_set(mem, object, "failure_type", end->failure_type);
    hf_member_text_set(mem, object, "message", end->message);
    hf_member_text_set(mem, object, "concurrency_key", end->concurrency_key);
    hf_member_text_set(mem, object, "rate_limit", end->rate_limit);
    hf_member_int_set(mem, object, "weight", end->weight);
    *out_value = st ? NULL : hf_value_finish(object);
    return st ? st : *out_value ? HF_OK : hf_err_nomem(err, "the end of a step");
}

/* No member that nobody reads. */
static hf_status members_check(hf_value value, hf_err *err)
{
    static const char *const members[] = {
        "number",       "name",   "outcome",         "handled",   "at",       "next",
        "state",        "result", "after_us",        "names",     "children", "message",
        "failure_type", "weight", "concurrency_key", "rate_limit"};
    hf_slice name;
    hf_value member;

    if (hf_value_kind_of(value) != HF_VALUE_OBJECT)
        return hf_err_set(err, HF_INVALID, "it is no object");
    for (size_t i = 0; hf_value_member(value, i, &name, &member); i++) {
        bool known = false;

        for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++)
            known |= hf_slice_equal(name, hf_slice_of(members[k]));
        if (!known)
            return hf_err_set(err, HF_INVALID, "%.*s is none of its members", (int)name.len,
                              name.ptr);
    }
    return HF_OK;
}

static hf_status names_read(hf_mem *mem, hf_value value, hf_step_end *end, hf_err *err)
{
    enum { NAMES_MAX = 256 };
    hf_value list = hf_value_find(value, HF_SLICE("names"));
    size_t count = hf_len(list);
    hf_slice *names = hf_mem_array(mem, count + 1, sizeof(*names));
    hf_status st = HF_OK;

    if (!names)
        return hf_err_nomem(err, "the end of a step");
    if (hf_value_kind_of(list) != HF_VALUE_ARRAY || !count || count > NAMES_MAX)
        return hf_member_bad(err, "names", "is no list of 1 to 256 signals");
    for (size_t i = 0; !st && i < count; i++) {
        names[i] = hf_value_slice(hf_at(list, i));
        st = hf_name_check(HF_NAME_SIGNAL, names[i], err);
    }
    end->names = names;
    end->name_count = count;
    return st;
}

static hf_status children_read(hf_mem *mem, hf_value value, hf_step_end *end, hf_err *err)
{
    hf_value list = hf_value_find(value, HF_SLICE("children"));
    hf_decision_row *rows = NULL;
    hf_step_start *starts;
    hf_status st = hf_decisions_read(mem, list, &rows, &end->start_count, err);

    if (st)
        return hf_err_because(err, st, "children");
    starts = hf_mem_array(mem, end->start_count + 1, sizeof(*starts));
    if (!starts)
        return hf_err_nomem(err, "the end of a step");
    for (size_t i = 0; !st && i < end->start_count; i++) {
        if (rows[i].kind != HF_DECISION_START_CHILD_WORKFLOW)
            return hf_member_bad(err, "children", "has what is no child");
        st = hf_decision_names_check(&rows[i], err);
        starts[i] = (hf_step_start){.type = rows[i].name,
                                    .input = rows[i].value,
                                    .options = rows[i].child,
                                    .at = rows[i].at};
    }
    end->starts = starts;
    return st;
}

/* What the outcome needs is there, and nothing that it does not have. */
static hf_status outcome_check(const hf_step_end *end, bool names, bool children, hf_err *err)
{
    hf_step_outcome outcome = end->outcome;
    bool ends = outcome == HF_STEP_OUTCOME_DONE || outcome == HF_STEP_OUTCOME_STOP;
    bool again = outcome == HF_STEP_OUTCOME_AGAIN;
    bool park = outcome == HF_STEP_OUTCOME_PARK;

    if ((end->next.ptr != NULL) != (!ends && !again))
        return hf_member_bad(err, "next", "does not fit the outcome");
    if (end->state.bytes.ptr ? ends : !ends && !again)
        return hf_member_bad(err, "state", "does not fit the outcome");
    if ((end->result.bytes.ptr != NULL) != (outcome == HF_STEP_OUTCOME_DONE))
        return hf_member_bad(err, "result", "does not fit the outcome");
    if (names != park)
        return hf_member_bad(err, "names", "does not fit the outcome");
    if (children != (outcome == HF_STEP_OUTCOME_FAN_OUT))
        return hf_member_bad(err, "children", "does not fit the outcome");
    if (outcome == HF_STEP_OUTCOME_STOP && !end->failure_type.ptr)
        return hf_member_bad(err, "failure_type", "is missing");
    if (end->after_us > AFTER_MAX_US ||
        (park && end->after_us < 1 && end->after_us != HF_DECISION_NO_TIMEOUT) ||
        (again && end->after_us < 0) || (!park && !again && end->after_us))
        return hf_member_bad(err, "after_us", "does not fit the outcome");
    if (outcome != HF_STEP_OUTCOME_NEXT && (end->rate_limit.ptr || end->concurrency_key.ptr))
        return hf_member_bad(err, "concurrency_key or rate_limit", "does not fit the outcome");
    return end->weight < 0 ? hf_member_bad(err, "weight", "is below 1") : HF_OK;
}

static hf_status texts_read(hf_value value, hf_step_end *end, hf_err *err)
{
    const struct {
        const char *name;
        hf_slice *into;
    } texts[] = {{"name", &end->name},
                 {"next", &end->next},
                 {"failure_type", &end->failure_type},
                 {"message", &end->message},
                 {"concurrency_key", &end->concurrency_key},
                 {"rate_limit", &end->rate_limit}};
    hf_slice at = {0};
    hf_status st = hf_member_text(value, "at", &at, err);

    end->at = at.ptr;
    for (size_t i = 0; !st && i < sizeof(texts) / sizeof(texts[0]); i++)
        st = hf_member_text(value, texts[i].name, texts[i].into, err);
    if (!st)
        st = hf_name_check(HF_NAME_STEP, end->name, err);
    if (!st && end->next.ptr)
        st = hf_name_check(HF_NAME_STEP, end->next, err);
    if (!st && end->concurrency_key.ptr)
        st = hf_name_check_text("concurrency key", end->concurrency_key, err);
    return st || !end->rate_limit.ptr ? st : hf_name_check_text("rate limit", end->rate_limit, err);
}

hf_status hf_step_end_read(hf_mem *mem, hf_value value, hf_step_end *out_end, hf_err *err)
{
    hf_value handled = hf_value_find(value, HF_SLICE("handled"));
    bool names = hf_value_find(value, HF_SLICE("names")) != NULL;
    bool children = hf_value_find(value, HF_SLICE("children")) != NULL;
    hf_step_end *end = out_end;
    hf_status st = members_check(value, err);

    *end = (hf_step_end){0};
    if (st)
        return st;
    if (!hf_step_outcome_parse(hf_slice_of(hf_str(value, "outcome", "")), &end->outcome))
        return hf_member_bad(err, "outcome", "is none that there is");
    if (handled && hf_value_kind_of(handled) != HF_VALUE_BOOL)
        return hf_member_bad(err, "handled", "is neither true nor false");
    end->handled = hf_bool(value, "handled", false);
    st = texts_read(value, end, err);
    if (!st)
        st = hf_member_int(value, "number", &end->number, err);
    if (!st)
        st = hf_member_int(value, "after_us", &end->after_us, err);
    if (!st)
        st = hf_member_int(value, "weight", &end->weight, err);
    if (!st)
        st = hf_member_payload(mem, value, "state", &end->state, err);
    if (!st)
        st = hf_member_payload(mem, value, "result", &end->result, err);
    if (!st && names)
        st = names_read(mem, value, end, err);
    if (!st && children)
        st = children_read(mem, value, end, err);
    return st ? st : outcome_check(end, names, children, err);
}
