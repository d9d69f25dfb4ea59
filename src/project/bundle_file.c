/* bundle_file.c: see bundle_file.h. */
#include "project/bundle_file.h"

#include <string.h>

#include "base/alloc.h"
#include "base/json.h"

enum { SINK_BYTES = 16 * 1024, SEAL_MAX = 64 * 1024 };

/* ---- the canonical text, as it comes */

typedef struct pass {
    hf_bundle_file *file;
    hf_json_scan *scan;
    hf_mem *mem; /* of the value at hand */
    hf_buf raw;  /* its text */
    hf_sha256 *sha;
    hf_hmac *hmac;
    hf_buf *canonical;
    hf_buf text; /* canonical text that is not hashed yet */
} pass;

static hf_status sink_flush(pass *p, size_t most, hf_err *err)
{
    hf_slice text = hf_buf_slice(&p->text);

    if (!hf_buf_ok(&p->text) || (p->canonical && !hf_buf_ok(p->canonical)))
        return hf_err_nomem(err, "a bundle");
    if (text.len <= most)
        return HF_OK;
    hf_sha256_add(p->sha, text);
    if (p->hmac)
        hf_hmac_add(p->hmac, text);
    if (p->canonical)
        hf_buf_add_slice(p->canonical, text);
    hf_buf_clear(&p->text);
    return HF_OK;
}

static hf_status value_take(hf_json_scan *scan, hf_mem *mem, size_t most, hf_buf *text,
                            hf_value *out_value, hf_err *err)
{
    const hf_json_limits limits = {.bytes_max = most};
    hf_status st;

    hf_buf_clear(text);
    st = hf_json_scan_value(scan, most, text, err);
    return st ? st : hf_json_read(mem, hf_buf_slice(text), &limits, out_value, err);
}

/* A value that is read whole: in what order its members stand is of no matter. */
static hf_status value_pass(pass *p, hf_err *err)
{
    hf_value value = NULL;
    hf_status st;

    hf_mem_reset(p->mem);
    st = value_take(p->scan, p->mem, HF_BUNDLE_VALUE_MAX, &p->raw, &value, err);
    if (st)
        return st;
    hf_json_write_ksort(&p->text, value);
    return sink_flush(p, SINK_BYTES, err);
}

static hf_status list_pass(pass *p, bool *out_any, hf_err *err)
{
    hf_json_token token;
    bool there = false;
    hf_status st = hf_json_scan_next(p->scan, &token, err);

    *out_any = false;
    hf_buf_add_text(&p->text, "[");
    while (!st) {
        st = hf_json_scan_item(p->scan, &there, err);
        if (st || !there)
            break;
        if (*out_any)
            hf_buf_add_text(&p->text, ",");
        *out_any = true;
        st = value_pass(p, err);
    }
    hf_buf_add_text(&p->text, "]");
    return st;
}

/* A key, which must stand behind the one before it. False: it does not. */
static hf_status key_take(pass *p, hf_buf *io_key, bool first, bool *out_ordered, hf_err *err)
{
    hf_json_token token;
    hf_status st = hf_json_scan_next(p->scan, &token, err);

    if (st)
        return st;
    *out_ordered = first || hf_slice_compare(hf_buf_slice(io_key), hf_json_scan_text(p->scan)) < 0;
    hf_buf_clear(io_key);
    hf_buf_add_slice(io_key, hf_json_scan_text(p->scan));
    return hf_buf_ok(io_key) ? HF_OK : hf_err_nomem(err, "a bundle");
}

static void key_add(pass *p, hf_slice key, bool first)
{
    hf_buf_add_text(&p->text, first ? "{\"" : ",\"");
    hf_json_add_escaped_ascii(&p->text, key);
    hf_buf_add_text(&p->text, "\":");
}

/* Members of a section. An object without any is written as an empty list. */
static hf_status members_pass(pass *p, bool *out_any, hf_err *err)
{
    hf_json_token token;
    bool there = false;
    bool ignored;
    char first_byte = '\0';
    hf_buf key = {0};
    hf_status st = hf_json_scan_next(p->scan, &token, err);

    *out_any = false;
    while (!st) {
        st = hf_json_scan_item(p->scan, &there, err);
        if (!st && there)
            st = key_take(p, &key, !*out_any, &p->file->sorted, err);
        if (st || !there || !p->file->sorted)
            break;
        key_add(p, hf_buf_slice(&key), !*out_any);
        *out_any = true;
        st = hf_json_scan_peek(p->scan, &first_byte, err);
        if (!st)
            st = first_byte == '[' ? list_pass(p, &ignored, err) : value_pass(p, err);
    }
    hf_buf_add_text(&p->text, *out_any ? "}" : "[]");
    hf_buf_fini(&key);
    return st;
}

