/* Bundles that are checked without their store: exported from history when rows are lost, redacted,
   signed, compared; and refused when a single bit of them says something else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/value.h"
#include "holdfast/tool.h"
#include "holdfast/view.h"
#include "lib/campaign.h"
#include "lib/handlers.h"
#include "lib/kit.h"
#include "project/golden_app.h"

static const char SEED[] = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
static const char PUBLIC[] = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

static hf_value parsed(hf_mem *mem, const char *json)
{
    const hf_json_limits limits = {.bytes_max = 64 << 20};
    hf_value value = NULL;
    hf_err err = {0};

    hf_test_ok(hf_json_read(mem, hf_slice_of(json), &limits, &value, &err), &err, "read a bundle");
    return value;
}

static hf_value report_of(hf_mem *mem, const char *json, const hf_bundle_keys *keys)
{
    hf_value report = NULL;
    hf_err err = {0};

    hf_test_ok(hf_bundle_verify(json, strlen(json), keys, mem, &report, &err), &err, "verify");
    return report;
}

/* Every scenario's export is sound, chain and all. */
HF_BOTH_ENGINES(exports_are_sound)
{
    for (size_t i = 0; i < GOLDEN_SCENARIOS; i++) {
        hf_engine *d = hf_kit_open(kind, &golden_app);
        hf_mem *mem = hf_mem_new();
        const char *json = NULL;
        hf_value report;

        hf_kit_ok(d, golden_scenarios[i].run(d));
        hf_kit_ok(d, hf_export(d, mem, &json, "g"));
        report = report_of(mem, json, NULL);
        ck_assert_msg(strcmp(hf_str(report, "status", ""), "ok") == 0, "%s: %s",
                      golden_scenarios[i].name, hf_text(mem, hf_get(report, "findings")));
        hf_mem_free(mem);
        hf_kit_close(d);
    }
}

/* Activities, timers, failures and links come from history: rows that are gone change nothing. */
HF_BOTH_ENGINES(b193_export_does_without_rows)
{
    static const char *const sections[] = {"activities", "timers",   "failures", "links",
                                           "waits",      "timeline", "signals",  "updates"};

    for (size_t i = 0; i < GOLDEN_SCENARIOS; i++) {
        hf_engine *d = hf_kit_open(kind, &golden_app);
        hf_mem *mem = hf_mem_new();
        const char *before = NULL;
        const char *after = NULL;

        hf_kit_ok(d, golden_scenarios[i].run(d));
        hf_kit_ok(d, hf_export(d, mem, &before, "g"));
        hf_kit_sql(d, "UPDATE activity SET run = run + 1000000");
        hf_kit_sql(d, "UPDATE timer SET run = run + 1000000");
        hf_kit_sql(d, "UPDATE failure SET run = run + 1000000");
        hf_kit_ok(d, hf_export(d, mem, &after, "g"));
        for (size_t j = 0; j < sizeof(sections) / sizeof(sections[0]); j++)
            ck_assert_msg(hf_value_equal(hf_get(parsed(mem, before), sections[j]),
                                         hf_get(parsed(mem, after), sections[j])),
                          "%s: %s", golden_scenarios[i].name, sections[j]);
        hf_kit_sql(d, "UPDATE activity SET run = run - 1000000");
        hf_kit_sql(d, "UPDATE timer SET run = run - 1000000");
        hf_kit_sql(d, "UPDATE failure SET run = run - 1000000");
        hf_mem_free(mem);
        hf_kit_close(d);
    }
}

static hf_value hide_activities(void *arg, hf_mem *mem, hf_value context, hf_value value)
{
    int *seen = arg;

    ++*seen;
    ck_assert_ptr_nonnull(hf_str(context, "path", NULL));
    if (strcmp(hf_str(context, "category", ""), "activity_payload") == 0 ||
        strcmp(hf_str(context, "category", ""), "history_event") == 0)
        return hf_json_(mem, "{'hidden': true}");
    return value;
}

/* Fails at one place, and remembers which. */
typedef struct failing {
    int left; /* values that pass before */
    int seen;
    char path[128];
} failing;

