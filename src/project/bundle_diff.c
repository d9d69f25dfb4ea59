/* bundle_diff.c: two runs side by side: see bundle_verify.h. Steps are aligned by number; what
   counts as input and output are the recorded bytes. */
#include <string.h>

#include "project/bundle_read.h"
#include "project/bundle_verify.h"
#include "project/track.h"

/* One of the two runs. */
typedef struct side {
    hf_bundle_history history;
    hf_track *track;
    int64_t steps; /* the highest number */
} side;

static hf_status side_read(hf_mem *mem, hf_slice text, side *out, hf_err *err)
{
    hf_status st = hf_bundle_read(mem, text, &out->history, err);

    if (!st)
        st = hf_track_new(mem, out->history.run_key, &out->track, err);
    for (size_t i = 0; !st && i < out->history.count; i++)
        st = hf_track_add(out->track, &out->history.events[i], (int64_t)i + 1, err);
    for (const hf_track_step *s = st ? NULL : hf_track_steps(out->track); s; s = s->next)
        if (s->step > out->steps)
            out->steps = s->step;
    return st;
}

static const hf_event_key name_keys[] = {HF_KEY_ACTIVITY_TYPE, HF_KEY_CHILD_WORKFLOW_TYPE,
                                         HF_KEY_SIGNAL_NAME,   HF_KEY_CONDITION_KEY,
                                         HF_KEY_CHANGE_ID,     HF_KEY_STEP_NAME};

static hf_slice step_name(const hf_track_step *step)
{
    hf_slice name = {0};

    for (size_t i = 0; step->opened && i < sizeof(name_keys) / sizeof(name_keys[0]); i++)
        if (hf_event_text(step->opened, name_keys[i], &name))
            break;
    return name;
}

static hf_slice payload_of(const hf_event *event, hf_event_key key)
{
    hf_payload_value payload;

    return event && hf_event_payload(event, key, &payload) ? payload.bytes : (hf_slice){0};
}

static bool outputs_equal(const hf_track_step *a, const hf_track_step *b)
{
    static const hf_event_key keys[] = {HF_KEY_RESULT, HF_KEY_OUTPUT, HF_KEY_VALUE};

    if (!a->ended != !b->ended || (a->ended && a->ended->type != b->ended->type))
        return false;
    for (size_t i = 0; i < 3; i++)
        if (!hf_slice_equal(payload_of(a->ended, keys[i]), payload_of(b->ended, keys[i])))
            return false;
    return true;
}

static const char *step_state(const hf_track_step *a, const hf_track_step *b)
{
    if (!a || !a->opened)
        return "only_in_b";
    if (!b || !b->opened)
        return "only_in_a";
    if (a->opened->type != b->opened->type || !hf_slice_equal(step_name(a), step_name(b)))
        return "different_step";
    if (!hf_slice_equal(payload_of(a->opened, HF_KEY_ARGUMENTS),
                        payload_of(b->opened, HF_KEY_ARGUMENTS)))
        return "different_input";
    return outputs_equal(a, b) ? "same" : "different_output";
}

static hf_value duration_of(hf_mem *mem, const hf_track_step *step)
{
    if (!step || !step->opened || !step->ended)
        return hf_value_null();
    return hf_value_int(mem, (step->ended->time_us - step->opened->time_us) / 1000);
}

static hf_value shown(hf_mem *mem, const hf_track_step *step)
{
    hf_slice name;

    if (!step || !step->opened)
        return hf_value_null();
    name = step_name(step);
    return hf_json_(mem,
                    "{'type': %s, 'name': %p, 'outcome': %s, 'attempts': %lld, "
                    "'duration_ms': %p}",
                    hf_event_type_text(step->opened->type),
                    (const void *)(name.ptr ? hf_value_string(mem, name) : hf_value_null()),
                    step->ended ? hf_event_type_text(step->ended->type) : NULL,
                    (long long)(step->attempt ? step->attempt->number : 0),
                    (const void *)duration_of(mem, step));
}

static hf_value about(hf_mem *mem, const side *s)
{
    return hf_json_(mem, "{'instance_id': %p, 'run_id': %p, 'workflow_type': %p, 'events': %zu}",
                    (const void *)hf_value_string(mem, s->history.instance_id),
                    (const void *)hf_value_string(mem, s->history.run_id),
                    (const void *)hf_value_string(mem, s->history.workflow_type), s->history.count);
}

static hf_status diff_make(hf_mem *mem, const side *a, const side *b, hf_value *out, hf_err *err)
{
    hf_value_list *list = hf_value_array(mem);
    int64_t steps = a->steps > b->steps ? a->steps : b->steps;
    int64_t different = 0;
    hf_value rows;

    for (int64_t i = 1; i <= steps; i++) {
        const hf_track_step *x = hf_track_step_get(a->track, i);
        const hf_track_step *y = hf_track_step_get(b->track, i);
        const char *state = step_state(x, y);

        different += strcmp(state, "same") != 0;
        hf_value_append(list,
                        hf_json_(mem, "{'step': %lld, 'state': %s, 'a': %p, 'b': %p}", (long long)i,
                                 state, (const void *)shown(mem, x), (const void *)shown(mem, y)));
    }
    rows = hf_value_finish(list);
    *out = hf_json_(mem, "{'a': %p, 'b': %p, 'equal': %p, 'different': %lld, 'steps': %p}",
                    (const void *)about(mem, a), (const void *)about(mem, b),
                    (const void *)hf_value_bool(different == 0), (long long)different,
                    (const void *)rows);
    return rows && *out ? HF_OK : hf_err_nomem(err, "a comparison");
}

hf_status hf_bundle_diff_texts(hf_mem *mem, hf_slice a, hf_slice b, hf_value *out_diff, hf_err *err)
{
    side left = {0};
    side right = {0};
    hf_status st = side_read(mem, a, &left, err);

    if (!st)
        st = side_read(mem, b, &right, err);
    if (!st)
        st = diff_make(mem, &left, &right, out_diff, err);
    hf_track_free(left.track);
    hf_track_free(right.track);
    return hf_err_because(err, st, "compare two bundles");
}
