/* input.c: see input.h. It reads files and standard input, at most what a payload may have. */
#include "cli/input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/slice.h"
#include "base/value.h"

enum { INPUT_BYTES_MAX = 16 * 1024 * 1024 };

static hf_status stream_read(FILE *file, const char *name, hf_buf *out, hf_err *err)
{
    char *room;
    size_t got = 1;

    while (got > 0 && out->len <= INPUT_BYTES_MAX) {
        room = hf_buf_reserve(out, 4096);
        if (!room)
            return hf_err_nomem(err, "the input");
        got = fread(room, 1, 4096, file);
        hf_buf_advance(out, got);
    }
    if (ferror(file))
        return hf_err_set(err, HF_IO, "cannot read %s: %s", name, strerror(errno));
    if (out->len > INPUT_BYTES_MAX)
        return hf_err_set(err, HF_TOOBIG, "%s is larger than %d bytes", name, INPUT_BYTES_MAX);
    return HF_OK;
}

/* JSON from a file, or from standard input when `path` is NULL. */
static hf_status file_value(hf_mem *mem, const char *path, hf_value *out_value, hf_err *err)
{
    const hf_json_limits limits = {.bytes_max = INPUT_BYTES_MAX};
    const char *name = path ? path : "standard input";
    FILE *file = path ? fopen(path, "r") : stdin;
    hf_buf text = {0};
    hf_status st;

    if (!file)
        return hf_err_set(err, errno == ENOENT ? HF_NOTFOUND : HF_DENIED, "cannot open %s: %s",
                          name, strerror(errno));
    st = stream_read(file, name, &text, err);
    if (!st)
        st = hf_err_because(
            err, hf_json_read(mem, hf_slice_trim(hf_buf_slice(&text)), &limits, out_value, err),
            "%s is not JSON", name);
    if (path)
        (void)fclose(file);
    hf_buf_fini(&text);
    return st;
}

/* name=text or name:=JSON into the object. */
static hf_status pair_set(hf_mem *mem, hf_value_list *object, hf_slice word, hf_err *err)
{
    const char *equals = memchr(word.ptr, '=', word.len);
    size_t name_len = equals ? (size_t)(equals - word.ptr) : 0;
    bool json = name_len > 0 && word.ptr[name_len - 1] == ':';
    hf_slice name = hf_slice_from(word.ptr, name_len - json);
    hf_slice text = {0};
    hf_value value = NULL;
    hf_status st = HF_OK;

    if (name.len == 0)
        return hf_err_set(err, HF_INVALID,
                          "\"%.*s\" is neither JSON, @FILE, -, nor a pair name=text or name:=JSON",
                          (int)word.len, word.ptr);
    text = hf_slice_from(equals + 1, word.len - name_len - 1);
    if (json)
        st = hf_err_because(err, hf_json_read(mem, text, NULL, &value, err), "%.*s", (int)name.len,
                            name.ptr);
    else
        value = hf_value_string(mem, text);
    if (!st && !value)
        st = hf_err_set(err, HF_INVALID, "%.*s is not UTF-8 text", (int)name.len, name.ptr);
    if (!st)
        hf_value_set(object, name, value);
    return st;
}

static hf_status object_finish(hf_value_list *object, hf_value *out_value, hf_err *err)
{
    *out_value = hf_value_finish(object);
    return *out_value ? HF_OK
                      : hf_err_set(err, HF_INVALID, "the pairs are no object: a name comes twice");
}

/* Whether a word can only be JSON, so that an error about it is worth more than one about pairs. */
static bool looks_like_json(const char *word)
{
    return *word && strchr("{[\"", *word);
}

hf_status hf_cli_input(hf_cli_call *call, size_t used, hf_value *out_value, hf_err *err)
{
    const char *const *words = call->words + used;
    size_t count = call->word_count - used;
    hf_mem *mem = call->mem;
    hf_value_list *object;
    hf_status st = HF_OK;

    *out_value = NULL;
    if (count == 0)
        return HF_OK;
    if (count == 1 && strcmp(words[0], "-") == 0)
        return file_value(mem, NULL, out_value, err);
    if (count == 1 && words[0][0] == '@') {
        call->next = "holdfast help {verb}"; /* a file that is missing is no store */
        return file_value(mem, words[0] + 1, out_value, err);
    }
    if (count == 1) {
        st = hf_json_read(mem, hf_slice_of(words[0]), NULL, out_value, err);
        if (!st || st == HF_NOMEM || looks_like_json(words[0]))
            return hf_err_because(err, st, "the input is not JSON");
    }
    object = hf_value_object(mem);
    st = HF_OK;
    for (size_t i = 0; !st && i < count; i++)
        st = pair_set(mem, object, hf_slice_of(words[i]), err);
    return st ? st : object_finish(object, out_value, err);
}

hf_status hf_cli_pairs(hf_mem *mem, const char *text, hf_value *out_value, hf_err *err)
{
    hf_value_list *object = hf_value_object(mem);
    hf_slice rest = hf_slice_of(text);
    hf_slice word;
    hf_status st = HF_OK;

    while (!st && hf_slice_split(&rest, ',', &word))
        st = pair_set(mem, object, word, err);
    return st ? st : object_finish(object, out_value, err);
}

hf_status hf_cli_duration(const char *text, int64_t *out_ms, hf_err *err)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    size_t digits = strspn(text, "0123456789");
    int64_t number;

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (digits > 0 && strcmp(text + digits, units[i].unit) == 0 &&
            hf_slice_int(hf_slice_from(text, digits), &number) && number <= INT64_MAX / 86400000) {
            *out_ms = number * units[i].ms;
            return HF_OK;
        }
    return hf_err_set(err, HF_INVALID, "\"%s\" is no duration: 500ms, 90s, 5m, 2h, 7d", text);
}
