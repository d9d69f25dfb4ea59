/* test_import.c: runs of one store in another: exported, verified, imported, read back, replayed
   and compared; and every way in which a bundle is refused, after which nothing was written. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "holdfast/host.h"
#include "holdfast/tool.h"
#include "holdfast/view.h"
#include "lib/campaign.h"
#include "lib/kit.h"
#include "project/golden_app.h"
#include "project/bundle.h"

static hf_engine_kind other(hf_engine_kind kind)
{
    return kind == HF_ENGINE_SQLITE ? HF_ENGINE_POSTGRES : HF_ENGINE_SQLITE;
}

static hf_status import(hf_engine *d, hf_mem *mem, const char *text, size_t len, hf_value *out)
{
    const hf_import_opts o = {.size_ = sizeof(o), .text = text, .len = len};

    return hf_import_with(d, mem, out, &o);
}

/* Golden lives, a closed and an open one (in a long campaign all of them), leave one store, enter
   one of the other engine, and are the same there: the same bytes, the same steps, and code replays
   them. */
HF_BOTH_ENGINES(runs_move_between_stores)
{
    hf_engine *there = hf_kit_open(other(kind), &golden_app);
    hf_mem *mem = hf_mem_new();
    hf_campaign campaign;
    hf_value list = NULL;

    hf_campaign_init(&campaign, 2, 2, GOLDEN_SCENARIOS);
    for (int64_t i = 0; i < campaign.points_max && i < GOLDEN_SCENARIOS; i++) {
        const golden_scenario *life = &golden_scenarios[(i * 5 + i / 2) % GOLDEN_SCENARIOS];
        hf_engine *here = hf_kit_open(kind, &golden_app);
        const char *text = NULL;
        const char *back = NULL;
        hf_value report = NULL;
        hf_value diff = NULL;
        hf_value in = NULL;
        hf_err err = {0};

        hf_kit_ok(here, life->run(here));
        hf_kit_ok(here, hf_export(here, mem, &text, "g"));
        ck_assert_int_eq(hf_bundle_verify(text, strlen(text), NULL, mem, &report, &err), HF_OK);
        ck_assert_str_eq(hf_str(report, "status", ""), "ok");
        hf_kit_ok(there, import(there, mem, text, strlen(text), &in));
        ck_assert(hf_bool(in, "imported", false) || i > 0); /* two stores may form the same id */
        hf_kit_ok(there, hf_import_get(there, hf_json_(mem, "{'id': %s}", hf_str(in, "run_id", "")),
                                       mem, &back));
        ck_assert_str_eq(back, text);
        ck_assert_int_eq(hf_bundle_diff(text, strlen(text), back, strlen(back), mem, &diff, &err),
                         HF_OK);
        ck_assert(hf_bool(diff, "equal", false));
        ck_assert_int_eq(hf_replay_bundle(&golden_app, back, strlen(back), mem, &report, &err),
                         HF_OK);
        ck_assert_msg(strcmp(hf_str(report, "verdict", ""), "ok") == 0, "%s: %s", life->name,
                      hf_str(report, "sentence", ""));
        hf_kit_ok(there, hf_import_delete(
                             there, hf_json_(mem, "{'run_id': %s}", hf_str(in, "run_id", ""))));
        hf_kit_close(here);
    }
    hf_kit_ok(there, hf_imports(there, NULL, mem, &list));
    ck_assert_uint_eq(hf_len(list), 0);
    hf_kit_close(there);
    hf_mem_free(mem);
}

/* The text of the first golden life. */
static const char *text_make(hf_engine *d, hf_mem *mem, const char *key)
{
    const hf_export_opts o = {.size_ = sizeof(o), .id = "g", .key = key};
    const char *text = NULL;

    hf_kit_ok(d, golden_scenarios[0].run(d));
    hf_kit_ok(d, hf_export_with(d, mem, &text, &o));
    return text;
}

/* The same again is no news, another content under the same id is refused, what is imported is no
   run of this store, and pages go on behind their last row. */
HF_BOTH_ENGINES(imports_are_kept_once)
{
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *text = text_make(d, mem, NULL);
    const char *signed_text = NULL;
    const hf_export_opts o = {.size_ = sizeof(o), .id = "g", .key = "secret"};
    hf_import_opts wrong = {.size_ = sizeof(wrong), .key = "other"};
    hf_value in = NULL;
    hf_value list = NULL;
    int64_t runs = hf_kit_number(d, "SELECT count(*) FROM run");

    hf_kit_ok(d, import(d, mem, text, strlen(text), &in));
    ck_assert(hf_bool(in, "imported", false));
    hf_kit_ok(d, import(d, mem, text, strlen(text), &in));
    ck_assert(!hf_bool(in, "imported", true));
    hf_kit_ok(d, hf_export_with(d, mem, &signed_text, &o));
    ck_assert_int_eq(import(d, mem, signed_text, strlen(signed_text), &in), HF_EXISTS);
    wrong.text = signed_text;
    wrong.len = strlen(signed_text);
    ck_assert_int_eq(hf_import_with(d, mem, &in, &wrong), HF_INVALID);
    ck_assert_ptr_nonnull(strstr(hf_errmsg(d), "integrity.signature_mismatch"));
    wrong.key = NULL;
    wrong.space = "nowhere";
    ck_assert_int_eq(hf_import_with(d, mem, &in, &wrong), HF_NOTFOUND);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM run"), runs);
    hf_kit_ok(d, hf_imports(d, hf_json_(mem, "{'limit': 1}"), mem, &list));
    ck_assert_uint_eq(hf_len(list), 1);
    ck_assert_str_eq(hf_str(list, "0.instance_id", ""), "g");
    hf_kit_ok(
        d, hf_imports(d, hf_json_(mem, "{'cursor': %lld}", (long long)hf_int(list, "0.cursor", 0)),
                      mem, &list));
    ck_assert_uint_eq(hf_len(list), 0);
    ck_assert_int_eq(hf_import_delete(d, hf_json_(mem, "{'run_id': 'x'}")), HF_NOTFOUND);
    ck_assert_int_eq(hf_imports(d, hf_json_(mem, "{'limit': 0}"), mem, &list), HF_INVALID);
    hf_kit_close(d);
    hf_mem_free(mem);
}

