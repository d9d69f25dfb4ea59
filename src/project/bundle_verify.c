/* bundle_verify.c: see bundle_verify.h. */
#include "project/bundle_verify.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/map.h"
#include "model/event_codec.h"
#include "project/bundle.h"
#include "project/bundle_read.h"

typedef enum finding_severity { WARNING, FAILED } finding_severity;

/* A check under way. */
typedef struct check {
    hf_mem *mem;
    hf_slice text;
    hf_value bundle;
    const hf_bundle_verify_options *options;
    hf_value_list *findings;
    bool warned;
    bool failed;
} check;

static void found(check *c, finding_severity severity, const char *rule, const char *path,
                  const char *message)
{
    hf_value_append(c->findings,
                    hf_json_(c->mem, "{'rule': %s, 'severity': %s, 'path': %s, 'message': %s}",
                             rule, severity == FAILED ? "failed" : "warning", path, message));
    c->failed |= severity == FAILED;
    c->warned |= severity == WARNING;
}

static hf_value section(const check *c, const char *name)
{
    return hf_value_find(c->bundle, hf_slice_of(name));
}

/* ---- shape */

static void schema_check(check *c)
{
    const char *schema = hf_str(c->bundle, "schema", NULL);
    hf_value version = section(c, "schema_version");

    if (!schema)
        found(c, FAILED, "bundle.schema_missing", "schema", "the bundle names no schema");
    else if (strcmp(schema, HF_BUNDLE_SCHEMA) != 0)
        found(c, FAILED, "bundle.schema_unexpected", "schema", "the bundle is of another schema");
    if (!version)
        found(c, FAILED, "bundle.schema_version_missing", "schema_version",
              "the bundle names no version");
    else if (hf_int(version, "", -1) != HF_BUNDLE_VERSION)
        found(c, FAILED, "bundle.schema_version_unsupported", "schema_version",
              "this program reads version 1");
    if (!hf_str(c->bundle, "exported_at", NULL))
        found(c, FAILED, "bundle.exported_at_missing", "exported_at",
              "the bundle does not say when it was made");
}

static void sections_check(check *c)
{
    static const struct {
        const char *name;
        hf_value_kind kind;
    } needed[] = {{"workflow", HF_VALUE_OBJECT},      {"payloads", HF_VALUE_OBJECT},
                  {"summary", HF_VALUE_OBJECT},       {"selected_run", HF_VALUE_OBJECT},
                  {"history_events", HF_VALUE_ARRAY}, {"commands", HF_VALUE_ARRAY},
                  {"signals", HF_VALUE_ARRAY},        {"updates", HF_VALUE_ARRAY},
                  {"tasks", HF_VALUE_ARRAY},          {"activities", HF_VALUE_ARRAY},
                  {"timers", HF_VALUE_ARRAY},         {"failures", HF_VALUE_ARRAY},
                  {"links", HF_VALUE_OBJECT},         {"redaction", HF_VALUE_OBJECT},
                  {"codec_schemas", HF_VALUE_OBJECT}, {"payload_manifest", HF_VALUE_OBJECT},
                  {"waits", HF_VALUE_ARRAY},          {"timeline", HF_VALUE_ARRAY}};
    static const char *const names[] = {"instance_id", "run_id", "workflow_type"};
    char rule[64];

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        hf_value value = section(c, needed[i].name);

        if (!value)
            found(c, i < 5 ? FAILED : WARNING, "bundle.section_missing", needed[i].name,
                  "a section is missing");
        else if (hf_value_kind_of(value) != needed[i].kind &&
                 !(hf_len(value) == 0 && hf_value_kind_of(value) == HF_VALUE_ARRAY))
            found(c, FAILED, "bundle.section_invalid", needed[i].name,
                  "a section is of the wrong kind");
    }
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(rule, sizeof(rule), "workflow.%s_missing", names[i]);
        if (!hf_str(hf_value_find(section(c, "workflow"), hf_slice_of(names[i])), "", NULL))
            found(c, FAILED, rule, "workflow", "the bundle does not say which run it is");
    }
}

