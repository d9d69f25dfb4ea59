/* test_storage.c: payloads outside of messages, over real HTTP and in the directory: references are
   verified by place, size and hash, and nothing else is read. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/value.h"
#include "lib/schema.h"
#include "lib/site.h"
#include "server/payload.h"
#include "server/storage.h"
#include "server/sweep.h"

static hf_value echo(hf_ctx *w, hf_value in)
{
    (void)hf_receive(w, "go");
    return in;
}

static const hf_app app = {
    .name = "storage",
    .workflows = (const hf_workflow_def[]){
        {.type = "echo", .run = echo, .signals = (const hf_signal_def[]){{"go", NULL}, {0}}}, {0}}};

static char folder[64];

static void folder_make(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/hf-storage-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void folder_remove(void)
{
    char command[128];

    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* What was put comes back; every part of a reference that is changed is noticed. */
START_TEST(references_are_verified)
{
    hf_mem *mem = hf_mem_new();
    hf_storage storage = {.space = "default", .mem = mem};
    hf_value reference = NULL;
    hf_value same = NULL;
    hf_slice blob;
    char path[512];
    FILE *file;

    folder_make();
    storage.root = folder;
    hf_test_ok(hf_storage_put(&storage, HF_SLICE("payload"), &reference, NULL), NULL, "put");
    hf_test_ok(hf_storage_put(&storage, HF_SLICE("payload"), &same, NULL), NULL, "put again");
    ck_assert(hf_value_equal(reference, same));
    hf_test_ok(hf_storage_get(&storage, reference, &blob, NULL), NULL, "get");
    ck_assert(hf_slice_equal(blob, HF_SLICE("payload")));
    {
        static const char *const wrong[] = {
            "{\"size_bytes\": 8}",
            "{\"size_bytes\": 6}",
            "{\"size_bytes\": -1}",
            "{\"schema\": \"other\"}",
            "{\"sha256\": \"zz\"}",
            "{\"sha256\": \"0000000000000000000000000000000000000000000000000000000000000000\"}",
            "{\"uri\": \"file:///etc/passwd\"}",
            "{\"uri\": \"s3://bucket/key\"}"};

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
            hf_value bad =
                hf_value_merge(mem, reference, hf_parse_(mem, wrong[i], strlen(wrong[i])));

            ck_assert_msg(hf_storage_get(&storage, bad, &blob, NULL) == HF_INVALID, "%s", wrong[i]);
        }
    }
    storage.space = "other"; /* of another namespace */
    ck_assert_int_eq(hf_storage_get(&storage, reference, &blob, NULL), HF_INVALID);
    storage.space = "..";
    ck_assert_int_eq(hf_storage_put(&storage, HF_SLICE("x"), &same, NULL), HF_INVALID);
    storage.space = "default";
    (void)snprintf(path, sizeof(path), "%s", hf_str(reference, "uri", "") + 7);
    file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fputs("PAYLOAD", file) >= 0, 1);
    (void)fclose(file);
    ck_assert_int_eq(hf_storage_get(&storage, reference, &blob, NULL), HF_INVALID);
    (void)unlink(path);
    ck_assert_int_eq(hf_storage_get(&storage, reference, &blob, NULL), HF_INVALID);
    folder_remove();
    hf_mem_free(mem);
}
END_TEST