static hf_value hide_or_fail(void *arg, hf_mem *mem, hf_value context, hf_value value)
{
    failing *f = arg;

    (void)value;
    f->seen++;
    if (f->left-- > 0)
        return hf_json_(mem, "{'hidden': true}");
    (void)snprintf(f->path, sizeof(f->path), "%s", hf_str(context, "path", ""));
    return NULL;
}

static bool nothing_comes(void *ctx, const char *text, size_t len)
{
    (void)ctx;
    ck_abort_msg("a bundle came: %.*s", (int)len, text);
    return false;
}

/* Wherever a redactor fails, no bundle comes, and the failure names the place. */
static void redactor_fails(hf_engine *d, const hf_export_opts *whole, int after)
{
    failing f = {.left = after};
    const char *const ids[] = {whole->id, NULL};
    const hf_export_seal seal = {.size_ = sizeof(seal), .redact = hide_or_fail, .redact_arg = &f};
    const hf_bundles_options tool = {
        .size = sizeof(tool), .ids = ids, .redact = hide_or_fail, .redact_arg = &f};
    hf_mem *mem = hf_mem_new();
    const char *json = NULL;
    hf_err err = {0};

    ck_assert_int_eq(hf_export_sealed(d, mem, &json, whole, &seal), HF_ERROR);
    ck_assert_ptr_null(json);
    ck_assert_int_eq(f.seen, after + 1); /* nothing is shown to it after it failed */
    ck_assert_str_ne(f.path, "");
    ck_assert_msg(strstr(hf_errmsg(d), f.path), "%s", hf_errmsg(d));
    f = (failing){.left = after};
    ck_assert_int_eq(hf_tool_bundles(hf_test_place_address(hf_kit_place(d)), &tool, nothing_comes,
                                     NULL, NULL, &err),
                     HF_ERROR);
    ck_assert_msg(strstr(err.text, f.path), "%s", err.text);
    hf_mem_free(mem);
}

/* The manifest says of each payload whether it was taken away: those of activities and in events
   were, the run's own were not. */
static void manifest_marks(hf_value bundle)
{
    hf_value entries = hf_get(bundle, "payload_manifest.entries");
    size_t hidden = 0;

    for (size_t i = 0; i < hf_len(entries); i++) {
        hf_value entry = hf_at(entries, i);
        const char *path = hf_str(entry, "path", "");
        bool gone = strncmp(path, "activities.", 11) == 0 || strncmp(path, "history_", 8) == 0;

        if (!hf_bool(entry, "available", false))
            continue;
        ck_assert_msg(hf_bool(entry, "redacted", !gone) == gone, "%s", path);
        ck_assert_int_eq(strcmp(hf_str(entry, "diagnostic", ""), "payload_redacted") == 0, gone);
        hidden += gone;
    }
    ck_assert_uint_gt(hidden, 0);
    ck_assert_uint_lt(hidden, hf_len(entries));
}

/* What passed through the redactor is listed, what it changed is gone everywhere, and one that
   fails fails the export. */