/* ---- events */

static void event_check(check *c, hf_map *ids, hf_value event, size_t i, int64_t *io_sequence)
{
    char path[48];
    hf_value sequence = hf_value_find(event, HF_SLICE("sequence"));
    hf_slice id = hf_value_slice(hf_value_find(event, HF_SLICE("id")));

    (void)snprintf(path, sizeof(path), "history_events.%zu", i);
    if (hf_value_kind_of(event) != HF_VALUE_OBJECT) {
        found(c, FAILED, "history_events.entry_invalid", path, "an event is no object");
        return;
    }
    if (hf_value_kind_of(sequence) != HF_VALUE_INT)
        found(c, FAILED, "history_events.sequence_missing", path, "an event has no number");
    else if (hf_int(sequence, "", 0) != *io_sequence + 1)
        found(c, FAILED, "history_events.sequence_not_monotonic", path,
              "events are not numbered one by one");
    *io_sequence = hf_int(sequence, "", *io_sequence + 1);
    if (!hf_str(event, "type", NULL))
        found(c, FAILED, "history_events.type_missing", path, "an event has no type");
    if (ids && id.len && hf_map_get(ids, id))
        found(c, FAILED, "history_events.id_duplicate", path, "two events have the same id");
    else if (ids && id.len)
        (void)!hf_map_put(ids, id, c, NULL, NULL);
}

static void events_check(check *c)
{
    const hf_map_seed seed = {.low = 11, .high = 13};
    hf_map *ids = hf_map_new(seed);
    hf_value events = section(c, "history_events");
    int64_t last = hf_int(c->bundle, "workflow.last_history_sequence", -1);
    int64_t sequence = 0;

    for (size_t i = 0; i < hf_len(events); i++)
        event_check(c, ids, hf_at(events, i), i, &sequence);
    if (last >= 0 && last != sequence)
        found(c, FAILED, "bundle.last_history_sequence_stale", "workflow.last_history_sequence",
              "the run says another number of events than there are");
    hf_map_free(ids);
}

static bool command_has_event(const check *c, const char *id)
{
    hf_value events = section(c, "history_events");

    for (size_t i = 0; i < hf_len(events); i++)
        if (strcmp(hf_str(hf_at(events, i), "workflow_command_id", ""), id) == 0)
            return true;
    return false;
}

static void commands_check(check *c)
{
    hf_value commands = section(c, "commands");
    char path[48];

    for (size_t i = 0; i < hf_len(commands); i++) {
        hf_value command = hf_at(commands, i);
        const char *id = hf_str(command, "id", NULL);

        (void)snprintf(path, sizeof(path), "commands.%zu", i);
        if (!id)
            found(c, FAILED, "commands.id_missing", path, "a command has no id");
        else if (strcmp(hf_str(command, "status", ""), "accepted") == 0 &&
                 !command_has_event(c, id))
            found(c, WARNING, "commands.history_event_missing", path,
                  "an accepted command has no event");
    }
}

/* ---- manifest */

static void manifest_check(check *c)
{
    hf_value entries = hf_get(c->bundle, "payload_manifest.entries");
    char path[48];

    if (hf_value_kind_of(section(c, "payload_manifest")) != HF_VALUE_OBJECT)
        return; /* said already */
    if (hf_value_kind_of(entries) != HF_VALUE_ARRAY) {
        found(c, FAILED, "payload_manifest.entries_missing", "payload_manifest",
              "the manifest lists nothing");
        return;
    }
    for (size_t i = 0; i < hf_len(entries); i++) {
        hf_value entry = hf_at(entries, i);
        const char *at = hf_str(entry, "path", NULL);
        hf_value value = at ? hf_get(c->bundle, at) : NULL;
        bool there = value && hf_value_kind_of(value) != HF_VALUE_NULL;

        (void)snprintf(path, sizeof(path), "payload_manifest.entries.%zu", i);
        if (!at)
            found(c, FAILED, "payload_manifest.path_missing", path, "an entry names no payload");
        else if (hf_bool(entry, "available", false) && !there)
            found(c, FAILED, "payload_manifest.payload_missing", path,
                  "a payload that should be there is not");
        if (!hf_str(entry, "codec", NULL))
            found(c, FAILED, "payload_manifest.codec_missing", path, "an entry names no codec");
        else if (!hf_value_find(section(c, "codec_schemas"),
                                hf_slice_of(hf_str(entry, "codec", ""))))
            found(c, FAILED, "codec_schemas.codec_missing", path,
                  "the codec of a payload is not described");
    }
}

