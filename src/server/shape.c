/* shape.c: see shape.h. */
#include "server/shape.h"

#include "base/value.h"

hf_value hf_shape_run(hf_mem *mem, hf_value row, const char *space)
{
    return hf_value_merge(
        mem, row,
        hf_json_(mem,
                 "{'workflow_id': %p, 'task_queue': %p, 'namespace': %s, 'input_envelope': %p, "
                 "'output_envelope': %p, 'payload_codec': 'avro'}",
                 (const void *)hf_get(row, "instance_id"), (const void *)hf_get(row, "queue"),
                 space, (const void *)hf_get(row, "arguments"),
                 (const void *)hf_get(row, "output")));
}

/* Every event says where it belongs. */
static hf_value events_named(hf_mem *mem, hf_value events, const char *space)
{
    hf_value more = hf_json_(mem, "{'namespace': %s}", space);
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < hf_len(events); i++)
        hf_value_append(list, hf_value_merge(mem, hf_at(events, i), more));
    return hf_value_finish(list);
}

hf_value hf_shape_history(hf_mem *mem, hf_value page, const char *id, const char *run_id,
                          const char *space)
{
    hf_value events = events_named(mem, hf_get(page, "events"), space);
    int64_t last = hf_int(hf_at(events, hf_len(events) ? hf_len(events) - 1 : 0), "sequence", 0);
    hf_value token = last && last < hf_int(page, "last_sequence", 0)
                         ? hf_json_(mem, "'s%lld'", (long long)last)
                         : hf_value_null();

    return hf_json_(mem,
                    "{'workflow_id': %s, 'run_id': %s, 'namespace': %s, 'events': %p, "
                    "'last_sequence': %p, 'next_page_token': %p}",
                    id, run_id, space, (const void *)events,
                    (const void *)hf_get(page, "last_sequence"), (const void *)token);
}