/* A namespace says from which size on; small ones stay, big ones leave by reference and come so. */
HF_BOTH_ENGINES(payloads_travel_by_reference)
{
    static const char policy[] = "/api/namespaces/default/external-storage";
    hf_storage storage = {.space = "default"};
    hf_site site;
    hf_site_answer answer;
    hf_value reference = NULL;
    hf_mem *mem = hf_mem_new();
    char body[2048];
    char text[600];

    folder_make();
    storage.root = folder;
    storage.mem = mem;
    hf_site_open(&site, kind, &app, (hf_server_options){.storage = folder});
    answer =
        hf_site_expect(&site, "PUT", policy, "{\"driver\":\"local\",\"threshold_bytes\":200}", 200);
    hf_schema_fits(HF_TEST_DIR "/server/schemas/external-storage-policy.schema.json", answer.body);
    (void)hf_site_expect(&site, "PUT", policy, "{\"driver\":\"s3\"}", 422);
    (void)hf_site_expect(&site, "PUT", policy, "{\"driver\":\"local\",\"threshold_bytes\":0}", 422);
    (void)hf_site_expect(&site, "PUT", policy,
                         "{\"driver\":\"local\",\"config\":{\"root\":\"/etc\"}}", 422);
    (void)hf_site_expect(&site, "PUT", "/api/namespaces/none/external-storage",
                         "{\"driver\":\"local\"}", 404);
    answer = hf_site_expect(&site, "POST", "/api/storage/test", "{}", 200);
    hf_schema_fits(HF_TEST_DIR "/server/schemas/storage-test.schema.json", answer.body);
    (void)hf_site_expect(&site, "POST", "/api/storage/test", "{\"large_payload_bytes\":0}", 422);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    hf_test_ok(hf_storage_put(&storage,
                              hf_value_slice(hf_get(
                                  hf_payload_seal(mem, hf_json_(mem, "[%s]", text)), "blob")),
                              &reference, NULL),
               NULL, "put");
    (void)snprintf(body, sizeof(body),
                   "{\"workflow_type\":\"echo\",\"workflow_id\":\"e-1\",\"input\":{\"codec\":"
                   "\"avro\",\"external_storage\":%s}}",
                   hf_text(mem, reference));
    (void)hf_site_expect(&site, "POST", "/api/workflows", body, 201);
    (void)hf_site_expect(&site, "POST", "/api/workflows/e-1/signal/go", "{}", 202);
    answer = hf_site_expect(&site, "GET", "/api/workflows/e-1/result?wait_timeout_seconds=20", NULL,
                            200);
    ck_assert_str_eq(hf_str(answer.body, "result.0", ""), text);
    ck_assert_str_eq(hf_str(answer.body, "result_envelope.external_storage.sha256", ""),
                     hf_str(reference, "sha256", "-"));
    (void)snprintf(
        body, sizeof(body),
        "{\"workflow_type\":\"echo\",\"input\":{\"codec\":\"avro\",\"external_storage\":"
        "%s}}",
        hf_text(mem, hf_value_merge(mem, reference, hf_json_(mem, "{'size_bytes': 1}"))));
    answer = hf_site_expect(&site, "POST", "/api/workflows", body, 422);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "external_payload_integrity");
    hf_site_close(&site);
    folder_remove();
    hf_mem_free(mem);
}

/* The file of a reference. */
static const char *file_of(hf_value reference)
{
    static char path[512];

    (void)snprintf(path, sizeof(path), "%s", hf_str(reference, "uri", "file://") + 7);
    return path;
}

/* As if nobody had been handed it for so many days. */
static void file_age(const char *path, int days)
{
    struct timespec times[2];

    ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &times[0]), 0);
    times[0].tv_sec -= (time_t)days * 86400;
    times[1] = times[0];
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Old files go, some at a time and drafts that were never finished as well; what was handed out
   lately stays, and so does what is no file or lies elsewhere. */
START_TEST(old_files_go_in_batches)
{
    hf_mem *mem = hf_mem_new();
    hf_storage storage = {.space = "default", .mem = mem};
    int64_t before_us = hf_clock_wall_us(hf_clock_system()) - INT64_C(86400000000);
    hf_value kept = NULL;
    hf_value old = NULL;
    char text[32];
    char path[600];
    int64_t removed = 0;
    int64_t all = 0;
    bool more = true;

    folder_make();
    storage.root = folder;
    hf_test_ok(hf_storage_put(&storage, HF_SLICE("kept"), &kept, NULL), NULL, "put");
    for (int i = 0; i < 25; i++) {
        (void)snprintf(text, sizeof(text), "old-%d", i);
        hf_test_ok(hf_storage_put(&storage, hf_slice_of(text), &old, NULL), NULL, "put");
        file_age(file_of(old), 2);
    }
    (void)snprintf(path, sizeof(path), "%s.abcdef", file_of(old));
    ck_assert_int_eq(link(file_of(old), path), 0); /* a draft of a process that died */
    file_age(file_of(kept), 2);
    hf_test_ok(hf_storage_put(&storage, HF_SLICE("kept"), &kept, NULL), NULL, "put again");
    while (more) {
        hf_test_ok(hf_sweep_files(folder, "default", before_us, 10, &removed, &more, NULL), NULL,
                   "sweep");
        ck_assert_int_le(removed, 10);
        all += removed;
    }
    ck_assert_int_eq(all, 26);
    ck_assert(is_there(file_of(kept)) && !is_there(path));
    hf_test_ok(hf_sweep_files(folder, "none", before_us, 10, &removed, &more, NULL), NULL, "sweep");
    ck_assert_int_eq(removed, 0);
    folder_remove();
    hf_mem_free(mem);
}
END_TEST