static void redaction_check(check *c)
{
    if (hf_bool(c->bundle, "redaction.applied", false) &&
        hf_len(hf_get(c->bundle, "redaction.paths")) == 0)
        found(c, WARNING, "redaction.empty_paths", "redaction.paths",
              "something was redacted and nothing says what");
}

/* ---- integrity */

static hf_status integrity_check(check *c, hf_err *err)
{
    hf_value integrity = section(c, "integrity");
    bool sign = hf_str(integrity, "signature", NULL) != NULL;
    bool ed = hf_str(integrity, "ed25519_signature", NULL) != NULL;
    hf_err why = {0};
    hf_status st;

    if (hf_value_kind_of(integrity) != HF_VALUE_OBJECT) {
        found(c, FAILED, "integrity.missing", "integrity", "the bundle carries no checksum");
        return HF_OK;
    }
    if (strcmp(hf_str(integrity, "canonicalization", ""), "json-recursive-ksort-v1") != 0) {
        found(c, FAILED, "integrity.canonicalization_unsupported", "integrity.canonicalization",
              "the checksum is made in an unknown way");
        return HF_OK;
    }
    st = hf_bundle_check(c->bundle, (hf_slice){0}, &why);
    if (st == HF_NOMEM)
        return hf_err_nomem(err, "a bundle");
    if (st)
        found(c, FAILED, "integrity.checksum_mismatch", "integrity.checksum", why.text);
    if (c->options->key.len && !sign) {
        found(c, FAILED, "integrity.signature_missing", "integrity.signature",
              "the bundle is not signed");
    } else if (c->options->key.len) {
        st = hf_bundle_check(c->bundle, c->options->key, &why);
        if (st == HF_NOMEM)
            return hf_err_nomem(err, "a bundle");
        if (st)
            found(c, FAILED, "integrity.signature_mismatch", "integrity.signature", why.text);
    } else if (sign) {
        found(c, WARNING, "integrity.signature_key_unavailable", "integrity.signature",
              "the bundle is signed, and no key is at hand to check it");
    }
    if (ed) {
        st = hf_bundle_check_public(c->bundle, c->options->public_key, &why);
        if (st == HF_NOMEM)
            return hf_err_nomem(err, "a bundle");
        if (st)
            found(c, FAILED, "integrity.ed25519_mismatch", "integrity.ed25519_signature", why.text);
        else if (!c->options->public_key.len)
            found(c, WARNING, "integrity.ed25519_key_unavailable", "integrity.ed25519_public_key",
                  "the signature fits the key in the bundle; whose key it is nobody said");
    } else if (c->options->public_key.len) {
        found(c, FAILED, "integrity.signature_missing", "integrity.ed25519_signature",
              "the bundle has no public-key signature");
    }
    if (c->options->require_signature && !sign && !ed)
        found(c, FAILED, "integrity.signature_missing", "integrity", "the bundle is not signed");
    return HF_OK;
}

