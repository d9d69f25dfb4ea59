/* command_note.c: see command_note.h. */
#include "model/command_note.h"

#include <stddef.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"

static const struct {
    const char *name;
    size_t offset;
} values[] = {{"context", offsetof(hf_command_note, context)},
              {"arguments", offsetof(hf_command_note, arguments)},
              {"validation_errors", offsetof(hf_command_note, validation_errors)}},
  texts[] = {{"fingerprint", offsetof(hf_command_note, fingerprint)},
             {"request_id", offsetof(hf_command_note, request_id)},
             {"dedup_key", offsetof(hf_command_note, dedup_key)},
             {"requested_run_id", offsetof(hf_command_note, requested_run_id)},
             {"reason", offsetof(hf_command_note, reason)},
             {"message", offsetof(hf_command_note, message)}};

enum { VALUES = sizeof(values) / sizeof(*values), TEXTS = sizeof(texts) / sizeof(*texts) };

hf_status hf_command_note_write(const hf_command_note *note, hf_mem *mem, hf_slice *out_body,
                                hf_err *err)
{
    hf_value_list *object = hf_value_object(mem);
    const char *base = (const char *)note;
    bool says = false;
    hf_buf text = {0};
    hf_value whole;

    *out_body = (hf_slice){0};
    for (size_t i = 0; i < VALUES; i++) {
        const hf_value *value = (const void *)(base + values[i].offset);

        if (!*value)
            continue;
        hf_value_set(object, hf_slice_of(values[i].name), *value);
        says = true;
    }
    for (size_t i = 0; i < TEXTS; i++) {
        const hf_slice *said = (const void *)(base + texts[i].offset);

        if (!said->ptr)
            continue;
        hf_value_set(object, hf_slice_of(texts[i].name), hf_value_string(mem, *said));
        says = true;
    }
    if (note->limit) {
        hf_value_set(object, HF_SLICE("structural_limit_kind"),
                     hf_value_string(mem, hf_slice_of(hf_limit_text(note->limit))));
        hf_value_set(object, HF_SLICE("structural_limit_value"),
                     hf_value_int(mem, note->limit_value));
        hf_value_set(object, HF_SLICE("structural_limit_configured"),
                     hf_value_int(mem, note->limit_configured));
        says = true;
    }
    if (!says)
        return HF_OK;
    whole = hf_value_finish(object);
    if (whole)
        hf_json_write_canonical(&text, whole);
    if (whole && hf_buf_ok(&text))
        *out_body = hf_slice_from(hf_mem_text(mem, hf_buf_slice(&text)), text.len);
    hf_buf_fini(&text);
    return out_body->ptr ? HF_OK : hf_err_nomem(err, "the note of a command");
}

hf_status hf_command_note_read(hf_slice body, hf_mem *mem, hf_command_note *out_note, hf_err *err)
{
    char *base = (char *)out_note;
    hf_value whole = NULL;
    hf_status st;

    *out_note = (hf_command_note){0};
    if (!body.len)
        return HF_OK;
    st = hf_json_read(mem, body, NULL, &whole, err);
    if (st)
        return hf_err_because(err, st, "the body of a command");
    for (size_t i = 0; i < VALUES; i++)
        *(hf_value *)(void *)(base + values[i].offset) =
            hf_value_find(whole, hf_slice_of(values[i].name));
    for (size_t i = 0; i < TEXTS; i++)
        *(hf_slice *)(void *)(base + texts[i].offset) =
            hf_value_slice(hf_value_find(whole, hf_slice_of(texts[i].name)));
    if (hf_limit_parse(hf_slice_of(hf_str(whole, "structural_limit_kind", "")), &out_note->limit)) {
        out_note->limit_value = hf_int(whole, "structural_limit_value", 0);
        out_note->limit_configured = hf_int(whole, "structural_limit_configured", 0);
    }
    return HF_OK;
}