static hf_value_kind kind_of(char first_byte)
{
    switch (first_byte) {
    case '{':
        return HF_VALUE_OBJECT;
    case '[':
        return HF_VALUE_ARRAY;
    case '"':
        return HF_VALUE_STRING;
    case 't':
    case 'f':
        return HF_VALUE_BOOL;
    case 'n':
        return HF_VALUE_NULL;
    default:
        return HF_VALUE_INT;
    }
}

/* The value behind the key of a section. The seal is no part of what it covers. */
static hf_status section_pass(pass *p, hf_slice name, bool *io_first, hf_err *err)
{
    hf_bundle_file *f = p->file;
    hf_bundle_section s = {0};
    char first_byte = '\0';
    bool any = false;
    hf_status st = hf_json_scan_place(p->scan, &s.at, err);

    if (!st)
        st = hf_json_scan_peek(p->scan, &first_byte, err);
    if (st)
        return st;
    s.kind = kind_of(first_byte);
    if (hf_slice_equal(name, HF_SLICE("integrity"))) {
        hf_buf_clear(&p->raw);
        st = hf_json_scan_value(p->scan, SEAL_MAX, &p->raw, err);
    } else {
        key_add(p, name, *io_first);
        *io_first = false;
        if (s.kind == HF_VALUE_OBJECT)
            st = members_pass(p, &any, err);
        else if (s.kind == HF_VALUE_ARRAY)
            st = list_pass(p, &any, err);
        else
            st = value_pass(p, err);
    }
    s.empty = !any;
    if (!st && f->count < HF_BUNDLE_SECTIONS_MAX && name.len < sizeof(s.name) &&
        !memchr(name.ptr, '\0', name.len)) {
        memcpy(s.name, name.ptr, name.len);
        f->sections[f->count++] = s;
    }
    return st;
}

static hf_status pass_run(pass *p, hf_err *err)
{
    hf_json_token token = HF_JSON_TOKEN_NULL;
    bool there = false;
    bool first_key = true;
    bool first = true;
    hf_buf key = {0};
    hf_status st = hf_json_scan_next(p->scan, &token, err);

    if (!st && token != HF_JSON_TOKEN_OBJECT)
        st = hf_err_set(err, HF_INVALID, "a bundle is an object");
    while (!st && p->file->sorted) {
        st = hf_json_scan_item(p->scan, &there, err);
        if (!st && there)
            st = key_take(p, &key, first_key, &p->file->sorted, err);
        if (st || !there || !p->file->sorted)
            break;
        first_key = false;
        st = section_pass(p, hf_buf_slice(&key), &first, err);
    }
    hf_buf_add_text(&p->text, first ? "[]" : "}");
    if (!st && p->file->sorted)
        st = hf_json_scan_next(p->scan, &token, err); /* nothing may follow */
    hf_buf_fini(&key);
    return st ? st : sink_flush(p, 0, err);
}

static hf_status sums_take(pass *p, hf_err *err)
{
    uint8_t digest[HF_SHA256_BYTES];
    hf_status st = hf_sha256_end(p->sha, digest, err);

    if (!st)
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), p->file->checksum);
    if (!st && p->hmac)
        st = hf_hmac_end(p->hmac, digest, err);
    if (!st && p->hmac)
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), p->file->signature);
    return st;
}

hf_status hf_bundle_file_open(const hf_bundle_source *source, hf_slice key, hf_buf *canonical,
                              hf_bundle_file *out_file, hf_err *err)
{
    pass *p = hf_alloc(sizeof(*p));
    hf_status st;

    if (!p)
        return hf_err_nomem(err, "a bundle");
    *out_file = (hf_bundle_file){.source = *source, .sorted = true};
    p->file = out_file;
    p->canonical = canonical;
    p->mem = hf_mem_new();
    st = p->mem ? hf_json_scan_new(source->read, source->ctx, 0, true, &p->scan, err)
                : hf_err_nomem(err, "a bundle");
    if (!st)
        st = hf_sha256_new(&p->sha, err);
    if (!st && key.len)
        st = hf_hmac_new(key, &p->hmac, err);
    if (!st) {
        hf_sha256_begin(p->sha);
        if (p->hmac)
            hf_hmac_begin(p->hmac);
        st = pass_run(p, err);
    }
    if (!st)
        st = sums_take(p, err);
    hf_json_scan_free(p->scan);
    hf_sha256_free(p->sha);
    hf_hmac_free(p->hmac);
    hf_mem_free(p->mem);
    hf_buf_fini(&p->raw);
    hf_buf_fini(&p->text);
    hf_alloc_free(p);
    return st;
}

/* ---- finding */

const hf_bundle_section *hf_bundle_file_section(const hf_bundle_file *file, hf_slice name)
{
    for (size_t i = 0; i < file->count; i++)
        if (hf_slice_equal(hf_slice_of(file->sections[i].name), name))
            return &file->sections[i];
    return NULL;
}

static bool index_parse(hf_slice text, int64_t *out_index)
{
    *out_index = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || i > 17)
            return false;
        *out_index = *out_index * 10 + (text.ptr[i] - '0');
    }
    return text.len > 0;
}

