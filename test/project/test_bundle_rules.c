/* test_bundle_rules.c: every rule that a bundle is held against, each broken on purpose in a real
   bundle: the report names the rule, says where, and how bad it is. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/value.h"
#include "holdfast/tool.h"
#include "holdfast/view.h"
#include "lib/kit.h"
#include "project/golden_app.h"

#define SEED   "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
#define PUBLIC "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
#define OTHER  "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"

/* A bundle with `from` replaced by `to` once; "" puts nothing in its place. */
typedef struct rule_row {
    const char *rule;
    const char *path;
    const char *from, *to;
    bool warns; /* it is a warning; the checksum no longer fits in any case */
} rule_row;

/* Changes by somebody who makes the checksum anew: the hash chain of the events tells. */
static const rule_row forged[] = {
    {"integrity.chain_mismatch", "holdfast.history_head", "\"history_head\":\"",
     "\"history_head\":\"0", false},
    {"integrity.chain_mismatch", "holdfast.history_head", "\"activity_type\":\"echo\"",
     "\"activity_type\":\"echp\"", false},
    {"history_events.unreadable", "history_events", "\"type\":\"WorkflowStarted\"",
     "\"type\":\"WorkflowStartee\"", false},
    {"integrity.chain_unavailable", "holdfast", "\"history_head\":\"", "\"history_heap\":\"", true},
};

static const rule_row broken[] = {
    {"bundle.schema_missing", "schema", "\"schema\":\"durable", "\"schemx\":\"durable", false},
    {"bundle.schema_unexpected", "schema", "v2.history-export\"", "v3.history-export\"", false},
    {"bundle.schema_version_missing", "schema_version",
     "\"schema_version\":", "\"schema_versiom\":", false},
    {"bundle.schema_version_unsupported", "schema_version", "\"schema_version\":1",
     "\"schema_version\":2", false},
    {"bundle.exported_at_missing", "exported_at", "\"exported_at\":", "\"exported_by\":", false},
    {"bundle.section_missing", "payloads", "\"payloads\":{", "\"payloadz\":{", false},
    {"bundle.section_missing", "timeline", "\"timeline\":[", "\"timelinf\":[", true},
    {"bundle.section_invalid", "waits", "\"waits\":[", "\"waits\":7,\"waitz\":[", false},
    {"workflow.instance_id_missing", "workflow", "\"instance_id\":\"g\"", "\"instance_ix\":\"g\"",
     false},
    {"bundle.last_history_sequence_stale", "workflow.last_history_sequence",
     "\"last_history_sequence\":", "\"last_history_sequence\":1", false},
    {"history_events.entry_invalid", "history_events.0", "\"history_events\":[",
     "\"history_events\":[7,", false},
    {"history_events.sequence_missing", "history_events.1", "\"sequence\":2,\"type\":\"WorkflowS",
     "\"sequencf\":2,\"type\":\"WorkflowS", false},
    {"history_events.sequence_not_monotonic", "history_events.1",
     "\"sequence\":2,\"type\":\"WorkflowS", "\"sequence\":9,\"type\":\"WorkflowS", false},
    {"history_events.type_missing", "history_events.1", "\"type\":\"WorkflowStarted\"",
     "\"typf\":\"WorkflowStarted\"", false},
    {"commands.id_missing", "commands.0",
     "\"commands\":[{\"id\":", "\"commands\":[{\"ix\":", false},
    {"commands.history_event_missing", "commands.0", "\"commands\":[{\"id\":\"01",
     "\"commands\":[{\"id\":\"7Z", true},
    {"payload_manifest.entries_missing", "payload_manifest", "\"entries\":[", "\"entriex\":[",
     false},
    {"payload_manifest.path_missing", "payload_manifest.entries.0",
     "\"path\":\"payloads.arguments.data\"", "\"pathx\":\"payloads.arguments.data\"", false},
    {"payload_manifest.payload_missing", "payload_manifest.entries.0",
     "\"path\":\"payloads.arguments.data\"", "\"path\":\"payloads.arguments.date\"", false},
    {"payload_manifest.codec_missing", "payload_manifest.entries.0",
     "\"path\":\"payloads.arguments.data\",\"codec\":",
     "\"path\":\"payloads.arguments.data\",\"codex\":", false},
    {"codec_schemas.codec_missing", "payload_manifest.entries.0", "\"codec_schemas\":{\"avro\"",
     "\"codec_schemas\":{\"avrp\"", false},
    {"redaction.empty_paths", "redaction.paths", "\"redaction\":{\"applied\":false",
     "\"redaction\":{\"applied\":true", true},
    {"integrity.missing", "integrity", "\"integrity\":{", "\"integritz\":{", false},
    {"integrity.canonicalization_unsupported", "integrity.canonicalization",
     "json-recursive-ksort-v1", "json-recursive-ksort-v2", false},
    {"integrity.checksum_mismatch", "integrity.checksum", "\"checksum_algorithm\":\"sha256\"",
     "\"checksum_algorithm\":\"sha1\"", false},
};

