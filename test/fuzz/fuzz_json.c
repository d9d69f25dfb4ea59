/* fuzz_json.c: any bytes to the JSON reader. What it accepts must read back equal from compact
   text, and the canonical text must be a fixed point. */
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static hf_value text_read(hf_mem *mem, const hf_buf *text)
{
    hf_value value = NULL;

    HF_ASSERT(hf_buf_ok(text));
    HF_ASSERT(hf_json_read(mem, hf_buf_slice(text), NULL, &value, NULL) == HF_OK);
    return value;
}

static void value_check(hf_mem *mem, hf_value value)
{
    hf_buf text = {0};
    hf_buf canonical = {0};
    hf_buf twice = {0};

    hf_json_write(&text, value);
    HF_ASSERT(hf_value_equal(text_read(mem, &text), value));
    HF_ASSERT(hf_value_equal(hf_value_copy(mem, value), value));
    hf_json_write_canonical(&canonical, value);
    hf_json_write_canonical(&twice, text_read(mem, &canonical));
    HF_ASSERT(hf_slice_equal(hf_buf_slice(&canonical), hf_buf_slice(&twice)));
    hf_buf_clear(&text);
    hf_json_write_ksort(&text, value);
    (void)text_read(mem, &text);
    hf_buf_fini(&text);
    hf_buf_fini(&canonical);
    hf_buf_fini(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const hf_json_limits limits = {.bytes_max =
                                       65536}; /* escapes must fit the default when written */
    hf_mem *mem = hf_mem_new();
    hf_value value = NULL;
    hf_err err = {0};

    HF_ASSERT(mem != NULL);
    if (hf_json_read(mem, hf_slice_from(data, size), &limits, &value, &err) == HF_OK)
        value_check(mem, value);
    else
        HF_ASSERT(!value && err.text[0]);
    hf_mem_free(mem);
    return 0;
}
