/* steps_work.c: one step of a machine: what it is handed, and what its end decides. What goes on or
   ends uses up exactly the signals that the step was handed. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "replay/steps_impl.h"

bool hf_steps_work(const hf_steps *steps, hf_step_work *out_work)
{
    if (steps->mode != STEPS_READY && !(steps->mode == STEPS_JOINING && !steps->children_open))
        return false;
    *out_work = (hf_step_work){.number = steps->last + 1,
                               .entry = steps->entry,
                               .attempt = steps->attempt,
                               .available_us = steps->available_us,
                               .failed = steps->failed,
                               .name = hf_slice_of(steps->name),
                               .priority = steps->priority,
                               .concurrency_key = hf_slice_of(steps->concurrency_key),
                               .rate_limit = hf_slice_of(steps->rate_limit),
                               .weight = steps->weight,
                               .timed_out = steps->timed_out};
    return true;
}

/* ---- what a step sees */

static hf_status stored_read(const hf_stored *stored, const hf_replay_info *info, hf_mem *mem,
                             hf_decision_payload *out_payload, hf_err *err)
{
    const hf_payload_value reference = {.form = stored->form,
                                        .codec = stored->codec,
                                        .size = stored->size,
                                        .digest = (const uint8_t *)stored->bytes};

    *out_payload = (hf_decision_payload){.codec = stored->codec};
    if (!stored->form)
        return HF_OK;
    if (stored->form == HF_PAYLOAD_FORM_ERASED)
        return hf_err_set(err, HF_NOTFOUND, "a value that the machine needs was erased");
    if (stored->form == HF_PAYLOAD_FORM_REFERENCE) {
        if (!info->payload)
            return hf_err_set(err, HF_MISUSE, "nobody reads payloads that are stored apart");
        return info->payload(info->payload_ctx, mem, &reference, &out_payload->bytes, err);
    }
    out_payload->bytes =
        hf_slice_from(hf_mem_text(mem, hf_slice_from(stored->bytes, stored->len)), stored->len);
    return out_payload->bytes.ptr ? HF_OK : hf_err_nomem(err, "a value");
}

static hf_status text_copy(hf_mem *mem, const char *text, hf_slice *out_text, hf_err *err)
{
    *out_text = (hf_slice){0};
    if (!text)
        return HF_OK;
    *out_text = hf_slice_of(hf_mem_text(mem, hf_slice_of(text)));
    return out_text->ptr ? HF_OK : hf_err_nomem(err, "a text");
}

static hf_status signals_fill(const hf_steps *steps, const hf_replay_info *info, hf_mem *mem,
                              hf_step_work *work, hf_err *err)
{
    size_t count = 0;
    hf_status st = HF_OK;

    for (const steps_signal *signal = steps->inbox; signal; signal = signal->next)
        count++;
    work->signals = hf_mem_array(mem, count + 1, sizeof(*work->signals));
    if (!work->signals)
        return hf_err_nomem(err, "an inbox");
    for (const steps_signal *signal = steps->inbox; !st && signal; signal = signal->next) {
        hf_step_message *copy = &work->signals[work->signal_count++];

        copy->seq = signal->seq;
        copy->awaited = hf_steps_awaited(steps, signal->name);
        memcpy(copy->id, signal->id, sizeof(copy->id));
        st = text_copy(mem, signal->name, &copy->name, err);
        if (!st)
            st = stored_read(&signal->arguments, info, mem, &copy->arguments, err);
    }
    return st;
}

static hf_status children_fill(const hf_steps *steps, const hf_replay_info *info, hf_mem *mem,
                               hf_step_work *work, hf_err *err)
{
    size_t count = 0;
    hf_status st = HF_OK;

    for (const steps_child *child = steps->children; child; child = child->next)
        count++;
    work->children = hf_mem_array(mem, count + 1, sizeof(*work->children));
    if (!work->children)
        return hf_err_nomem(err, "children");
    for (const steps_child *child = steps->children; !st && child; child = child->next) {
        hf_step_child *copy = &work->children[work->child_count++];

        copy->status = hf_slice_of(child->status);
        st = text_copy(mem, child->id, &copy->id, err);
        if (!st)
            st = text_copy(mem, child->type, &copy->type, err);
        if (!st)
            st = text_copy(mem, child->failure_type, &copy->failure_type, err);
        if (!st)
            st = text_copy(mem, child->message, &copy->message, err);
        if (!st)
            st = stored_read(&child->result, info, mem, &copy->result, err);
    }
    return st;
}

hf_status hf_steps_fill(const hf_steps *steps, const hf_replay_info *info, hf_mem *mem,
                        hf_step_work *work, hf_err *err)
{
    hf_status st = text_copy(mem, steps->name, &work->name, err);

    if (!st)
        st = stored_read(&steps->state, info, mem, &work->state, err);
    if (!st)
        st = signals_fill(steps, info, mem, work, err);
    return st ? st : children_fill(steps, info, mem, work, err);
}

/* ---- what a step decided */

static bool seq_among(const int64_t *seqs, size_t count, int64_t seq)
{
    for (size_t i = 0; i < count; i++)
        if (seqs[i] == seq)
            return true;
    return false;
}

static hf_slice json_keep(hf_mem *mem, hf_buf *text, hf_err *err)
{
    hf_slice kept = {0};

    if (hf_buf_ok(text))
        kept = hf_slice_from(hf_mem_text(mem, hf_buf_slice(text)), text->len);
    hf_buf_fini(text);
    if (!kept.ptr)
        (void)hf_err_nomem(err, "the end of a step");
    return kept;
}

