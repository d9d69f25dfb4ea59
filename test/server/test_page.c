/* test_page.c: the console's page and files as they are served: what they may load, how long they
   may be kept, and that every address works wherever a proxy has put them. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "lib/site.h"
#include "server/console.h"

enum { BUDGET = 120 * 1024, PLACE_BYTES = 1024 * 1024, PATH_BYTES = 256, GZIP_WINDOW = 15 + 16 };

static bool has(const hf_site_answer *answer, const char *name, const char *value)
{
    return hf_slice_equal(hf_wire_field(&answer->raw, name), hf_slice_of(value));
}

/* What every answer of the console carries. */
static void guarded(const hf_site_answer *answer)
{
    const char *head = hf_buf_text(&answer->raw.head);

    ck_assert_ptr_nonnull(strstr(head,
                                 "Content-Security-Policy: default-src 'none'; script-src 'self'; "
                                 "style-src 'self'; "));
    ck_assert_ptr_nonnull(strstr(head, "frame-ancestors 'none'"));
    ck_assert_ptr_null(strstr(head, "unsafe"));
    ck_assert(has(answer, "Referrer-Policy", "no-referrer"));
    ck_assert(has(answer, "X-Content-Type-Options", "nosniff"));
    ck_assert(has(answer, "Cross-Origin-Opener-Policy", "same-origin"));
}

/* Every address is the page, which finds its files by a way that begins at that address. */
START_TEST(every_address_is_the_page)
{
    static const struct {
        const char *path;
        const char *up;
    } rows[] = {{"/console/", "=\""},
                {"/console/runs", "=\""},
                {"/console/?login=used", "=\""},
                {"/console/runs?q=is%3Aopen&theirs=1", "=\""},
                {"/console/runs/a%2Fb", "=\"../"},
                {"/console/runs/a%20b/steps", "=\"../../"}};
    hf_site site;
    hf_site_answer answer;

    hf_site_open(&site, HF_ENGINE_SQLITE, NULL, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    answer = hf_site_ask(&site, "GET", "/console", NULL, NULL);
    ck_assert_int_eq(answer.status, 302);
    ck_assert(has(&answer, "Location", "console/"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char wanted[PATH_BYTES];

        answer = hf_site_ask(&site, "GET", rows[i].path, NULL, NULL);
        ck_assert_int_eq(answer.status, 200);
        ck_assert(has(&answer, "Cache-Control", "no-cache"));
        guarded(&answer);
        ck_assert_ptr_null(strstr(answer.text, "{up}"));
        if (hf_console_file_count == 0)
            continue; /* built without */
        (void)snprintf(wanted, sizeof(wanted), "%s%s", rows[i].up, hf_console_files[0].name);
        ck_assert_msg(strstr(answer.text, wanted) != NULL, "%s: %s", rows[i].path, answer.text);
    }
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/console/api/nothing", NULL, NULL).status, 404);
    ck_assert_int_eq(hf_site_ask(&site, "POST", "/console/runs", NULL, NULL).status, 405);
    ck_assert_int_eq(hf_site_ask(&site, "GET", "/console/a/%2e%2e/b", NULL, NULL).status, 400);
    hf_site_close(&site);
}
END_TEST

static hf_slice unpacked(hf_slice packed)
{
    static char place[PLACE_BYTES];
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed.ptr,
                       .avail_in = (uInt)packed.len,
                       .next_out = (Bytef *)place,
                       .avail_out = sizeof(place)};

    ck_assert_int_eq(inflateInit2(&stream, GZIP_WINDOW), Z_OK);
    ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    (void)inflateEnd(&stream);
    return hf_slice_from(place, sizeof(place) - stream.avail_out);
}

/* Files may be kept for ever, are known again by their tag, and are the same with and without gzip.
 */
START_TEST(files_never_change)
{
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, NULL, (hf_server_options){.auth = {HF_AUTH_TOKEN, {0}}});
    for (size_t i = 0; i < hf_console_file_count; i++) {
        const hf_console_file *file = &hf_console_files[i];
        char path[PATH_BYTES];
        char tag[PATH_BYTES];
        hf_site_answer answer;

        (void)snprintf(path, sizeof(path), "/console/%s", file->name);
        (void)snprintf(tag, sizeof(tag), "If-None-Match: \"%s\"\r\n", file->name);
        answer = hf_site_ask(&site, "GET", path, "Accept-Encoding: gzip\r\n", NULL);
        ck_assert_int_eq(answer.status, 200);
        guarded(&answer);
        ck_assert(has(&answer, "Content-Encoding", "gzip"));
        ck_assert(has(&answer, "Content-Type", file->type));
        ck_assert(has(&answer, "Cache-Control", "public, max-age=31536000, immutable"));
        ck_assert(hf_slice_equal(hf_buf_slice(&answer.raw.body), file->packed));
        answer = hf_site_ask(&site, "GET", path, NULL, NULL);
        ck_assert(hf_slice_equal(hf_buf_slice(&answer.raw.body), unpacked(file->packed)));
        ck_assert_uint_eq(answer.raw.body.len, file->bytes);
        ck_assert_int_eq(hf_site_ask(&site, "GET", path, tag, NULL).status, 304);
    }
    hf_site_close(&site);
}
END_TEST

/* All that a browser loads, compressed, is at most 120 KB. */
START_TEST(it_is_small)
{
    size_t sum = hf_console_page.len;

    for (size_t i = 0; i < hf_console_file_count; i++)
        sum += hf_console_files[i].packed.len;
    ck_assert_msg(sum <= BUDGET, "%zu bytes", sum);
}
END_TEST

HF_SUITE_MAIN("server/page", {every_address_is_the_page, 0}, {files_never_change, 0},
              {it_is_small, 0})