/* An imported run is in the namespace that was named, and in no other. */
HF_BOTH_ENGINES(imports_have_a_namespace)
{
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    hf_import_opts o = {.size_ = sizeof(o), .space = "archive"};
    const hf_namespace_opts space = {.size_ = sizeof(space)};
    const hf_value request = hf_json_(mem, "{'id': 'g'}");
    const char *back = NULL;
    hf_value in = NULL;
    hf_value list = NULL;

    o.text = text_make(d, mem, NULL);
    o.len = strlen(o.text);
    hf_kit_ok(d, hf_namespace_create(d, "archive", &space));
    hf_kit_ok(d, hf_import_with(d, mem, &in, &o));
    ck_assert(hf_bool(in, "imported", false));
    hf_kit_ok(d, hf_imports(d, NULL, mem, &list));
    ck_assert_uint_eq(hf_len(list), 0);
    ck_assert_int_eq(hf_import_get(d, request, mem, &back), HF_NOTFOUND);
    hf_kit_ok(d, hf_namespace_use(d, "archive"));
    hf_kit_ok(d, hf_imports(d, NULL, mem, &list));
    ck_assert_uint_eq(hf_len(list), 1);
    hf_kit_ok(d, hf_import_get(d, request, mem, &back));
    ck_assert_str_eq(back, o.text);
    hf_kit_ok(d, hf_namespace_use(d, NULL));
    hf_kit_close(d);
    hf_mem_free(mem);
}

/* `text` with the first `from` replaced. */
static const char *changed(hf_mem *mem, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);

    ck_assert_ptr_nonnull(at);
    return hf_mem_format(mem, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

/* Truncated, changed, of another schema or version, no bundle at all, nested without end, too big:
   each is refused with its own word, and nothing was written. */
HF_BOTH_ENGINES(bad_bundles_are_refused)
{
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *text = text_make(d, mem, NULL);
    size_t len = strlen(text);
    char *deep = hf_mem_bytes(mem, 100001);
    hf_value in = NULL;
    const struct {
        const char *text;
        hf_status status;
        const char *word;
    } bad[] = {
        {"", HF_INVALID, "bundle.unreadable"},
        {"null", HF_INVALID, "bundle.unreadable"},
        {"[]", HF_INVALID, "bundle.unreadable"},
        {"{}", HF_INVALID, "bundle.schema_missing"},
        {deep, HF_INVALID, "bundle.unreadable"},
        {hf_mem_format(mem, "%.*s", (int)len - 1, text), HF_INVALID, "bundle.unreadable"},
        {hf_mem_format(mem, "%s{", text), HF_INVALID, "bundle.unreadable"},
        {changed(mem, text, "\"schema_version\":1", "\"schema_version\":2"), HF_NEWER, "version"},
        {changed(mem, text, "v2.history-export", "v9.history-export"), HF_INVALID,
         "schema_unexpected"},
        {changed(mem, text, "\"WorkflowStarted\"", "\"WorkflowStartled\""), HF_INVALID,
         "integrity.checksum_mismatch"},
        {changed(mem, text, "\"checksum\":\"", "\"checksum\":\"0"), HF_INVALID,
         "integrity.checksum_mismatch"},
        {changed(mem, text, "\"sequence\":2,\"type\"", "\"sequence\":3,\"type\""), HF_INVALID,
         "sequence"},
        {changed(mem, text, "\"integrity\":", "\"integrality\":"), HF_INVALID, "integrity.missing"},
        {changed(mem, text, "\"history_events\":[", "\"history_events\":[null,"), HF_INVALID,
         "entry_invalid"},
    };

    memset(deep, '[', 100000);
    deep[100000] = '\0';
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_status st = import(d, mem, bad[i].text, strlen(bad[i].text), &in);

        ck_assert_msg(st == bad[i].status, "%zu: %s: %s", i, hf_strstatus(st), hf_errmsg(d));
        ck_assert_msg(strstr(hf_errmsg(d), bad[i].word), "%zu: %s", i, hf_errmsg(d));
    }
    ck_assert_int_eq(import(d, mem, text, (size_t)HF_BUNDLE_BYTES_MAX + 1, &in), HF_TOOBIG);
    ck_assert_int_eq(hf_kit_number(d, "SELECT count(*) FROM imported_run"), 0);
    hf_kit_close(d);
    hf_mem_free(mem);
}

HF_PG_SUITE_MAIN("engine/import", HF_BOTH(runs_move_between_stores), HF_BOTH(imports_are_kept_once),
                 HF_BOTH(imports_have_a_namespace), HF_BOTH(bad_bundles_are_refused))
