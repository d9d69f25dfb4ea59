/* bundle_diff.c: two bundles side by side: see bundle_verify.h. */
#include <string.h>

#include "project/bundle_read.h"
#include "project/bundle_verify.h"
#include "project/compare.h"

static const char *const states[] = {[HF_COMPARE_SAME] = "same",
                                     [HF_COMPARE_DIFFERENT_STEP] = "different_step",
                                     [HF_COMPARE_DIFFERENT_INPUT] = "different_input",
                                     [HF_COMPARE_DIFFERENT_OUTPUT] = "different_output",
                                     [HF_COMPARE_ONLY_A] = "only_in_a",
                                     [HF_COMPARE_ONLY_B] = "only_in_b"};

static hf_value duration_of(hf_mem *mem, const hf_track_step *step)
{
    if (!step->ended)
        return hf_value_null();
    return hf_value_int(mem, (step->ended->time_us - step->opened->time_us) / 1000);
}

static hf_value shown(hf_mem *mem, const hf_track_step *step)
{
    hf_slice name;

    if (!step)
        return hf_value_null();
    name = hf_track_name(step->opened);
    return hf_json_(mem,
                    "{'type': %s, 'name': %p, 'outcome': %s, 'attempts': %lld, "
                    "'duration_ms': %p}",
                    hf_event_type_text(step->opened->type),
                    (const void *)(name.ptr ? hf_value_string(mem, name) : hf_value_null()),
                    step->ended ? hf_event_type_text(step->ended->type) : NULL,
                    (long long)(step->attempt ? step->attempt->number : 0),
                    (const void *)duration_of(mem, step));
}

static hf_value about(hf_mem *mem, const hf_bundle_history *history)
{
    return hf_json_(mem, "{'instance_id': %p, 'run_id': %p, 'workflow_type': %p, 'events': %zu}",
                    (const void *)hf_value_string(mem, history->instance_id),
                    (const void *)hf_value_string(mem, history->run_id),
                    (const void *)hf_value_string(mem, history->workflow_type), history->count);
}

static hf_status steps_make(hf_mem *mem, hf_compare *compare, hf_value *out_steps,
                            int64_t *out_different, hf_err *err)
{
    hf_value_list *list = hf_value_array(mem);
    hf_compare_step step;
    bool there = true;
    hf_status st = HF_OK;

    *out_different = 0;
    while (!st && there) {
        st = hf_compare_next(compare, &step, &there, err);
        if (st || !there)
            break;
        *out_different += step.state != HF_COMPARE_SAME;
        hf_value_append(list, hf_json_(mem, "{'step': %lld, 'state': %s, 'a': %p, 'b': %p}",
                                       (long long)step.step, states[step.state],
                                       (const void *)shown(mem, step.a),
                                       (const void *)shown(mem, step.b)));
    }
    *out_steps = hf_value_finish(list);
    return st ? st : *out_steps ? HF_OK : hf_err_nomem(err, "a comparison");
}

hf_status hf_bundle_diff_texts(hf_mem *mem, hf_slice a, hf_slice b, hf_value *out_diff, hf_err *err)
{
    hf_bundle_history left = {0};
    hf_bundle_history right = {0};
    hf_compare *compare = NULL;
    hf_value steps = NULL;
    int64_t different = 0;
    hf_status st = hf_bundle_read(mem, a, &left, err);

    if (!st)
        st = hf_bundle_read(mem, b, &right, err);
    if (!st)
        st = hf_compare_new(
            mem,
            &(hf_compare_run){.events = left.events, .count = left.count, .run_key = left.run_key},
            &(hf_compare_run){
                .events = right.events, .count = right.count, .run_key = right.run_key},
            &compare, err);
    if (!st)
        st = steps_make(mem, compare, &steps, &different, err);
    if (!st) {
        *out_diff = hf_json_(mem, "{'a': %p, 'b': %p, 'equal': %p, 'different': %lld, 'steps': %p}",
                             (const void *)about(mem, &left), (const void *)about(mem, &right),
                             (const void *)hf_value_bool(different == 0), (long long)different,
                             (const void *)steps);
        st = *out_diff ? HF_OK : hf_err_nomem(err, "a comparison");
    }
    hf_compare_free(compare);
    return hf_err_because(err, st, "compare two bundles");
}
