/* address.c: addresses of stores. Must never put a password into a message. */
#include "store/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/slice.h"

enum { SCHEMA_BYTES_MAX = 63 };

static const char address_forms[] = "use PATH, sqlite:PATH or postgres://USER@HOST/DATABASE";

/* The bytes before the colon when the text begins with something like a URI scheme, else 0. */
static size_t scheme_bytes(const char *text)
{
    size_t len = 0;

    for (; text[len] && text[len] != ':'; len++) {
        char c = text[len];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool other = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';

        if (!letter && (len == 0 || !other))
            return 0;
    }
    return text[len] == ':' ? len : 0;
}

static bool schema_valid(hf_slice name)
{
    if (name.len == 0 || name.len > SCHEMA_BYTES_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!((c >= 'a' && c <= 'z') || c == '_' || (i > 0 && c >= '0' && c <= '9')))
            return false;
    }
    return true;
}

/* The URI up to its parameters, every password between the first colon and the last @ hidden: an
   unescaped @ or slash in a password must not make a part of it visible. */
static void shown_add_front(hf_buf *out, hf_slice front, size_t authority_at)
{
    const char *colon = memchr(front.ptr + authority_at, ':', front.len - authority_at);
    size_t at = front.len;

    while (at > authority_at && front.ptr[at - 1] != '@')
        at--;
    if (!colon || at == authority_at || colon > front.ptr + at) {
        hf_buf_add_slice(out, front);
        return;
    }
    hf_buf_add(out, front.ptr, (size_t)(colon - front.ptr) + 1);
    hf_buf_add_text(out, "***");
    hf_buf_add(out, front.ptr + at - 1, front.len - (at - 1));
}

static bool parameter_secret(hf_slice parameter)
{
    return hf_slice_starts(parameter, HF_SLICE("password=")) ||
           hf_slice_starts(parameter, HF_SLICE("sslpassword="));
}

/* Splits off the parameters: ours are taken out, the others stay for libpq. */
static void parameters_split(hf_slice rest, hf_buf *target, hf_buf *shown, hf_slice *out_schema)
{
    static const hf_slice ours = {.ptr = "hf_schema=", .len = 10};
    hf_slice part;
    char target_mark = '?';
    char shown_mark = '?';

    while (hf_slice_split(&rest, '&', &part)) {
        hf_slice visible = part;

        if (hf_slice_starts(part, ours)) {
            *out_schema = hf_slice_from(part.ptr + ours.len, part.len - ours.len);
        } else {
            hf_buf_add_byte(target, (uint8_t)target_mark);
            hf_buf_add_slice(target, part);
            target_mark = '&';
        }
        hf_buf_add_byte(shown, (uint8_t)shown_mark);
        shown_mark = '&';
        if (parameter_secret(part))
            visible.len = (size_t)((const char *)memchr(part.ptr, '=', part.len) - part.ptr) + 1;
        hf_buf_add_slice(shown, visible);
        if (visible.len != part.len)
            hf_buf_add_text(shown, "***");
    }
}

static hf_status schema_choose(const char *given, hf_slice from_uri, hf_address *address,
                               hf_err *err)
{
    hf_slice name = given ? hf_slice_of(given) : from_uri;

    if (given && from_uri.ptr && !hf_slice_equal(name, from_uri))
        return hf_err_set(err, HF_INVALID, "%s names the schema %.*s, but %s was asked for",
                          address->shown, (int)from_uri.len, from_uri.ptr, given);
    if (!given && !from_uri.ptr)
        name = HF_SLICE("holdfast");
    if (!schema_valid(name))
        return hf_err_set(err, HF_INVALID,
                          "\"%.*s\" cannot be the name of a schema: use a to z, 0 to 9 and _, at "
                          "most %d of them, no "
                          "digit first",
                          (int)(name.len > 80 ? 80 : name.len), name.ptr, SCHEMA_BYTES_MAX);
    address->schema = hf_alloc_text(name.ptr, name.len);
    return address->schema ? HF_OK : hf_err_nomem(err, "an address");
}

static hf_status postgres_parse(const char *text, size_t authority_at, const char *schema,
                                hf_address *address, hf_err *err)
{
    const char *mark = strchr(text, '?');
    hf_slice front = hf_slice_from(text, mark ? (size_t)(mark - text) : strlen(text));
    hf_slice from_uri = {0};
    hf_buf target = {0};
    hf_buf shown = {0};
    hf_status st = HF_OK;

    hf_buf_add_slice(&target, front);
    shown_add_front(&shown, front, authority_at);
    if (mark)
        parameters_split(hf_slice_of(mark + 1), &target, &shown, &from_uri);
    if (hf_buf_ok(&target) && hf_buf_ok(&shown)) {
        address->target = hf_alloc_text(target.ptr, target.len);
        address->shown = hf_alloc_text(shown.ptr, shown.len);
    }
    if (!address->target || !address->shown)
        st = hf_err_nomem(err, "an address");
    if (!st)
        st = schema_choose(schema, from_uri, address, err);
    hf_buf_fini(&target);
    hf_buf_fini(&shown);
    return st;
}

static hf_status sqlite_parse(const char *path, hf_address *address, hf_err *err)
{
    if (*path == '\0')
        return hf_err_set(err, HF_INVALID, "the address of the store is empty: %s", address_forms);
    if (path[0] == '/' && path[1] == '/' &&
        path[2] != '/') /* what others write as sqlite://name means a host here */
        return hf_err_set(err, HF_INVALID, "sqlite:%s has two slashes: write sqlite:PATH", path);
    address->target = hf_alloc_text(path, strlen(path));
    address->shown = hf_alloc_text(path, strlen(path));
    return address->target && address->shown ? HF_OK : hf_err_nomem(err, "an address");
}

hf_status hf_address_parse(const char *text, const char *schema, hf_address *out_address,
                           hf_err *err)
{
    hf_slice whole = hf_slice_of(text);
    size_t scheme = text ? scheme_bytes(text) : 0;
    hf_slice name = hf_slice_from(text, scheme);

    *out_address = (hf_address){.kind = HF_ADDRESS_SQLITE};
    if (whole.len == 0)
        return hf_err_set(err, HF_INVALID, "the address of the store is empty: %s", address_forms);
    if (scheme == 0)
        return sqlite_parse(text, out_address, err);
    if (hf_slice_equal(name, HF_SLICE("sqlite")))
        return sqlite_parse(text + scheme + 1, out_address, err);
    out_address->kind = HF_ADDRESS_POSTGRES;
    if (strncmp(text + scheme, "://", 3) == 0 && (hf_slice_equal(name, HF_SLICE("postgres")) ||
                                                  hf_slice_equal(name, HF_SLICE("postgresql"))))
        return postgres_parse(text, scheme + 3, schema, out_address, err);
    return hf_err_set(
        err, HF_INVALID,
        "a store cannot have an address that begins with \"%.*s:\": %s (./ goes before a "
        "file name with a colon)",
        (int)(scheme > 40 ? 40 : scheme), text, address_forms);
}

void hf_address_fini(hf_address *address)
{
    hf_alloc_free(address->target);
    hf_alloc_free(address->shown);
    hf_alloc_free(address->schema);
    *address = (hf_address){.kind = HF_ADDRESS_SQLITE};
}
