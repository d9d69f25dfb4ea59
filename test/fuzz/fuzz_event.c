/* fuzz_event.c: arbitrary bytes as a chunk of history. Whatever the decoder accepts must encode to
   the same bytes, hash to the same hash when read again, and keep that hash when its payloads are
   erased. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "model/event_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Erases every payload of the events in place. */
static void erase_payloads(hf_sha256 *sha, hf_mem *mem, hf_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < events[i].count; j++) {
            hf_event_field *field = &events[i].fields[j];

            if (hf_event_key_kind(field->key) == HF_VALUE_KIND_PAYLOAD)
                HF_ASSERT(
                    !hf_payload_detach(sha, mem, HF_PAYLOAD_FORM_ERASED, &field->payload, NULL));
        }
    }
}

static void check_accepted(hf_mem *mem, hf_slice body, hf_event *events, size_t count)
{
    const hf_event_chunk_place place = {.run_key = 1, .first_seq = 1};
    uint8_t hashes[3][HF_SHA256_BYTES];
    hf_event *again = NULL;
    size_t again_count = 0;
    hf_sha256 *sha = NULL;
    hf_buf encoded = {0};

    HF_ASSERT(!hf_sha256_new(&sha, NULL));
    HF_ASSERT(!hf_event_chunk_encode(events, count, &encoded, NULL));
    HF_ASSERT(hf_slice_equal(hf_buf_slice(&encoded), body));
    HF_ASSERT(!hf_event_chunk_decode(mem, hf_buf_slice(&encoded), &again, &again_count, NULL));
    HF_ASSERT(again_count == count);
    HF_ASSERT(!hf_event_chunk_hash(sha, events, count, &place, hashes[0], NULL));
    HF_ASSERT(!hf_event_chunk_hash(sha, again, count, &place, hashes[1], NULL));
    erase_payloads(sha, mem, again, count);
    HF_ASSERT(!hf_event_chunk_hash(sha, again, count, &place, hashes[2], NULL));
    HF_ASSERT(memcmp(hashes[0], hashes[1], HF_SHA256_BYTES) == 0);
    HF_ASSERT(memcmp(hashes[0], hashes[2], HF_SHA256_BYTES) == 0);
    hf_buf_fini(&encoded);
    hf_sha256_free(sha);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hf_slice body = hf_slice_from(data, size);
    hf_mem *mem = hf_mem_new();
    hf_event *events = NULL;
    size_t count = 0;
    hf_err err = {0};

    if (!mem)
        return 0;
    if (hf_event_chunk_decode(mem, body, &events, &count, &err) == HF_OK)
        check_accepted(mem, body, events, count);
    else
        HF_ASSERT(err.text[0] != '\0');
    hf_mem_free(mem);
    return 0;
}