static const char *changed(hf_mem *mem, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);

    ck_assert_msg(at, "the bundle has no %s", from);
    return hf_mem_format(mem, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static hf_value report_of(hf_mem *mem, const char *text, const hf_bundle_keys *keys)
{
    hf_value report = NULL;
    hf_err err = {0};

    hf_test_ok(hf_bundle_verify(text, strlen(text), keys, mem, &report, &err), &err, "verify");
    return report;
}

static hf_value finding_of(hf_value report, const char *rule)
{
    hf_value findings = hf_get(report, "findings");

    for (size_t i = 0; i < hf_len(findings); i++)
        if (strcmp(hf_str(hf_at(findings, i), "rule", ""), rule) == 0)
            return hf_at(findings, i);
    return NULL;
}

/* The text with the checksum that fits it now. */
static const char *resealed(hf_mem *mem, const char *text)
{
    hf_value bundle = hf_parse_(mem, text, strlen(text));
    hf_value_list *bare = hf_value_object(mem);
    hf_buf canonical = {0};
    uint8_t digest[HF_SHA256_BYTES];
    char sum[HF_SHA256_TEXT_SIZE];
    hf_sha256 *sha = NULL;
    hf_slice name;
    hf_value item;
    hf_err err = {0};

    for (size_t i = 0; hf_value_member(bundle, i, &name, &item); i++)
        if (!hf_slice_equal(name, HF_SLICE("integrity")))
            hf_value_set(bare, name, item);
    hf_json_write_ksort(&canonical, hf_value_finish(bare));
    hf_test_ok(hf_sha256_new(&sha, &err), &err, "hash");
    hf_test_ok(hf_sha256_digest(sha, hf_buf_slice(&canonical), digest, &err), &err, "hash");
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), sum);
    hf_sha256_free(sha);
    hf_buf_fini(&canonical);
    return changed(mem, text, hf_str(bundle, "integrity.checksum", "none"), sum);
}

/* The report has the rule at its place, as bad as it should be. */
static void rule_speaks(hf_value report, const char *rule, const char *path, const char *severity)
{
    hf_value finding = finding_of(report, rule);

    ck_assert_msg(finding, "%s is not in the report", rule);
    ck_assert_str_eq(hf_str(finding, "path", ""), path);
    ck_assert_msg(strcmp(hf_str(finding, "severity", ""), severity) == 0, "%s: %s", rule,
                  hf_str(finding, "severity", ""));
    ck_assert_str_ne(hf_str(finding, "message", ""), "");
}

