/* fold_payload.c: references in history against the payload rows of the run. The bytes themselves
   are checked in body.c, row by row. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "verify/fold_impl.h"

static int payload_order(const void *a, const void *b)
{
    return memcmp(((const hf_payload_ref *)a)->digest, ((const hf_payload_ref *)b)->digest,
                  HF_FOLD_DIGEST_BYTES);
}

void hf_fold_payload_sort(hf_fold *fold)
{
    if (fold->payload_count)
        qsort(fold->payloads, fold->payload_count, sizeof(fold->payloads[0]), payload_order);
}

static void reference_check(hf_fold *fold, const hf_event *event, const hf_event_field *field,
                            int64_t seq)
{
    const hf_payload_value *value = &field->payload;
    hf_payload_ref wanted = {0};
    hf_payload_ref *row = NULL;

    memcpy(wanted.digest, value->digest, sizeof(wanted.digest));
    if (fold->payload_count)
        row = bsearch(&wanted, fold->payloads, fold->payload_count, sizeof(wanted), payload_order);
    if (!row) {
        hf_fold_find(fold, 36, "seq", seq,
                     "the %s of event %" PRId64 " (%s) is stored apart, but is not there",
                     hf_event_key_text(field->key), seq, hf_event_type_text(event->type));
        return;
    }
    row->used = true;
    if ((uint64_t)row->size != value->size || row->codec != (int32_t)value->codec)
        hf_fold_find(fold, 36, "payload", row->key,
                     "payload %" PRId64 " has another size or codec than event %" PRId64 " says",
                     row->key, seq);
}

void hf_fold_payload_event(hf_fold *fold, const hf_event *event, int64_t seq)
{
    for (size_t i = 0; i < event->count; i++) {
        const hf_event_field *field = &event->fields[i];

        if (hf_event_key_kind(field->key) == HF_VALUE_KIND_PAYLOAD &&
            field->payload.form == HF_PAYLOAD_FORM_REFERENCE)
            reference_check(fold, event, field, seq);
    }
}

void hf_fold_payload_end(hf_fold *fold)
{
    for (size_t i = 0; !fold->blind && i < fold->payload_count; i++)
        if (!fold->payloads[i].used)
            hf_fold_find(fold, 36, "payload", fold->payloads[i].key,
                         "payload %" PRId64 " is in the store, but no event refers to it",
                         fold->payloads[i].key);
}