/* The hash of the history, link by link, against the head that was exported. */
static hf_status chain_compute(check *c, const hf_bundle_history *h,
                               char out_head[HF_SHA256_TEXT_SIZE], hf_err *err)
{
    hf_event_chunk_place place = {.run_key = (uint64_t)hf_int(c->bundle, "holdfast.run_key", 0)};
    uint8_t hash[HF_SHA256_BYTES] = {0};
    hf_sha256 *sha = NULL;
    hf_status st = hf_sha256_new(&sha, err);

    for (size_t i = 0; !st && i < h->count;) {
        size_t n = 1;

        while (i + n < h->count && h->units[i + n] == h->units[i])
            n++;
        place.first_seq = (uint64_t)i + 1;
        st = hf_event_chunk_hash(sha, &h->events[i], n, &place, hash, err);
        memcpy(place.previous, hash, sizeof(hash));
        i += n;
    }
    hf_sha256_free(sha);
    hf_hex_print(hf_slice_from(hash, sizeof(hash)), out_head);
    return st;
}

static hf_status chain_check(check *c, hf_err *err)
{
    const char *head = hf_str(c->bundle, "holdfast.history_head", NULL);
    char computed[HF_SHA256_TEXT_SIZE];
    hf_bundle_history history;
    hf_err why = {0};
    hf_status st;

    if (!head || !hf_get(c->bundle, "holdfast.stored")) {
        found(c, WARNING, "integrity.chain_unavailable", "holdfast",
              "the bundle does not carry what the hash chain is made of");
        return HF_OK;
    }
    st = hf_bundle_read(c->mem, c->text, &history, &why);
    if (!st && history.units)
        st = chain_compute(c, &history, computed, &why);
    if (st == HF_NOMEM)
        return hf_err_nomem(err, "a bundle");
    if (st)
        found(c, FAILED, "history_events.unreadable", "history_events", why.text);
    else if (!history.units || strcmp(computed, head) != 0)
        found(c, FAILED, "integrity.chain_mismatch", "holdfast.history_head",
              "the events do not give the hash that the run's history had");
    return HF_OK;
}

/* ---- the report */

static hf_status report_make(check *c, hf_value *out_report, hf_err *err)
{
    hf_value findings = hf_value_finish(c->findings);

    *out_report = hf_json_(
        c->mem,
        "{'schema': 'durable-workflow.v2.history-bundle-verification', 'status': %s, "
        "'instance_id': %s, 'run_id': %s, 'workflow_type': %s, 'exported_at': %s, "
        "'events': %zu, 'complete': %p, 'findings': %p}",
        c->failed   ? "failed"
        : c->warned ? "warning"
                    : "ok",
        hf_str(c->bundle, "workflow.instance_id", NULL), hf_str(c->bundle, "workflow.run_id", NULL),
        hf_str(c->bundle, "workflow.workflow_type", NULL), hf_str(c->bundle, "exported_at", NULL),
        hf_len(section(c, "history_events")),
        (const void *)hf_value_bool(hf_bool(c->bundle, "history_complete", false)),
        (const void *)findings);
    return findings && *out_report ? HF_OK : hf_err_nomem(err, "a report");
}

hf_status hf_bundle_verify_text(hf_mem *mem, hf_slice text, const hf_bundle_verify_options *options,
                                hf_value *out_report, hf_err *err)
{
    const hf_bundle_verify_options none = {0};
    const hf_json_limits limits = {.bytes_max = HF_BUNDLE_BYTES_MAX};
    check c = {.mem = mem,
               .text = text,
               .options = options ? options : &none,
               .findings = hf_value_array(mem)};
    hf_err why = {0};
    hf_status st = hf_json_read(mem, text, &limits, &c.bundle, &why);

    if (st == HF_NOMEM)
        return hf_err_nomem(err, "a bundle");
    if (st || hf_value_kind_of(c.bundle) != HF_VALUE_OBJECT) {
        found(&c, FAILED, "bundle.unreadable", "", st ? why.text : "a bundle is an object");
        return report_make(&c, out_report, err);
    }
    schema_check(&c);
    sections_check(&c);
    events_check(&c);
    commands_check(&c);
    manifest_check(&c);
    redaction_check(&c);
    st = integrity_check(&c, err);
    if (!st && !c.failed)
        st = chain_check(&c, err);
    return st ? st : report_make(&c, out_report, err);
}
