/* fuzz_avro.c: any bytes as an Avro payload. What is accepted must encode to a frame that decodes
   equal. Inputs that do not start with the frame's header get it put in front, so that the fuzzer
   spends its time behind it. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/avro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void frame_check(hf_slice frame)
{
    hf_mem *mem = hf_mem_new();
    hf_value value = NULL;
    hf_value again = NULL;
    hf_buf encoded = {0};
    hf_buf twice = {0};
    hf_err err = {0};

    HF_ASSERT(mem != NULL);
    if (hf_avro_decode(mem, frame, NULL, &value, &err) == HF_OK) {
        hf_avro_encode(&encoded, value);
        HF_ASSERT(hf_buf_ok(&encoded) && encoded.len <= frame.len);
        HF_ASSERT(hf_avro_decode(mem, hf_buf_slice(&encoded), NULL, &again, NULL) == HF_OK);
        HF_ASSERT(hf_value_equal(value, again));
        hf_avro_encode(&twice, again);
        HF_ASSERT(hf_slice_equal(hf_buf_slice(&encoded), hf_buf_slice(&twice)));
    } else {
        HF_ASSERT(!value && err.text[0]);
    }
    hf_buf_fini(&encoded);
    hf_buf_fini(&twice);
    hf_mem_free(mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t header[] = {0xC3, 0x01, 0xE2, 0xA3, 0x3D, 0xFF, 0x55, 0x80, 0x22, 0x37};
    hf_buf framed = {0};

    if (size < sizeof(header) || memcmp(data, header, 2) != 0)
        hf_buf_add(&framed, header, sizeof(header));
    hf_buf_add(&framed, data, size);
    HF_ASSERT(hf_buf_ok(&framed));
    frame_check(hf_slice_from(data, size));
    frame_check(hf_buf_slice(&framed));
    hf_buf_fini(&framed);
    return 0;
}