/* One that ran elsewhere was handed what was awaited when it was handed out. */
static bool was_handed(const hf_steps *steps, const hf_step_end *end, const steps_signal *signal)
{
    if (!end->seen_seq)
        return seq_among(end->presented, end->presented_count, signal->seq);
    return signal->seq <= end->seen_seq && hf_steps_awaited(steps, signal->name);
}

/* Ids of the signals that the step was handed and that are still there, as a JSON list. */
static hf_slice handed_json(const hf_steps *steps, const hf_step_end *end, hf_mem *mem,
                            int64_t *out_seqs, size_t *out_count, hf_err *err)
{
    hf_buf text = {0};

    hf_buf_add_text(&text, "[");
    *out_count = 0;
    for (const steps_signal *signal = steps->inbox; signal; signal = signal->next) {
        if (!was_handed(steps, end, signal))
            continue;
        hf_buf_add_format(&text, "%s\"%s\"", *out_count ? "," : "", signal->id);
        out_seqs[(*out_count)++] = signal->seq;
    }
    hf_buf_add_text(&text, "]");
    return json_keep(mem, &text, err);
}

static hf_slice names_json(const hf_step_end *end, hf_mem *mem, hf_err *err)
{
    hf_buf text = {0};

    for (size_t i = 0; i < end->name_count; i++) {
        hf_buf_add_text(&text, i ? ",\"" : "[\"");
        hf_json_add_escaped(&text, end->names[i]);
        hf_buf_add_text(&text, "\"");
    }
    hf_buf_add_text(&text, "]");
    return json_keep(mem, &text, err);
}

/* The part that StepCompleted records. */
static hf_status step_row(const hf_steps *steps, const hf_step_end *end, hf_mem *mem,
                          hf_decision_row *row, hf_err *err)
{
    bool uses_up = end->outcome != HF_STEP_OUTCOME_PARK && end->outcome != HF_STEP_OUTCOME_AGAIN;
    hf_slice handed = {0};
    size_t count = 1;
    int64_t *seqs;

    for (const steps_signal *signal = steps->inbox; signal; signal = signal->next)
        count++;
    seqs = hf_mem_array(mem, count, sizeof(*seqs));
    if (!seqs)
        return hf_err_nomem(err, "the end of a step");
    *row = (hf_decision_row){.kind = HF_DECISION_COMPLETE_STEP,
                             .step = steps->last + 1,
                             .at = end->at,
                             .name = steps->name ? hf_slice_of(steps->name) : end->name,
                             .value = end->state};
    row->machine = (hf_decision_step){.outcome = end->outcome,
                                      .attempt = end->attempt,
                                      .next = end->next,
                                      .delay_us = end->after_us,
                                      .timeout_us = HF_DECISION_NO_TIMEOUT,
                                      .failure_type = end->failure_type,
                                      .message = end->message,
                                      .concurrency_key = end->concurrency_key,
                                      .rate_limit = end->rate_limit,
                                      .weight = end->weight};
    handed = handed_json(steps, end, mem, seqs, &count, err);
    if (!handed.ptr)
        return HF_NOMEM;
    if (uses_up && !end->handled && count) {
        row->machine.consumed = handed;
        row->machine.seqs = seqs;
        row->machine.seq_count = count;
    }
    if (end->outcome != HF_STEP_OUTCOME_PARK)
        return HF_OK;
    row->machine.timeout_us = end->after_us;
    row->machine.awaited = names_json(end, mem, err);
    if (count)
        row->machine.presented = handed;
    return row->machine.awaited.ptr ? HF_OK : HF_NOMEM;
}

hf_status hf_steps_decide(const hf_steps *steps, const hf_step_end *end, hf_mem *mem,
                          hf_decision_row **out_rows, size_t *out_count, hf_err *err)
{
    hf_decision_row *rows = hf_mem_array(mem, end->start_count + 3, sizeof(*rows));
    bool closes = end->outcome == HF_STEP_OUTCOME_DONE || end->outcome == HF_STEP_OUTCOME_STOP;
    int64_t step = steps->last + 1;
    size_t count = 0;
    hf_status st;

    if (end->seen_seq && steps->name && !hf_slice_equal(end->name, hf_slice_of(steps->name)))
        return hf_err_set(err, HF_INVALID, "invalid_step: step %lld is %s", (long long)step,
                          steps->name);
    if (!rows)
        return hf_err_nomem(err, "the end of a step");
    if (steps->timer && !closes) /* a run that closes withdraws its timers itself */
        rows[count++] = (hf_decision_row){
            .kind = HF_DECISION_CANCEL_TIMER,
            .step = steps->park,
        };
    st = step_row(steps, end, mem, &rows[count], err);
    if (st)
        return st;
    count++;
    for (size_t i = 0; i < end->start_count; i++)
        rows[count++] = (hf_decision_row){.kind = HF_DECISION_START_CHILD_WORKFLOW,
                                          .step = ++step,
                                          .at = end->starts[i].at,
                                          .name = end->starts[i].type,
                                          .value = end->starts[i].input,
                                          .child = end->starts[i].options};
    if (end->outcome == HF_STEP_OUTCOME_DONE)
        rows[count++] =
            (hf_decision_row){.kind = HF_DECISION_COMPLETE_WORKFLOW, .value = end->result};
    if (end->outcome == HF_STEP_OUTCOME_STOP)
        rows[count++] = (hf_decision_row){.kind = HF_DECISION_FAIL_WORKFLOW,
                                          .failure = {.category = HF_FAILURE_CATEGORY_APPLICATION,
                                                      .type = end->failure_type,
                                                      .message = end->message}};
    *out_rows = rows;
    *out_count = count;
    return HF_OK;
}
