/* options.c: see options.h. */
#include "base/options.h"

#include <string.h>

hf_status hf_options_take(void *out, size_t size, const void *given, hf_err *err)
{
    const char *bytes = given;
    size_t said = 0;

    if (!given)
        return HF_OK;
    memcpy(&said, given, sizeof(said));
    if (said < sizeof(said))
        return hf_err_set(err, HF_MISUSE, "the options do not say their size");
    if (said == sizeof(said) || said % sizeof(said) || said > HF_OPTIONS_BYTES_MAX)
        return hf_err_set(err, HF_MISUSE, "options have no size of %zu bytes", said);
    for (size_t i = size; i < said; i++)
        if (bytes[i])
            return hf_err_set(err, HF_UNSUPPORTED,
                              "the options are those of a newer program: %zu bytes, of which %zu "
                              "are known",
                              said, size);
    memcpy(out, given, said < size ? said : size);
    return HF_OK;
}