/* In the container that was just opened, moves to the part of that name. */
static hf_status part_find(hf_json_scan *scan, bool object, hf_slice name, bool *out_there,
                           hf_err *err)
{
    hf_json_token token;
    int64_t index = 0;
    bool listed = !object && index_parse(name, &index);
    hf_status st = HF_OK;

    *out_there = object || listed;
    while (!st && *out_there) {
        st = hf_json_scan_item(scan, out_there, err);
        if (st || !*out_there)
            break;
        if (object) {
            st = hf_json_scan_next(scan, &token, err);
            if (st || hf_slice_equal(hf_json_scan_text(scan), name))
                break;
        } else if (index-- == 0) {
            break;
        }
        st = hf_json_scan_value(scan, 0, NULL, err);
    }
    return st;
}

/* A scan that stands before the value at the path; NULL when there is none. */
static hf_status path_find(const hf_bundle_file *file, hf_slice path, hf_json_scan **out_scan,
                           hf_err *err)
{
    const hf_bundle_section *section;
    hf_json_token token;
    hf_slice name;
    bool there = hf_slice_split(&path, '.', &name);
    hf_status st;

    *out_scan = NULL;
    section = there ? hf_bundle_file_section(file, name) : NULL;
    if (!section)
        return HF_OK;
    st = hf_json_scan_new(file->source.read, file->source.ctx, section->at, false, out_scan, err);
    while (!st && there && hf_slice_split(&path, '.', &name)) {
        st = hf_json_scan_next(*out_scan, &token, err);
        there = !st && (token == HF_JSON_TOKEN_OBJECT || token == HF_JSON_TOKEN_ARRAY);
        if (there)
            st = part_find(*out_scan, token == HF_JSON_TOKEN_OBJECT, name, &there, err);
    }
    if (!st && there)
        return HF_OK;
    hf_json_scan_free(*out_scan);
    *out_scan = NULL;
    return st;
}

hf_status hf_bundle_file_get(const hf_bundle_file *file, hf_mem *mem, hf_slice path, size_t most,
                             hf_value *out_value, hf_err *err)
{
    hf_json_scan *scan = NULL;
    hf_buf text = {0};
    hf_status st = path_find(file, path, &scan, err);

    *out_value = NULL;
    if (!st && scan)
        st = value_take(scan, mem, most, &text, out_value, err);
    hf_buf_fini(&text);
    hf_json_scan_free(scan);
    return st;
}

hf_status hf_bundle_file_has(const hf_bundle_file *file, hf_slice path, bool *out_there,
                             hf_err *err)
{
    hf_json_token token = HF_JSON_TOKEN_NULL;
    hf_json_scan *scan = NULL;
    hf_status st = path_find(file, path, &scan, err);

    if (!st && scan)
        st = hf_json_scan_next(scan, &token, err);
    *out_there = !st && scan && token != HF_JSON_TOKEN_NULL;
    hf_json_scan_free(scan);
    return st;
}

/* ---- lists */

struct hf_bundle_list {
    hf_json_scan *scan;
    hf_buf text;
    int64_t count;
    bool ended;
};

hf_status hf_bundle_list_open(const hf_bundle_file *file, hf_slice path, hf_bundle_list **out_list,
                              hf_err *err)
{
    hf_json_token token = HF_JSON_TOKEN_NULL;
    hf_bundle_list *list;
    hf_json_scan *scan = NULL;
    hf_status st = path_find(file, path, &scan, err);

    *out_list = NULL;
    if (!st && scan)
        st = hf_json_scan_next(scan, &token, err);
    if (st || token != HF_JSON_TOKEN_ARRAY) {
        hf_json_scan_free(scan);
        return st;
    }
    list = hf_alloc(sizeof(*list));
    if (!list) {
        hf_json_scan_free(scan);
        return hf_err_nomem(err, "a list");
    }
    list->scan = scan;
    *out_list = list;
    return HF_OK;
}

void hf_bundle_list_close(hf_bundle_list *list)
{
    if (!list)
        return;
    hf_json_scan_free(list->scan);
    hf_buf_fini(&list->text);
    hf_alloc_free(list);
}

hf_status hf_bundle_list_next(hf_bundle_list *list, hf_mem *mem, hf_value *out_item, hf_err *err)
{
    bool there = false;
    hf_status st = list->ended ? HF_OK : hf_json_scan_item(list->scan, &there, err);

    *out_item = NULL;
    list->ended = !there;
    if (st || !there)
        return st;
    list->count++;
    if (mem)
        return value_take(list->scan, mem, HF_BUNDLE_VALUE_MAX, &list->text, out_item, err);
    *out_item = hf_value_null();
    return hf_json_scan_value(list->scan, 0, NULL, err);
}

int64_t hf_bundle_list_count(const hf_bundle_list *list)
{
    return list->count;
}
