/* fuzz_bundle.c: arbitrary text as a history bundle. Two ways in: the text as it is, which mostly
   ends at the checksum, and the text as the events of a bundle that is sealed for it, so that the
   fuzzer reaches the events behind the seal. Whatever is accepted is made of events that keep
   every rule of event.h; whatever is refused says why. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/value.h"
#include "project/bundle.h"
#include "project/bundle_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_once(hf_slice text)
{
    hf_mem *mem = hf_mem_new();
    hf_bundle_history history;
    hf_err err = {0};

    if (!mem)
        return;
    if (hf_bundle_read(mem, text, &history, &err) == HF_OK) {
        HF_ASSERT(history.count > 0);
        for (size_t i = 0; i < history.count; i++)
            HF_ASSERT(!hf_event_check(&history.events[i], NULL));
    } else {
        HF_ASSERT(err.text[0] != '\0');
    }
    hf_mem_free(mem);
}

/* The events and our own section come from the fuzzer, the rest is well-formed. */
static hf_value bundle_around(hf_mem *mem, hf_value events, hf_value holdfast)
{
    return hf_json_(mem,
                    "{'schema': 'durable-workflow.v2.history-export', 'schema_version': 1,"
                    "'exported_at': '2026-01-01T00:00:00.000000Z', 'dedupe_key': 'k',"
                    "'history_complete': false, 'workflow': {'workflow_type': 't',"
                    "'instance_id': 'i', 'run_id': '01KDVDNA000000000014000000'},"
                    "'payloads': {'codec': 'avro', 'arguments': {'available': false,"
                    "'data': null}, 'output': {'available': false, 'data': null}},"
                    "'history_events': %p, 'holdfast': %p}",
                    (const void *)events, (const void *)holdfast);
}

static void read_sealed(hf_slice text)
{
    hf_mem *mem = hf_mem_new();
    hf_sha256 *sha = NULL;
    uint8_t digest[HF_SHA256_BYTES];
    char sum[HF_SHA256_TEXT_SIZE];
    hf_value given = NULL;
    hf_value bundle = NULL;
    hf_buf canonical = {0};
    hf_buf sealed = {0};

    if (mem && hf_json_read(mem, text, NULL, &given, NULL) == HF_OK)
        bundle = bundle_around(mem, hf_get(given, "e"), hf_get(given, "h"));
    if (bundle && hf_sha256_new(&sha, NULL) == HF_OK) {
        hf_json_write_ksort(&canonical, bundle);
        HF_ASSERT(!hf_sha256_digest(sha, hf_buf_slice(&canonical), digest, NULL));
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), sum);
        hf_json_write(&sealed, bundle);
        sealed.len--; /* the closing brace */
        hf_buf_add_format(&sealed,
                          ",\"integrity\":{\"canonicalization\":\"json-recursive-ksort-v1\","
                          "\"checksum_algorithm\":\"sha256\",\"checksum\":\"%s\"}}",
                          sum);
        if (hf_buf_ok(&sealed))
            read_once(hf_buf_slice(&sealed));
    }
    hf_buf_fini(&sealed);
    hf_buf_fini(&canonical);
    hf_sha256_free(sha);
    hf_mem_free(mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hf_slice text = hf_slice_from(data, size);

    read_once(text);
    read_sealed(text);
    return 0;
}
