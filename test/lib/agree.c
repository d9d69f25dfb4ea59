/* agree.c: see agree.h. */
#include "lib/agree.h"

#include <string.h>

#include "base/value.h"
#include "engine/engine_impl.h"
#include "holdfast/view.h"
#include "lib/kit.h"
#include "lib/suite.h"

/* How many rows of the instance the filters leave, and the first. */
static size_t listed(hf_engine *engine, hf_value filters, hf_value *out_row)
{
    hf_mem *mem = hf_mem_of_engine(engine);
    hf_value page = NULL;

    hf_kit_ok(engine, hf_list_runs(engine,
                                   hf_json_(mem,
                                            "{'filters': %p, 'total': true, 'facets': "
                                            "['status']}",
                                            (const void *)filters),
                                   mem, &page));
    *out_row = hf_get(page, "items.0");
    return hf_len(hf_get(page, "items"));
}

static void found_by(hf_engine *engine, const char *id, hf_value row, const char *name)
{
    hf_mem *mem = hf_mem_of_engine(engine);
    hf_value value = hf_get(row, name);
    hf_value_list *filters = hf_value_object(mem);
    hf_value other = NULL;

    hf_value_set(filters, HF_SLICE("instance_id"), hf_value_string(mem, hf_slice_of(id)));
    hf_value_set(filters, HF_SLICE("is_current_run"), hf_value_bool(true));
    hf_value_set(filters, hf_slice_of(name), value);
    ck_assert_msg(listed(engine, hf_value_finish(filters), &other) == 1,
                  "%s is not found by its %s %s", id, name, hf_text(mem, value));
}

void hf_agree_check(hf_engine *engine, const char *id, hf_value liveness)
{
    static const char *const names[] = {"liveness_state", "repair_blocked_reason",
                                        "repair_attention", "task_problem"};
    hf_mem *mem = hf_mem_of_engine(engine);
    hf_value filters = hf_json_(mem, "{'instance_id': %s, 'is_current_run': true}", id);
    hf_value row = NULL;

    if (strchr(id, '#'))
        return; /* an earlier run */
    while (hf_folder_step(engine->folder))
        ;
    ck_assert_uint_eq(listed(engine, filters, &row), 1);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        hf_value shown = hf_get(row, names[i]);
        hf_value known = hf_get(liveness, names[i]);

        ck_assert_msg(strcmp(hf_text(mem, shown), hf_text(mem, known)) == 0,
                      "%s of %s is %s in the list and %s to who asks why", names[i], id,
                      hf_text(mem, shown), hf_text(mem, known));
        if (hf_value_kind_of(shown) != HF_VALUE_NULL)
            found_by(engine, id, row, names[i]);
    }
    ck_assert_uint_eq(
        listed(engine,
               hf_json_(mem,
                        "{'instance_id': %s, 'is_current_run': true, "
                        "'liveness_state': %s}",
                        id,
                        strcmp(hf_str(row, "liveness_state", ""), "closed") == 0 ? "repair_needed"
                                                                                 : "closed"),
               &row),
        0);
}