/* Retention takes files along: those that belong to no run any more, whatever happened to their
   process, but none that another run was shown with; and what is still asked for comes again. */
HF_BOTH_ENGINES(retention_covers_files)
{
    static const char pass[] = "/api/system/retention/pass";
    hf_mem *mem = hf_mem_new();
    hf_storage storage = {.space = "default", .mem = mem};
    hf_value of_nobody = NULL;
    hf_site_answer answer;
    hf_site site;
    char body[1024];
    char text[600];
    char path[512];

    folder_make();
    storage.root = folder;
    memset(text, 'y', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    hf_site_open(&site, kind, &app, (hf_server_options){.storage = folder});
    (void)hf_site_expect(&site, "PUT", "/api/namespaces/default/external-storage",
                         "{\"driver\":\"local\",\"threshold_bytes\":200}", 200);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(body, sizeof(body),
                       "{\"workflow_type\":\"echo\",\"workflow_id\":\"e-%d\",\"input\":[\"%s\"]}",
                       i, text);
        (void)hf_site_expect(&site, "POST", "/api/workflows", body, 201);
        (void)snprintf(body, sizeof(body), "/api/workflows/e-%d/signal/go", i);
        (void)hf_site_expect(&site, "POST", body, "{}", 202);
    }
    answer = hf_site_expect(&site, "GET", "/api/workflows/e-0/result?wait_timeout_seconds=60", NULL,
                            200);
    (void)snprintf(path, sizeof(path), "%s",
                   file_of(hf_get(answer.body, "result_envelope.external_storage")));
    ck_assert(is_there(path));
    hf_test_ok(hf_storage_put(&storage, HF_SLICE("of a run that is gone"), &of_nobody, NULL), NULL,
               "put");
    file_age(file_of(of_nobody), 31);
    file_age(path, 31);
    (void)hf_site_expect(&site, "GET", "/api/workflows/e-1/result?wait_timeout_seconds=60", NULL,
                         200);
    answer = hf_site_expect(&site, "POST", pass, "{}", 200);
    ck_assert_ptr_nonnull(hf_get(answer.body, "payload_files"));
    ck_assert(!is_there(file_of(of_nobody)));
    ck_assert(is_there(path)); /* another run has the same payload, and was looked at */
    file_age(path, 31);
    (void)hf_site_expect(&site, "POST", pass, "{}", 200);
    ck_assert(!is_there(path));
    (void)hf_site_expect(&site, "GET", "/api/workflows/e-0/result", NULL, 200);
    ck_assert(is_there(path));
    hf_site_close(&site);
    folder_remove();
    hf_mem_free(mem);
}

/* Without a directory nothing is kept and nothing is read. */
START_TEST(no_directory)
{
    hf_server *none = NULL;
    hf_site_answer answer;
    hf_err err = {0};
    hf_site site;

    hf_site_open(&site, HF_ENGINE_SQLITE, &app, (hf_server_options){0});
    answer = hf_site_expect(&site, "PUT", "/api/namespaces/default/external-storage",
                            "{\"driver\":\"local\"}", 422);
    ck_assert_str_eq(hf_str(answer.body, "reason", ""), "external_storage_unavailable");
    (void)hf_site_expect(&site, "PUT", "/api/namespaces/default/external-storage",
                         "{\"driver\":\"local\",\"enabled\":false}", 200);
    (void)hf_site_expect(&site, "POST", "/api/storage/test", "{}", 422);
    hf_site_close(&site);
    ck_assert_int_eq(hf_server_open(&(hf_server_options){.listen = "127.0.0.1:0",
                                                         .storage = "/tmp/there/is/none"},
                                    &none, &err),
                     HF_INVALID);
}
END_TEST

HF_PG_SUITE_MAIN("server/storage", {references_are_verified, 0},
                 HF_BOTH(payloads_travel_by_reference), {old_files_go_in_batches, 0},
                 HF_BOTH(retention_covers_files), {no_directory, 0})
