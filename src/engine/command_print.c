/* command_print.c: see command_print.h. Members that the caller left out are left out: the print
   says what was asked for, not what became of it. */
#include "engine/command_print.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/value.h"

static void put_text(hf_value_list *object, hf_mem *mem, const char *key, hf_slice text)
{
    if (text.ptr && hf_utf8_valid(text)) /* what is no text is refused by whoever reads it */
        hf_value_set(object, hf_slice_of(key), hf_value_string(mem, text));
}

static void put_number(hf_value_list *object, hf_mem *mem, const char *key, int64_t number)
{
    if (number)
        hf_value_set(object, hf_slice_of(key), hf_value_int(mem, number));
}

static hf_value payload_make(const hf_request *request, hf_mem *mem)
{
    const hf_intake_start *start = request->start;
    hf_value_list *object = hf_value_object(mem);

    put_text(object, mem, "name", request->name);
    put_text(object, mem, "reason", request->reason);
    put_text(object, mem, "dedup_key", request->dedup_key);
    if (request->args)
        hf_value_set(object, HF_SLICE("arguments"), request->args);
    if (start) {
        put_text(object, mem, "workflow_type", start->type);
        put_text(object, mem, "workflow_id", start->id);
        put_text(object, mem, "business_key", start->business_key);
        put_text(object, mem, "task_queue", start->queue);
        put_text(object, mem, "labels", start->labels);
        put_text(object, mem, "memo", start->memo);
        put_text(object, mem, "search_attributes", start->attributes);
        put_number(object, mem, "execution_timeout_us", start->execution_timeout_us);
        put_number(object, mem, "run_timeout_us", start->run_timeout_us);
        put_number(object, mem, "duplicate_policy", start->duplicate);
        if (start->input)
            hf_value_set(object, HF_SLICE("input"), start->input);
    }
    return hf_value_finish(object);
}

static hf_value request_make(const hf_request *request, hf_mem *mem)
{
    hf_value_list *whole = hf_value_object(mem);
    hf_value_list *headers = hf_value_object(mem);
    hf_value payload = payload_make(request, mem);
    const char *path =
        hf_mem_format(mem, "%.*s%s%.*s", (int)request->id.len,
                      request->id.ptr ? request->id.ptr : "", request->run_id.ptr ? "/runs/" : "",
                      (int)request->run_id.len, request->run_id.ptr ? request->run_id.ptr : "");

    put_text(headers, mem, "X-Request-Id", request->request_id);
    put_text(whole, mem, "method", hf_slice_of(hf_command_type_text(request->type)));
    put_text(whole, mem, "path", hf_slice_of(path));
    hf_value_set(whole, HF_SLICE("payload"), payload);
    hf_value_set(whole, HF_SLICE("headers"), hf_value_finish(headers));
    return path && payload ? hf_value_finish(whole) : NULL;
}

hf_status hf_command_print(const hf_request *request, hf_sha256 *sha, hf_mem *mem,
                           hf_slice *out_print, hf_err *err)
{
    uint8_t digest[HF_SHA256_BYTES];
    char hex[HF_SHA256_TEXT_SIZE];
    hf_value whole = request_make(request, mem);
    hf_buf text = {0};
    const char *made = NULL;
    hf_status st = HF_OK;

    if (whole)
        hf_json_write_ksort(&text, whole);
    if (whole && hf_buf_ok(&text)) {
        st = hf_sha256_digest(sha, hf_buf_slice(&text), digest, err);
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), hex);
        made = st ? NULL : hf_mem_format(mem, "sha256:%s", hex);
    }
    hf_buf_fini(&text);
    *out_print = hf_slice_of(made);
    return st || made ? st : hf_err_nomem(err, "the fingerprint of a request");
}
