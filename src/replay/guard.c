/* guard.c: whether the step that code asks for is the one that history has. Compared are the kind,
   what names it, and the barriers around it; conditions also by key and fingerprint. The rule: a
   step that differs never opens and never resolves. */
#include <string.h>

#include "base/buf.h"
#include "replay/inside.h"

static bool text_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool groups_equal(const hf_step_look *a, const hf_step_look *b)
{
    if (a->group_count != b->group_count)
        return false;
    for (size_t i = 0; i < a->group_count; i++)
        if (a->groups[i].kind != b->groups[i].kind ||
            a->groups[i].base_step != b->groups[i].base_step ||
            a->groups[i].size != b->groups[i].size || a->groups[i].index != b->groups[i].index)
            return false;
    return true;
}

/* Texts of a mismatch live as long as the replay; without memory the words are fewer. */
static const char *mismatch_text(hf_replay *replay, const hf_buf *buf)
{
    char *text = hf_buf_ok(buf) ? hf_mem_text(replay->mem, hf_buf_slice(buf)) : NULL;

    return text ? text : "no memory for the words";
}

static const char *recorded_types(hf_replay *replay, const hf_record *record)
{
    hf_buf buf = {0};
    const char *text;

    if (!record || record->type_count == 0)
        return hf_history_shape_text(HF_HISTORY_SHAPE_NO_TYPED_HISTORY);
    for (size_t i = 0; i < record->type_count; i++) {
        if (i)
            hf_buf_add_text(&buf, ", ");
        hf_buf_add_text(&buf, hf_event_type_text((hf_event_type)record->types[i]));
    }
    text = mismatch_text(replay, &buf);
    hf_buf_fini(&buf);
    return text;
}

static const char *look_text(hf_replay *replay, const hf_step_look *look)
{
    hf_buf buf = {0};
    const char *text;

    hf_buf_add_text(&buf, hf_history_shape_text(look->shape));
    if (look->name && look->shape != HF_HISTORY_SHAPE_CONDITION_WAIT)
        hf_buf_add_format(&buf, ":%s", look->name);
    text = mismatch_text(replay, &buf);
    hf_buf_fini(&buf);
    return text;
}

/* "step 3: history has timer (TimerScheduled), code wants activity:ship at order.c:39" */
static void sentence_write(hf_replay *replay, const char *history, const char *code)
{
    hf_replay_mismatch *mismatch = &replay->mismatch;
    hf_buf buf = {0};

    hf_buf_add_format(&buf, "step %lld: history has %s (%s), code wants %s",
                      (long long)mismatch->step, history, mismatch->recorded_events, code);
    if (mismatch->at)
        hf_buf_add_format(&buf, " at %s", mismatch->at);
    mismatch->sentence = mismatch_text(replay, &buf);
    hf_buf_fini(&buf);
}

void hf_in_mismatch(hf_replay *replay, int64_t step, const char *at, const char *expected,
                    const hf_record *record)
{
    hf_buf buf = {0};

    hf_buf_add_text(&buf, expected);
    replay->mismatch = (hf_replay_mismatch){.reason = HF_REPLAY_BLOCKED_HISTORY_SHAPE_MISMATCH,
                                            .step = step,
                                            .at = at,
                                            .expected_shape = mismatch_text(replay, &buf),
                                            .recorded_events = recorded_types(replay, record)};
    hf_buf_fini(&buf);
    sentence_write(
        replay, record && record->recorded.shape ? look_text(replay, &record->recorded) : "nothing",
        replay->mismatch.expected_shape);
}

