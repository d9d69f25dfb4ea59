/* refusal.c: see refusal.h. */
#include "cli/refusal.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"

/* A parameter as it is written in a definition: sku:string, amount:int=1, how:enum(a|b)?. */
static void parameter_write(hf_mem *mem, hf_value parameter, hf_buf *out)
{
    const char *name = hf_str(parameter, "name", "");
    hf_value choices = hf_get(parameter, "enum");
    hf_value otherwise = hf_get(parameter, "default");
    const char *text = hf_str(otherwise, "", hf_text(mem, otherwise));

    hf_buf_add_format(out, "%s%s%s", name, *name ? ":" : "", hf_str(parameter, "type", "any"));
    for (size_t i = 0; i < hf_len(choices); i++)
        hf_buf_add_format(out, "%s%s", i ? "|" : "(", hf_str(hf_at(choices, i), "", ""));
    hf_buf_add_text(out, hf_len(choices) ? ")" : "");
    hf_buf_add_text(out, hf_bool(parameter, "allows_null", false) ? "?" : "");
    if (hf_bool(parameter, "default_available", false) && text && strcmp(text, "null") != 0)
        hf_buf_add_format(out, "=%s", text);
}

/* Arguments that do not fit: the first mistake, and what would. */
static hf_status arguments_refused(hf_cli_call *call, hf_value envelope, hf_err *err)
{
    hf_value errors = hf_get(envelope, "validation_errors");
    hf_value parameters = hf_get(envelope, "parameters");
    hf_buf takes = {0};
    hf_slice field = {0};
    hf_value texts = NULL;
    hf_status st;

    (void)hf_value_member(errors, 0, &field, &texts);
    if (hf_value_kind_of(parameters) == HF_VALUE_ARRAY)
        hf_buf_add_text(&takes, hf_len(parameters) ? " It takes " : " It takes nothing");
    for (size_t i = 0; i < hf_len(parameters); i++) {
        hf_buf_add_text(&takes, i ? ", " : "");
        parameter_write(call->mem, hf_at(parameters, i), &takes);
    }
    hf_buf_add_text(&takes, takes.len ? "." : "");
    st = hf_err_set(err, HF_INVALID, "%s: %.*s: %s%s", hf_str(envelope, "outcome", ""),
                    (int)field.len, field.ptr, hf_str(texts, "0", "not accepted"),
                    hf_buf_text(&takes));
    hf_buf_fini(&takes);
    return st;
}

hf_status hf_cli_refusal(hf_cli_call *call, hf_value envelope, hf_err *err)
{
    const char *outcome = hf_str(envelope, "outcome", "");
    const char *id = hf_str(envelope, "workflow_id", NULL);
    bool invalid = strcmp(outcome, "rejected_invalid_arguments") == 0;

    if (strncmp(outcome, "rejected", 8) != 0)
        return HF_OK;
    if (strcmp(hf_str(envelope, "reason", ""), "instance_not_found") == 0) {
        call->next = "holdfast ls {here}";
        return hf_err_set(err, HF_NOTFOUND, "there is no workflow %s", id ? id : "");
    }
    if (id)
        call->next = hf_mem_format(call->mem, "holdfast show %s {here}", id);
    if (hf_value_kind_of(hf_get(envelope, "validation_errors")) == HF_VALUE_OBJECT)
        return arguments_refused(call, envelope, err);
    return hf_err_set(err, invalid ? HF_INVALID : HF_REJECTED, "%s: %s", outcome,
                      hf_str(envelope, "message", "the engine refused it"));
}