HF_BOTH_ENGINES(b194_redaction)
{
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *json = NULL;
    hf_value bundle;
    hf_value paths;
    bool listed = false;
    int seen = 0;
    const hf_export_opts whole = {.size_ = sizeof(whole), .id = "g"};
    const hf_export_seal hides = {.size_ = sizeof(hides),
                                  .redact = hide_activities,
                                  .redact_arg = &seen,
                                  .redact_policy = "hide activities"};

    hf_kit_ok(d, golden_scenarios[0].run(d));
    hf_kit_ok(d, hf_export_sealed(d, mem, &json, &whole, &hides));
    bundle = parsed(mem, json);
    paths = hf_get(bundle, "redaction.paths");
    ck_assert(hf_bool(bundle, "redaction.applied", false));
    ck_assert_str_eq(hf_str(bundle, "redaction.policy", ""), "hide activities");
    ck_assert_uint_eq(hf_len(paths), (size_t)seen);
    for (size_t i = 0; i < hf_len(paths); i++)
        listed |= strcmp(hf_str(hf_at(paths, i), "", ""), "history_events.1.payload") == 0;
    ck_assert(listed);
    ck_assert(hf_bool(bundle, "history_events.1.payload.hidden", false));
    ck_assert_ptr_null(hf_get(bundle, "holdfast.own"));
    ck_assert_str_ne(hf_str(report_of(mem, json, NULL), "status", ""), "failed");
    manifest_marks(bundle);
    ck_assert_int_gt(seen, 5);
    for (int after = 0; after < seen; after++)
        redactor_fails(d, &whole, after);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Whether two bundles say the same outside the integrity block, and carry the same seals. */
static bool same_content(hf_value a, hf_value b)
{
    static const char *const seals[] = {"integrity.checksum", "integrity.signature",
                                        "integrity.ed25519_signature"};
    hf_slice name;
    hf_value item;

    if (hf_value_kind_of(b) != HF_VALUE_OBJECT || hf_len(a) != hf_len(b))
        return false;
    for (size_t i = 0; hf_value_member(a, i, &name, &item); i++)
        if (!hf_slice_equal(name, HF_SLICE("integrity")) &&
            !hf_value_equal(item, hf_value_find(b, name)))
            return false;
    for (size_t i = 0; i < 3; i++)
        if (!hf_value_equal(hf_get(a, seals[i]), hf_get(b, seals[i])))
            return false;
    return true;
}

/* Checksum, HMAC and Ed25519 fit; another key does not; any one bit that changes what the bundle
   says, or a seal, is noticed: each bit in `make check`, some otherwise. */
HF_BOTH_ENGINES(b195_seals)
{
    const hf_bundle_keys keys = {.size = sizeof(keys), .key = "secret", .public_key = PUBLIC};
    const hf_bundle_keys wrong = {.size = sizeof(wrong), .key = "other"};
    const hf_export_opts signed_with = {
        .size_ = sizeof(signed_with), .id = "g", .key = "secret", .key_id = "k1"};
    const hf_export_seal sealed_with = {.size_ = sizeof(sealed_with), .ed25519_key = SEED};
    const bool each = kind == HF_ENGINE_SQLITE && hf_campaign_stride(0, 0) == 1;
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *json = NULL;
    hf_value original;
    char *text;
    hf_campaign campaign;
    hf_rng rng;

    hf_kit_ok(d, (each ? golden_do_timeout : golden_do_order)(d)); /* small, or with everything */
    hf_kit_ok(d, hf_export_sealed(d, mem, &json, &signed_with, &sealed_with));
    original = parsed(mem, json);
    ck_assert_str_eq(hf_str(original, "integrity.ed25519_public_key", ""), PUBLIC);
    ck_assert_str_eq(hf_str(report_of(mem, json, &keys), "status", ""), "ok");
    ck_assert_str_eq(hf_str(report_of(mem, json, NULL), "status", ""), "warning");
    ck_assert_str_eq(hf_str(report_of(mem, json, &wrong), "status", ""), "failed");
    text = hf_mem_text(mem, hf_slice_of(json));
    hf_rng_init_seeded(&rng, 195);
    hf_campaign_init(&campaign, 200, 2000, (int64_t)strlen(json) * 8);
    for (int64_t i = 0; i < (kind == HF_ENGINE_SQLITE ? campaign.points_max : 50); i++) {
        hf_mem *scratch = hf_mem_new();
        const hf_json_limits limits = {.bytes_max = 64 << 20};
        size_t at = each ? (size_t)i / 8 : (size_t)hf_rng_below(&rng, strlen(json));
        int64_t bit = each ? i % 8 : (int64_t)hf_rng_below(&rng, 8);
        hf_value changed = NULL;
        hf_err err = {0};

        text[at] = (char)(text[at] ^ (1 << bit));
        if (text[at] && !hf_json_read(scratch, hf_slice_of(text), &limits, &changed, &err) &&
            !same_content(original, changed))
            ck_assert_msg(strcmp(hf_str(report_of(scratch, text, &keys), "status", ""), "failed") ==
                              0,
                          "a change at byte %zu went unnoticed", at);
        text[at] = json[at];
        hf_mem_free(scratch);
    }
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* ---- big ones */

enum { BLOB_BYTES = 64 * 1024, BLOBS_SHORT = 60, BLOBS_LONG = 300 };

static hf_value blobs_run(hf_ctx *w, hf_value in)
{
    for (int64_t i = 0; i < hf_int(in, "steps", 0); i++)
        (void)hf_activity(w, "echo", hf_get(in, "blob"));
    return hf_json(w, "{}");
}

static const hf_workflow_def blob_workflows[] = {{.type = "blobs", .run = blobs_run}, {0}};
static const hf_activity_def blob_activities[] = {{.name = "echo", .run = hf_echo}, {0}};
static const hf_app blob_app = {
    .name = "blobs", .workflows = blob_workflows, .activities = blob_activities};

/* A file is checked, chain and all, in memory that does not grow with it: over 20 MB of it in a
   fraction of that, and ten times the steps in the same. A change near its end is found. */
HF_BOTH_ENGINES(big_files_are_verified_in_constant_memory)
{
    const char *campaign = getenv("HF_CAMPAIGN");
    int steps = campaign && strcmp(campaign, "long") == 0 ? BLOBS_LONG : BLOBS_SHORT;
    hf_engine *d = hf_kit_open(kind, &blob_app);
    hf_mem *mem = hf_mem_new();
    char *blob = hf_mem_bytes(mem, BLOB_BYTES + 1);
    FILE *file = tmpfile();
    const char *json = NULL;
    hf_value report = NULL;
    hf_err err = {0};
    size_t before;
    size_t len;

    ck_assert(blob && file);
    memset(blob, 'x', BLOB_BYTES);
    blob[BLOB_BYTES] = '\0';
    hf_kit_ok(
        d, hf_start(d, "blobs", hf_json(d, "{'steps': %d, 'blob': %s}", steps, blob), .id = "b"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_export(d, mem, &json, "b"));
    len = strlen(json);
    ck_assert_uint_gt(len, steps == BLOBS_LONG ? 100000000 : 20000000);
    ck_assert_uint_eq(fwrite(json, 1, len, file), len);
    ck_assert_int_eq(fflush(file), 0);
    hf_mem_reset(mem);
    hf_alloc_peak_reset();
    before = hf_alloc_peak();
    hf_test_ok(hf_bundle_verify_fd(fileno(file), 0, 0, NULL, mem, &report, &err), &err, "verify");
    ck_assert_str_eq(hf_str(report, "status", ""), "ok");
    ck_assert_int_eq(hf_int(report, "events", 0), 3 * steps + 3);
    ck_assert_uint_lt(hf_alloc_peak() - before, 8 << 20);
    ck_assert_int_eq(fseek(file, (long)len - 40, SEEK_SET), 0);
    ck_assert_int_eq(fputc('#', file), '#');
    ck_assert_int_eq(fflush(file), 0);
    hf_test_ok(hf_bundle_verify_fd(fileno(file), 0, 0, NULL, mem, &report, &err), &err, "verify");
    ck_assert_str_eq(hf_str(report, "status", ""), "failed");
    (void)fclose(file);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* A bundle whose members stand in another order says the same; cut off anywhere it is refused. */
HF_BOTH_ENGINES(order_and_ends_of_bundles)
{
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *json = NULL;
    hf_value bundle;
    hf_value_list *turned = hf_value_object(mem);
    hf_buf text = {0};
    hf_slice name;
    hf_value item;

    hf_kit_ok(d, golden_scenarios[0].run(d));
    hf_kit_ok(d, hf_export(d, mem, &json, "g"));
    bundle = parsed(mem, json);
    for (size_t i = hf_len(bundle); i-- > 0;)
        if (hf_value_member(bundle, i, &name, &item))
            hf_value_set(turned, name, item);
    hf_json_write(&text, hf_value_finish(turned));
    ck_assert_str_ne(hf_buf_text(&text), json);
    ck_assert(hf_value_equal(report_of(mem, hf_buf_text(&text), NULL), report_of(mem, json, NULL)));
    for (size_t i = 0; i < strlen(json); i += strlen(json) / 50 + 1) {
        hf_value report = NULL;
        hf_err err = {0};

        hf_test_ok(hf_bundle_verify(json, i, NULL, mem, &report, &err), &err, "verify");
        ck_assert_str_eq(hf_str(report, "findings.0.rule", ""), "bundle.unreadable");
    }
    hf_buf_fini(&text);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Each payload has an entry that says where it is, how it is encoded and whether it is there. */
HF_BOTH_ENGINES(b196_payload_manifest)
{
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *json = NULL;
    hf_value bundle;
    hf_value entries;

    hf_kit_ok(d, golden_scenarios[0].run(d));
    hf_kit_ok(d, hf_export(d, mem, &json, "g"));
    bundle = parsed(mem, json);
    entries = hf_get(bundle, "payload_manifest.entries");
    ck_assert_uint_ge(hf_len(entries), 2);
    ck_assert_str_eq(hf_str(entries, "0.path", ""), "payloads.arguments.data");
    for (size_t i = 0; i < hf_len(entries); i++) {
        hf_value entry = hf_at(entries, i);
        hf_value value = hf_get(bundle, hf_str(entry, "path", ""));

        ck_assert_str_eq(hf_str(entry, "encoding", ""), "base64-avro-single-object");
        ck_assert_str_eq(hf_str(entry, "avro_prefix_hex", ""), "c301e2a33dff55802237");
        ck_assert_int_eq(hf_bool(entry, "available", false),
                         hf_value_kind_of(value) != HF_VALUE_NULL);
        ck_assert(!hf_bool(entry, "redacted", true));
    }
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Only a run that is over has a complete history. */
HF_BOTH_ENGINES(b197_history_complete_when_terminal)
{
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *json = NULL;

    for (size_t i = 0; i < GOLDEN_SCENARIOS; i++) {
        hf_engine *e = hf_kit_open(kind, &golden_app);
        const char *status;

        hf_kit_ok(e, golden_scenarios[i].run(e));
        hf_kit_ok(e, hf_export(e, mem, &json, "g"));
        status = hf_test_status(e, "g");
        ck_assert_int_eq(hf_bool(parsed(mem, json), "history_complete", false),
                         strncmp(status, "waiting", 7) != 0);
        hf_kit_close(e);
    }
    hf_kit_ok(d, hf_start(d, "golden-approval", hf_json(d, "{'limit': 1}"), .id = "open"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_export(d, mem, &json, "open"));
    ck_assert(!hf_bool(parsed(mem, json), "history_complete", true));
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Hostile and broken texts get a report, never trust. */
START_TEST(broken_texts_fail)
{
    static const char *const bad[] = {"",
                                      "{",
                                      "[]",
                                      "{}",
                                      "null",
                                      "{\"schema\":\"x\"}",
                                      ("{\"schema\":\"durable-workflow.v2.history-export\","
                                       "\"schema_version\":9}")};
    hf_mem *mem = hf_mem_new();

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_str_eq(hf_str(report_of(mem, bad[i], NULL), "status", ""), "failed");
    hf_mem_free(mem);
}
END_TEST

/* Two runs are aligned by step; a difference is named. */
START_TEST(runs_are_compared_by_step)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &golden_app);
    hf_engine *e = hf_kit_open(HF_ENGINE_SQLITE, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *a = NULL;
    const char *b = NULL;
    hf_value diff = NULL;
    hf_err err = {0};

    hf_kit_ok(d, golden_scenarios[0].run(d));
    hf_kit_ok(d, hf_export(d, mem, &a, "g"));
    hf_kit_ok(e, golden_scenarios[1].run(e));
    hf_kit_ok(e, hf_export(e, mem, &b, "g"));
    hf_test_ok(hf_bundle_diff(a, strlen(a), a, strlen(a), mem, &diff, &err), &err, "compare");
    ck_assert(hf_bool(diff, "equal", false));
    ck_assert_uint_ge(hf_len(hf_get(diff, "steps")), 1);
    hf_test_ok(hf_bundle_diff(a, strlen(a), b, strlen(b), mem, &diff, &err), &err, "compare");
    ck_assert(!hf_bool(diff, "equal", true));
    ck_assert_int_eq(hf_bundle_diff(a, strlen(a), "{}", 2, mem, &diff, &err), HF_INVALID);
    hf_mem_free(mem);
    hf_kit_close(e);
    hf_kit_close(d);
}
END_TEST

/* ---- nothing leaves that a redactor was not shown */

#define SECRET "tulip-4711"

static hf_value secret_act(hf_act *a, hf_value in)
{
    (void)in;
    if (!hf_heartbeat(a, .message = SECRET))
        return hf_stopped(a);
    if (hf_attempt(a) == 1)
        return hf_retry(a, "busy", "no answer from %s", SECRET);
    return hf_reject(a, "refused", "%s is not known", SECRET);
}

static hf_value secret_run(hf_ctx *w, hf_value in)
{
    const hf_error *failed = NULL;

    (void)hf_activity(w, "secret", in, .max_attempts = 2, .err = &failed);
    if (!hf_bool(in, "leaf", false))
        (void)hf_child(w, "secret", hf_json(w, "{'leaf': true, 'key': %s}", SECRET));
    return hf_receive(w, "go");
}

static const hf_signal_def secret_signals[] = {{"go", "key:string"}, {0}};
static const hf_workflow_def secret_workflows[] = {
    {.type = "secret", .run = secret_run, .signals = secret_signals}, {0}};
static const hf_activity_def secret_activities[] = {{.name = "secret", .run = secret_act}, {0}};
static const hf_app secret_app = {
    .name = "secrets", .workflows = secret_workflows, .activities = secret_activities};

static hf_value hide_all(void *arg, hf_mem *mem, hf_value context, hf_value value)
{
    (void)arg;
    (void)context;
    (void)value;
    return hf_json_(mem, "{'hidden': true}");
}

/* A redactor that hides everything it is shown hides every payload, progress, message and reason:
   neither the secret nor a frame that could hold it is left. */
HF_BOTH_ENGINES(b194_everything_is_shown_to_the_redactor)
{
    static const char frame[] = "wwHioz3/VYAiN"; /* how every payload begins */
    hf_engine *d = hf_kit_open(kind, &secret_app);
    hf_mem *mem = hf_mem_new();
    const hf_export_opts whole = {.size_ = sizeof(whole), .id = "s"};
    const hf_export_seal hides = {.size_ = sizeof(hides), .redact = hide_all};
    const char *json = NULL;

    hf_kit_ok(d, hf_start(d, "secret", hf_json(d, "{'key': %s}", SECRET), .id = "s"));
    for (int i = 0; i < 8; i++) {
        hf_kit_ok(d, hf_test_drain(d));
        hf_kit_ok(d, hf_test_advance(d, 2000));
    }
    hf_kit_ok(d, hf_signal(d, "s", "go", hf_json(d, "{'key': %s}", SECRET)));
    hf_kit_ok(d, hf_cancel(d, "s", SECRET));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_export_sealed(d, mem, &json, &whole, NULL));
    ck_assert_ptr_nonnull(strstr(json, SECRET));
    ck_assert_ptr_nonnull(strstr(json, frame));
    hf_kit_ok(d, hf_export_sealed(d, mem, &json, &whole, &hides));
    ck_assert_msg(!strstr(json, SECRET), "left: %.200s",
                  strstr(json, SECRET) ? strstr(json, SECRET) - 100 : "");
    ck_assert_msg(!strstr(json, frame), "left: %.200s",
                  strstr(json, frame) ? strstr(json, frame) - 100 : "");
    ck_assert_str_ne(hf_str(report_of(mem, json, NULL), "status", ""), "failed");
    hf_mem_free(mem);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("project/bundle_verify", HF_BOTH_SLOW(exports_are_sound, 120),
                 HF_BOTH_SLOW(b193_export_does_without_rows, 120), HF_BOTH(b194_redaction),
                 HF_BOTH(b194_everything_is_shown_to_the_redactor), HF_BOTH_SLOW(b195_seals, 3600),
                 HF_BOTH_SLOW(big_files_are_verified_in_constant_memory, 600),
                 HF_BOTH(order_and_ends_of_bundles), HF_BOTH(b196_payload_manifest),
                 HF_BOTH_SLOW(b197_history_complete_when_terminal, 120), {broken_texts_fail, 0},
                 {runs_are_compared_by_step, 60})