void hf_in_unresolved(hf_replay *replay, const hf_record *record, const char *type, bool decoder)
{
    hf_replay_mismatch *mismatch = &replay->mismatch;
    hf_buf buf = {0};

    hf_buf_add_format(&buf, "failure:%s", type);
    hf_in_mismatch(replay, record->step, record->at, hf_buf_text(&buf), record);
    mismatch->reason = HF_REPLAY_BLOCKED_FAILURE_RESOLUTION;
    mismatch->failure_type = hf_mem_text(replay->mem, hf_slice_of(type));
    mismatch->failure_resolution = hf_failure_resolution_text(
        decoder ? HF_FAILURE_RESOLUTION_UNRESTORABLE : HF_FAILURE_RESOLUTION_UNRESOLVED);
    hf_buf_clear(&buf);
    hf_buf_add_format(&buf, "step %lld: history has the failure %s (%s), which the workflow %s",
                      (long long)record->step, type, mismatch->recorded_events,
                      decoder ? "cannot decode" : "declares without a decoder");
    mismatch->sentence = mismatch_text(replay, &buf);
    hf_buf_fini(&buf);
}

/* The id of a condition wait, which no event stores: it is formed from the run and the place. */
static char *wait_id(hf_replay *replay, const hf_record *record)
{
    char text[HF_ULID_TEXT_SIZE];
    hf_ulid id = record->id;

    if (!record->has_id) {
        if (!hf_ulid_parse(replay->info.run_id, &id))
            return NULL;
        id = hf_ulid_form(record->open_us, hf_ulid_key(&id), (uint32_t)record->open_seq);
    }
    hf_ulid_print(&id, text);
    return hf_mem_text(replay->mem, hf_slice_of(text));
}

static void condition_mismatch(hf_replay *replay, const hf_record *record, const hf_want *want)
{
    hf_replay_mismatch *mismatch = &replay->mismatch;
    char *kept_fingerprint = NULL;
    char *keys[2] = {NULL, NULL};
    hf_buf history = {0};
    hf_buf code = {0};

    hf_in_mismatch(replay, record->step, want->at, look_text(replay, &want->look), record);
    keys[0] = hf_mem_text(replay->mem, hf_slice_of(record->recorded.name));
    keys[1] = hf_mem_text(replay->mem, hf_slice_of(want->look.name));
    mismatch->reason = HF_REPLAY_BLOCKED_CONDITION_WAIT_DEFINITION_MISMATCH;
    mismatch->condition_wait_id = wait_id(replay, record);
    mismatch->recorded_key = record->recorded.name && keys[0] ? keys[0] : "none";
    mismatch->current_key = want->look.name && keys[1] ? keys[1] : "none";
    if (record->recorded.fingerprint)
        mismatch->recorded_fingerprint =
            hf_mem_text(replay->mem, hf_slice_of(record->recorded.fingerprint));
    if (want->look.fingerprint)
        kept_fingerprint = hf_mem_text(replay->mem, hf_slice_of(want->look.fingerprint));
    mismatch->current_fingerprint = kept_fingerprint;
    hf_buf_add_format(&history, "condition wait with key %s", mismatch->recorded_key);
    hf_buf_add_format(
        &code, "one with key %s%s", mismatch->current_key,
        strcmp(mismatch->recorded_key, mismatch->current_key) == 0 ? " and another predicate" : "");
    sentence_write(replay, mismatch_text(replay, &history), mismatch_text(replay, &code));
    hf_buf_fini(&history);
    hf_buf_fini(&code);
}

bool hf_in_same(hf_replay *replay, const hf_record *record, const hf_want *want)
{
    const hf_step_look *has = &record->recorded;
    const hf_step_look *wants = &want->look;

    if (has->shape != wants->shape) {
        hf_in_mismatch(replay, record->step, want->at, look_text(replay, wants), record);
        return false;
    }
    if (has->shape == HF_HISTORY_SHAPE_CONDITION_WAIT) {
        bool same = text_equal(has->name, wants->name) &&
                    (!has->fingerprint || !wants->fingerprint ||
                     text_equal(has->fingerprint, wants->fingerprint));

        if (!same)
            condition_mismatch(replay, record, want);
        return same;
    }
    if (wants->group_count && !groups_equal(has, wants)) {
        hf_in_mismatch(replay, record->step, want->at,
                       hf_history_shape_text(HF_HISTORY_SHAPE_PARALLEL_BARRIER), record);
        return false;
    }
    if (!text_equal(has->name, wants->name) || !groups_equal(has, wants)) {
        hf_in_mismatch(replay, record->step, want->at, look_text(replay, wants), record);
        return false;
    }
    return true;
}
