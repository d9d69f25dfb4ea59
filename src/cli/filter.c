/* filter.c: see filter.h. */
#include "cli/filter.h"

#include "base/value.h"
#include "cli/command.h"

hf_status hf_cli_filters_read(hf_mem *mem, const char *const *words, size_t count,
                              hf_value *out_filters, const char **out_bucket, hf_err *err)
{
    static const char *const shorts[][2] = {{"type", "workflow_type"}, {"id", "instance_id"}};
    static const char buckets[] = "running completed failed cancelled terminated";
    hf_value_list *filters = hf_value_object(mem);

    *out_bucket = NULL;
    for (size_t i = 0; i < count; i++) {
        hf_slice value = hf_slice_of(words[i]);
        hf_slice name;
        hf_value text;

        (void)hf_slice_split(&value, '=', &name);
        if (!value.ptr) {
            value = name;
            name = HF_SLICE("instance_id_contains");
        }
        for (size_t k = 0; k < sizeof(shorts) / sizeof(shorts[0]); k++)
            if (hf_slice_equal(name, hf_slice_of(shorts[k][0])))
                name = hf_slice_of(shorts[k][1]);
        text = hf_value_string(mem, value);
        if (!text)
            return hf_err_set(err, HF_INVALID, "\"%s\" is not UTF-8 text", words[i]);
        if (hf_slice_equal(name, HF_SLICE("status")) && hf_cli_choice(buckets, value))
            *out_bucket = hf_mem_text(mem, value);
        else
            hf_value_set(filters, name, text);
    }
    *out_filters = hf_value_finish(filters);
    return *out_filters ? HF_OK
                        : hf_err_set(err, HF_INVALID, "a filter is given twice, or has no name");
}