/* A sound bundle breaks none, and each change of it the one that it should. */
HF_BOTH_ENGINES(each_rule_speaks_up)
{
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *text = NULL;
    hf_value report;

    hf_kit_ok(d, golden_do_order(d));
    hf_kit_ok(d, hf_export(d, mem, &text, "g"));
    report = report_of(mem, text, NULL);
    ck_assert_str_eq(hf_str(report, "status", ""), "ok");
    ck_assert_str_eq(hf_str(report, "schema", ""),
                     "durable-workflow.v2.history-bundle-verification");
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        const rule_row *row = &broken[i];

        report = report_of(mem, changed(mem, text, row->from, row->to), NULL);
        rule_speaks(report, row->rule, row->path, row->warns ? "warning" : "failed");
        ck_assert_str_eq(hf_str(report, "status", ""), "failed");
    }
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Two events with one id, and events that are no longer what they were. */
HF_BOTH_ENGINES(events_are_what_they_were)
{
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *text = NULL;
    hf_value bundle;
    hf_value report;
    const char *second;

    hf_kit_ok(d, golden_do_order(d));
    hf_kit_ok(d, hf_export(d, mem, &text, "g"));
    bundle = hf_parse_(mem, text, strlen(text));
    second = hf_mem_format(mem, "{\"id\":\"%s\",\"sequence\":2",
                           hf_str(bundle, "history_events.1.id", ""));
    rule_speaks(report_of(mem,
                          changed(mem, text, second,
                                  hf_mem_format(mem, "{\"id\":\"%s\",\"sequence\":2",
                                                hf_str(bundle, "history_events.0.id", ""))),
                          NULL),
                "history_events.id_duplicate", "history_events.1", "failed");
    for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
        const rule_row *row = &forged[i];

        report = report_of(mem, resealed(mem, changed(mem, text, row->from, row->to)), NULL);
        rule_speaks(report, row->rule, row->path, row->warns ? "warning" : "failed");
        ck_assert_str_eq(hf_str(report, "status", ""), row->warns ? "warning" : "failed");
        ck_assert_ptr_null(finding_of(report, "integrity.checksum_mismatch"));
    }
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* Signatures: missing, of another key, and those that nobody can check here. */
HF_BOTH_ENGINES(signatures_are_held_against_keys)
{
    const hf_bundle_keys right = {.size = sizeof(right), .key = "secret", .public_key = PUBLIC};
    const hf_bundle_keys wrong = {.size = sizeof(wrong), .key = "other", .public_key = OTHER};
    const hf_export_opts plain = {.size_ = sizeof(plain), .id = "g"};
    const hf_export_opts keyed = {.size_ = sizeof(keyed), .id = "g", .key = "secret"};
    const hf_export_seal seal = {.size_ = sizeof(seal), .ed25519_key = SEED};
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *text = NULL;
    hf_value report;

    hf_kit_ok(d, golden_do_order(d));
    hf_kit_ok(d, hf_export_with(d, mem, &text, &plain));
    report = report_of(mem, text, &right);
    rule_speaks(report, "integrity.signature_missing", "integrity.signature", "failed");
    ck_assert_str_eq(hf_str(report, "status", ""), "failed");
    hf_kit_ok(d, hf_export_sealed(d, mem, &text, &keyed, &seal));
    ck_assert_str_eq(hf_str(report_of(mem, text, &right), "status", ""), "ok");
    report = report_of(mem, text, NULL);
    ck_assert_str_eq(hf_str(report, "status", ""), "warning");
    rule_speaks(report, "integrity.signature_key_unavailable", "integrity.signature", "warning");
    rule_speaks(report, "integrity.ed25519_key_unavailable", "integrity.ed25519_public_key",
                "warning");
    report = report_of(mem, text, &wrong);
    ck_assert_str_eq(hf_str(report, "status", ""), "failed");
    rule_speaks(report, "integrity.signature_mismatch", "integrity.signature", "failed");
    rule_speaks(report, "integrity.ed25519_mismatch", "integrity.ed25519_signature", "failed");
    hf_mem_free(mem);
    hf_kit_close(d);
}

HF_PG_SUITE_MAIN("project/bundle_rules", HF_BOTH(each_rule_speaks_up),
                 HF_BOTH(events_are_what_they_were), HF_BOTH(signatures_are_held_against_keys))
