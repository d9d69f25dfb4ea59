/* bundle.c: see bundle.h. Order: sections, codec schemas, payload manifest, integrity; the last one
   covers everything before it. */
#include "project/bundle.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/ed25519.h"
#include "base/json.h"
#include "project/compose.h"
#include "project/edge.h"
#include "project/section.h"

#define BUNDLE_CANONICAL   "json-recursive-ksort-v1"
#define BUNDLE_SIGNED      "durable-workflow.v2.history-export sha256:"
#define BUNDLE_SCHEMA_NAME "durable_workflow.protocol.Value"
#define BUNDLE_SCHEMA_MARK "e2a33dff55802237"

/* ---- events */

static hf_status events_make(const hf_section *section, hf_compose *compose, hf_value *out_events,
                             hf_value *out_timeline, hf_err *err)
{
    const hf_dossier *dossier = section->dossier;
    hf_mem *mem = section->mem;
    hf_value_list *list = hf_value_array(mem);
    hf_value_list *timeline = hf_value_array(mem);
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < dossier->event_count; i++) {
        hf_value event = NULL;
        hf_value entry = NULL;
        hf_ulid task;
        bool turn = hf_compose_turn(compose, &dossier->events[dossier->units[i] - 1],
                                    dossier->units[i], &task);

        st = hf_compose_event(compose, &dossier->events[i], (int64_t)i + 1, turn ? &task : NULL,
                              &event, err);
        hf_value_append(list, event);
        if (!st)
            st = hf_section_entry(section, &dossier->events[i], event, &entry, err);
        hf_value_append(timeline, entry);
    }
    *out_events = hf_value_finish(list);
    *out_timeline = hf_value_finish(timeline);
    return st ? st : *out_events && *out_timeline ? HF_OK : hf_err_nomem(err, "a history");
}

/* ---- payloads of the run */

static hf_status payload_part(hf_mem *mem, const hf_event *event, hf_event_key key,
                              hf_value *out_part, hf_err *err)
{
    hf_value_list *object = hf_value_object(mem);
    hf_payload_value payload;
    hf_value blob = hf_value_null();
    hf_status st = HF_OK;

    if (event && hf_event_payload(event, key, &payload))
        st = hf_edge_blob(mem, &payload, &blob, err);
    hf_value_put(object, "available", hf_value_bool(hf_value_kind_of(blob) == HF_VALUE_STRING));
    hf_value_put(object, "data", blob);
    *out_part = hf_value_finish(object);
    return st ? st : *out_part ? HF_OK : hf_err_nomem(err, "a payload");
}

static hf_status payloads_make(const hf_section *s, hf_value *out_value, hf_err *err)
{
    hf_value_list *object = hf_value_object(s->mem);
    const hf_event *completed = NULL;
    hf_value arguments = NULL;
    hf_value output = NULL;
    hf_status st;

    for (size_t i = 0; i < s->dossier->event_count; i++)
        if (s->dossier->events[i].type == HF_EVENT_WORKFLOW_COMPLETED)
            completed = &s->dossier->events[i];
    st = payload_part(s->mem, hf_compose_started(s->compose), HF_KEY_ARGUMENTS, &arguments, err);
    if (!st)
        st = payload_part(s->mem, completed, HF_KEY_OUTPUT, &output, err);
    hf_value_put(object, "codec", hf_value_string(s->mem, HF_SLICE("avro")));
    hf_value_put(object, "arguments", arguments);
    hf_value_put(object, "output", output);
    *out_value = hf_value_finish(object);
    return st ? st : *out_value ? HF_OK : hf_err_nomem(err, "payloads");
}

/* ---- our own section */

/* Stored keys that have a published place all the same: the run's payloads, the snapshot. */
static bool key_has_place(hf_event_type type, hf_event_key key)
{
    if (hf_event_key_published(type, key))
        return true;
    if (type == HF_EVENT_WORKFLOW_STARTED)
        return key == HF_KEY_ARGUMENTS;
    return type == HF_EVENT_ACTIVITY_SCHEDULED && key == HF_KEY_ARGUMENTS;
}

static hf_value triple(hf_mem *mem, int64_t seq, hf_event_key key, hf_value value)
{
    hf_value_list *item = hf_value_array(mem);

    hf_value_append(item, hf_value_int(mem, seq));
    hf_value_append(item, hf_value_string(mem, hf_slice_of(hf_event_key_text(key))));
    if (value)
        hf_value_append(item, value);
    return hf_value_finish(item);
}

/* What is said of one event: its keys; and of its fields, those without a place and those whose
   payload was stored as Avro. */
static hf_status stored_note(const hf_section *s, size_t i, hf_value_list *stored,
                             hf_value_list *own, hf_value_list *avro, hf_err *err)
{
    const hf_event *event = &s->dossier->events[i];
    hf_value_list *keys = hf_value_array(s->mem);
    hf_status st = HF_OK;

    for (size_t j = 0; !st && j < event->count; j++) {
        const hf_event_field *field = &event->fields[j];
        hf_value value = NULL;

        hf_value_append(keys, hf_value_int(s->mem, (int64_t)field->key));
        if (hf_event_key_kind(field->key) == HF_VALUE_KIND_PAYLOAD &&
            field->payload.codec == HF_PAYLOAD_CODEC_AVRO)
            hf_value_append(avro, triple(s->mem, (int64_t)i + 1, field->key, NULL));
        if (key_has_place(event->type, field->key))
            continue;
        st = hf_compose_field(s->compose, event, field->key, &value, err);
        if (!st)
            hf_value_append(own, triple(s->mem, (int64_t)i + 1, field->key, value));
    }
    hf_value_append(stored, hf_value_finish(keys));
    return st;
}

static hf_status holdfast_make(const hf_section *s, hf_value *out_value, hf_err *err)
{
    const hf_dossier *d = s->dossier;
    hf_value_list *object = hf_value_object(s->mem);
    hf_value_list *units = hf_value_array(s->mem);
    hf_value_list *stored = hf_value_array(s->mem);
    hf_value_list *own = hf_value_array(s->mem);
    hf_value_list *avro = hf_value_array(s->mem);
    char head[HF_SHA256_TEXT_SIZE];
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < d->event_count; i++) {
        if (d->units[i] == (int64_t)i + 1)
            hf_value_append(units, hf_value_int(s->mem, d->units[i]));
        st = stored_note(s, i, stored, own, avro, err);
    }
    hf_hex_print(hf_slice_from(d->base.head, sizeof(d->base.head)), head);
    hf_value_put(object, "format", hf_value_int(s->mem, HF_BUNDLE_FORMAT));
    hf_value_put(object, "program", hf_value_string(s->mem, HF_SLICE(HF_VERSION_TEXT)));
    hf_value_put(object, "run_key", hf_value_int(s->mem, d->run.key));
    hf_value_put(object, "history_head", hf_value_string(s->mem, hf_slice_of(head)));
    hf_value_put(object, "units", hf_value_finish(units));
    hf_value_put(object, "stored", hf_value_finish(stored));
    hf_value_put(object, "own", hf_value_finish(own));
    hf_value_put(object, "avro", hf_value_finish(avro));
    *out_value = hf_value_finish(object);
    return st ? st : *out_value ? HF_OK : hf_err_nomem(err, "a section");
}

/* ---- manifest */

/* What a manifest is made for. */
typedef struct manifest {
    hf_mem *mem;
    hf_value_list *entries;
    hf_value changed; /* paths that a redactor changed */
} manifest;

static bool path_redacted(const manifest *m, const char *path)
{
    for (size_t i = 0; i < hf_len(m->changed); i++)
        if (hf_slice_starts(hf_slice_of(path), hf_value_slice(hf_at(m->changed, i))))
            return true;
    return false;
}

static void manifest_entry(manifest *m, const char *path, bool available)
{
    hf_mem *mem = m->mem;
    bool redacted = path_redacted(m, path);
    hf_value_list *entry = hf_value_object_of(mem, 10);

    hf_value_put(entry, "path", hf_value_string(mem, hf_slice_of(path)));
    hf_value_put(entry, "codec", hf_value_string(mem, HF_SLICE("avro")));
    hf_value_put(entry, "available", hf_value_bool(available));
    hf_value_put(entry, "redacted", hf_value_bool(redacted));
    hf_value_put(entry, "encoding", hf_value_string(mem, HF_SLICE("base64-avro-single-object")));
    hf_value_put(entry, "avro_framing", hf_value_string(mem, HF_SLICE("single-object")));
    hf_value_put(entry, "avro_prefix_hex",
                 hf_value_string(mem, HF_SLICE("c301" BUNDLE_SCHEMA_MARK)));
    /* the schema itself is in codec_schemas, once */
    hf_value_put(entry, "writer_schema", hf_value_null());
    hf_value_put(entry, "writer_schema_fingerprint",
                 hf_value_string(mem, HF_SLICE("crc64-avro:" BUNDLE_SCHEMA_MARK)));
    hf_value_put(entry, "diagnostic",
                 redacted    ? hf_value_string(mem, HF_SLICE("payload_redacted"))
                 : available ? hf_value_null()
                             : hf_value_string(mem, HF_SLICE("payload_missing")));
    hf_value_append(m->entries, hf_value_finish(entry));
}

static void manifest_item(manifest *m, const char *section, size_t i, const char *name,
                          hf_value item)
{
    char path[96];
    hf_value found = hf_value_find(item, hf_slice_of(name));

    (void)snprintf(path, sizeof(path), "%s.%zu.%s", section, i, name);
    manifest_entry(m, path, hf_value_kind_of(found) != HF_VALUE_NULL);
}

static void manifest_event(manifest *m, size_t i, hf_value event, const hf_event *stored)
{
    char name[32];
    hf_value payload = hf_value_find(event, HF_SLICE("payload"));
    static const char *const names[] = {"output", "result"};

    for (size_t j = 0; j < 2; j++) {
        hf_value found = hf_value_find(payload, hf_slice_of(names[j]));
        char path[96];

        if (stored->type != HF_EVENT_CHILD_RUN_COMPLETED &&
            (stored->type != HF_EVENT_WORKFLOW_COMPLETED || j == 1))
            continue;
        (void)snprintf(name, sizeof(name), "payload.%s", names[j]);
        (void)snprintf(path, sizeof(path), "history_events.%zu.%s", i, name);
        manifest_entry(m, path, hf_value_kind_of(found) != HF_VALUE_NULL);
    }
}

static hf_value manifest_make(const hf_dossier *dossier, hf_mem *mem, hf_value bundle,
                              hf_value changed)
{
    static const struct {
        const char *section;
        const char *name;
    } places[] = {{"signals", "arguments"},
                  {"updates", "arguments"},
                  {"updates", "result"},
                  {"activities", "arguments"},
                  {"activities", "result"}};
    hf_value_list *object = hf_value_object(mem);
    manifest m = {.mem = mem, .entries = hf_value_array(mem), .changed = changed};
    hf_value events = hf_value_find(bundle, HF_SLICE("history_events"));

    manifest_entry(&m, "payloads.arguments.data",
                   hf_bool(bundle, "payloads.arguments.available", 0));
    manifest_entry(&m, "payloads.output.data", hf_bool(bundle, "payloads.output.available", 0));
    for (size_t i = 0; i < dossier->event_count; i++)
        manifest_event(&m, i, hf_at(events, i), &dossier->events[i]);
    for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
        hf_value list = hf_value_find(bundle, hf_slice_of(places[p].section));

        for (size_t i = 0; i < hf_len(list); i++)
            manifest_item(&m, places[p].section, i, places[p].name, hf_at(list, i));
    }
    hf_value_put(object, "version", hf_value_int(mem, 1));
    hf_value_put(object, "entries", hf_value_finish(m.entries));
    return hf_value_finish(object);
}

static hf_value codecs_make(hf_mem *mem)
{
    hf_value_list *codecs = hf_value_object(mem);
    hf_value_list *avro = hf_value_object(mem);

    hf_value_put(avro, "framing", hf_value_string(mem, HF_SLICE("single-object")));
    hf_value_put(avro, "writer_schema", hf_value_string(mem, HF_SLICE(BUNDLE_SCHEMA_NAME)));
    hf_value_put(avro, "writer_schema_version", hf_value_int(mem, 1));
    hf_value_put(avro, "writer_schema_fingerprint",
                 hf_value_string(mem, HF_SLICE(BUNDLE_SCHEMA_MARK)));
    hf_value_put(codecs, "avro", hf_value_finish(avro));
    return hf_value_finish(codecs);
}

/* ---- integrity */

/* All members but the one that holds the checksum. */
static hf_value without_integrity(hf_mem *mem, hf_value bundle)
{
    hf_value_list *object = hf_value_object(mem);
    hf_slice name;
    hf_value item;

    for (size_t i = 0; hf_value_member(bundle, i, &name, &item); i++)
        if (!hf_slice_equal(name, HF_SLICE("integrity")))
            hf_value_set(object, name, item);
    return hf_value_finish(object);
}

/* What goes over the canonical text. */
typedef struct seal {
    hf_sha256 *sha;
    hf_hmac *hmac; /* NULL: it is not signed */
} seal;

/* hf_json_take */
static void seal_take(void *ctx, hf_slice piece)
{
    const seal *s = ctx;

    hf_sha256_add(s->sha, piece);
    if (s->hmac)
        hf_hmac_add(s->hmac, piece);
}

/* Checksum and, with a key, signature, over the canonical text. */
static hf_status seal_compute(hf_value unsealed, hf_slice key, char out_sum[HF_SHA256_TEXT_SIZE],
                              char out_sign[HF_SHA256_TEXT_SIZE], hf_err *err)
{
    uint8_t digest[HF_SHA256_BYTES];
    seal s = {0};
    hf_status st = hf_sha256_new(&s.sha, err);

    out_sign[0] = '\0';
    if (!st && key.len)
        st = hf_hmac_new(key, &s.hmac, err);
    if (st)
        goto done;
    hf_sha256_begin(s.sha);
    if (s.hmac)
        hf_hmac_begin(s.hmac);
    if (!hf_json_ksort_pieces(unsealed, seal_take, &s))
        st = hf_err_nomem(err, "a bundle");
    if (!st)
        st = hf_sha256_end(s.sha, digest, err);
    if (st)
        goto done;
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), out_sum);
    if (!s.hmac)
        goto done;
    st = hf_hmac_end(s.hmac, digest, err);
    if (!st)
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), out_sign);
done:
    hf_hmac_free(s.hmac);
    hf_sha256_free(s.sha);
    return st;
}

/* What a public-key signature covers: the checksum, and with it all that the checksum does, so that
   nobody needs the whole text at once. */
static hf_status public_text(hf_slice checksum, hf_buf *text, hf_err *err)
{
    hf_buf_add_text(text, BUNDLE_SIGNED);
    hf_buf_add_slice(text, checksum);
    return hf_buf_ok(text) ? HF_OK : hf_err_nomem(err, "a bundle");
}

/* The public-key signature beside the published ones. */
static hf_status public_sign(hf_mem *mem, const hf_bundle_options *options, hf_slice checksum,
                             hf_value_list *into, hf_err *err)
{
    uint8_t seed[HF_ED25519_KEY_BYTES];
    uint8_t public_key[HF_ED25519_KEY_BYTES];
    uint8_t sign[HF_ED25519_SIGN_BYTES];
    char sign_text[2 * HF_ED25519_SIGN_BYTES + 1];
    char key_text[2 * HF_ED25519_KEY_BYTES + 1];
    hf_buf text = {0};
    hf_status st;

    if (!options->seed.len)
        return HF_OK;
    if (!hf_hex_parse(hf_slice_trim(options->seed), seed, sizeof(seed)))
        return hf_err_set(err, HF_INVALID, "an Ed25519 key is 64 hexadecimal digits");
    st = public_text(checksum, &text, err);
    if (!st)
        st = hf_ed25519_sign(seed, hf_buf_slice(&text), sign, public_key, err);
    hf_buf_fini(&text);
    if (st)
        return st;
    hf_hex_print(hf_slice_from(sign, sizeof(sign)), sign_text);
    hf_hex_print(hf_slice_from(public_key, sizeof(public_key)), key_text);
    hf_value_put(into, "ed25519_signs", hf_value_string(mem, HF_SLICE("checksum")));
    hf_value_put(into, "ed25519_signature", hf_value_string(mem, hf_slice_of(sign_text)));
    hf_value_put(into, "ed25519_public_key", hf_value_string(mem, hf_slice_of(key_text)));
    return HF_OK;
}

static hf_status integrity_make(hf_mem *mem, const hf_bundle_options *options, hf_value unsealed,
                                hf_value *out_value, hf_err *err)
{
    char sum[HF_SHA256_TEXT_SIZE];
    char sign[HF_SHA256_TEXT_SIZE];
    hf_slice key = hf_slice_trim(options->key);
    hf_value_list *object = hf_value_object(mem);
    hf_status st = seal_compute(unsealed, key, sum, sign, err);

    if (st)
        return st;
    hf_value_put(object, "canonicalization", hf_value_string(mem, HF_SLICE(BUNDLE_CANONICAL)));
    hf_value_put(object, "checksum_algorithm", hf_value_string(mem, HF_SLICE("sha256")));
    hf_value_put(object, "checksum", hf_value_string(mem, hf_slice_of(sum)));
    hf_value_put(object, "signature_algorithm",
                 key.len ? hf_value_string(mem, HF_SLICE("hmac-sha256")) : hf_value_null());
    hf_value_put(object, "signature",
                 key.len ? hf_value_string(mem, hf_slice_of(sign)) : hf_value_null());
    hf_value_put(object, "key_id", key.len ? hf_edge_text(mem, options->key_id) : hf_value_null());
    st = public_sign(mem, options, hf_slice_of(sum), object, err);
    if (st)
        return st;
    *out_value = hf_value_finish(object);
    return *out_value ? HF_OK : hf_err_nomem(err, "a checksum");
}

bool hf_bundle_public_signs_checksum(hf_value integrity)
{
    return hf_str(integrity, "ed25519_signs", NULL) != NULL;
}

hf_status hf_bundle_public_check(hf_value integrity, hf_slice key, hf_slice covered, hf_err *err)
{
    const char *signs = hf_str(integrity, "ed25519_signs", NULL);
    hf_slice named = hf_slice_of(hf_str(integrity, "ed25519_public_key", ""));
    uint8_t public_key[HF_ED25519_KEY_BYTES];
    uint8_t sign[HF_ED25519_SIGN_BYTES];
    char spelt[2 * HF_ED25519_SIGN_BYTES + 1] = "";
    hf_slice said = hf_slice_of(hf_str(integrity, "ed25519_signature", ""));
    hf_buf text = {0};
    bool fits = false;
    hf_status st = HF_OK;

    if (hf_hex_parse(said, sign, sizeof(sign)))
        hf_hex_print(hf_slice_from(sign, sizeof(sign)), spelt); /* digits have one spelling */
    if (key.len && !hf_slice_equal(key, named))
        return hf_err_set(err, HF_INVALID, "the bundle is signed with another key");
    if (!hf_hex_parse(named, public_key, sizeof(public_key)) ||
        !hf_slice_equal(said, hf_slice_of(spelt)) ||
        (signs && !hf_slice_equal(hf_slice_of(signs), HF_SLICE("checksum"))))
        return hf_err_set(err, HF_INVALID, "the bundle's signature is no Ed25519 signature");
    if (signs)
        st = public_text(covered, &text, err);
    if (!st)
        st = hf_ed25519_check(public_key, signs ? hf_buf_slice(&text) : covered, sign, &fits, err);
    if (!st && !fits)
        st = hf_err_set(err, HF_INVALID, "the bundle was changed: its signature does not fit");
    hf_buf_fini(&text);
    return st;
}

hf_status hf_bundle_check(hf_value bundle, hf_slice key, hf_err *err)
{
    char sum[HF_SHA256_TEXT_SIZE];
    char sign[HF_SHA256_TEXT_SIZE];
    hf_value integrity = hf_value_find(bundle, HF_SLICE("integrity"));
    const char *said = hf_str(integrity, "checksum", NULL);
    hf_mem *mem = NULL;
    hf_value unsealed;
    hf_status st;

    key = hf_slice_trim(key);
    if (!said)
        return hf_err_set(err, HF_INVALID, "the bundle carries no checksum");
    if (!hf_slice_equal(hf_slice_of(hf_str(integrity, "canonicalization", "")),
                        HF_SLICE(BUNDLE_CANONICAL)) ||
        !hf_slice_equal(hf_slice_of(hf_str(integrity, "checksum_algorithm", "")),
                        HF_SLICE("sha256")))
        return hf_err_set(err, HF_INVALID, "the bundle's checksum is made in an unknown way");
    mem = hf_mem_new();
    unsealed = mem ? without_integrity(mem, bundle) : NULL;
    st = unsealed ? seal_compute(unsealed, key, sum, sign, err) : hf_err_nomem(err, "a bundle");
    if (!st && !hf_slice_equal(hf_slice_of(sum), hf_slice_of(said)))
        st =
            hf_err_set(err, HF_INVALID,
                       "the bundle was changed: its checksum is %s, its content has %s", said, sum);
    if (!st && key.len && !hf_str(integrity, "signature", NULL))
        st = hf_err_set(err, HF_INVALID, "the bundle is not signed");
    if (!st && key.len &&
        !hf_crypto_equal(hf_slice_of(sign), hf_slice_of(hf_str(integrity, "signature", ""))))
        st = hf_err_set(err, HF_INVALID, "the bundle is signed with another key");
    hf_mem_free(mem);
    return st;
}

/* ---- the whole */

static void head_put(hf_value_list *bundle, const hf_section *s, const hf_bundle_options *options)
{
    const hf_dossier *d = s->dossier;
    char run[HF_ULID_TEXT_SIZE];
    hf_ulid id = hf_dossier_run_id(&d->run);
    hf_value last = hf_edge_time(s->mem, d->base.last_us);
    const char *dedupe;

    hf_ulid_print(&id, run);
    dedupe =
        hf_mem_format(s->mem, "%s:%lld:%s", run, (long long)d->base.last_seq, hf_str(last, "", ""));
    hf_value_put(bundle, "schema", hf_value_string(s->mem, HF_SLICE(HF_BUNDLE_SCHEMA)));
    hf_value_put(bundle, "schema_version", hf_value_int(s->mem, HF_BUNDLE_VERSION));
    hf_value_put(bundle, "exported_at", hf_edge_time(s->mem, options->now_us));
    hf_value_put(bundle, "dedupe_key",
                 dedupe ? hf_value_string(s->mem, hf_slice_of(dedupe)) : NULL);
    hf_value_put(bundle, "history_complete", hf_value_bool(d->base.closed_us != HF_NONE));
}

static hf_value selected_make(const hf_section *s)
{
    static const char *const names[] = {"waits_projection_source", "timeline_projection_source",
                                        "timers_projection_source", "lineage_projection_source"};
    hf_value_list *object = hf_value_object(s->mem);
    hf_ulid id = hf_dossier_run_id(&s->dossier->run);

    hf_value_put(object, "run_id", hf_edge_id(s->mem, &id));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        hf_value_set(object, hf_slice_of(names[i]), hf_value_null());
    return hf_value_finish(object);
}

static hf_value redaction_make(hf_mem *mem, const hf_bundle_options *options, hf_value paths)
{
    hf_value_list *object = hf_value_object(mem);

    hf_value_put(object, "applied", hf_value_bool(options->redact != NULL));
    hf_value_put(object, "policy",
                 options->redact ? hf_edge_text(mem, options->redact_policy) : hf_value_null());
    hf_value_put(object, "paths", paths ? paths : hf_value_finish(hf_value_array(mem)));
    return hf_value_finish(object);
}

static hf_status sections_put(hf_value_list *bundle, const hf_section *s, hf_err *err)
{
    static const struct {
        const char *name;
        hf_section_fn *make;
    } sections[] = {{"workflow", hf_section_workflow},
                    {"payloads", payloads_make},
                    {"summary", hf_section_summary},
                    {"commands", hf_section_commands},
                    {"signals", hf_section_signals},
                    {"updates", hf_section_updates},
                    {"tasks", hf_section_tasks},
                    {"activities", hf_section_activities},
                    {"timers", hf_section_timers},
                    {"failures", hf_section_failures},
                    {"links", hf_section_links},
                    {"waits", hf_section_waits},
                    {"linked_intakes", hf_section_intakes},
                    {"holdfast", holdfast_make}};
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < sizeof(sections) / sizeof(sections[0]); i++) {
        hf_value value = NULL;

        st = sections[i].make(s, &value, err);
        hf_value_set(bundle, hf_slice_of(sections[i].name), value);
    }
    hf_value_put(bundle, "selected_run", selected_make(s));
    return st;
}

/* The same object with one more member. */
static hf_value with_member(hf_mem *mem, hf_value object, hf_slice name, hf_value item)
{
    hf_value_list *list = hf_value_object(mem);
    hf_slice key;
    hf_value member;

    for (size_t i = 0; hf_value_member(object, i, &key, &member); i++)
        hf_value_set(list, key, member);
    hf_value_set(list, name, item);
    return hf_value_finish(list);
}

/* What follows the sections, in this order: redaction, codec schemas, manifest. */
static hf_status bundle_finish(const hf_dossier *dossier, hf_mem *mem,
                               const hf_bundle_options *options, hf_value *io_bundle, hf_err *err)
{
    hf_value paths = NULL;
    hf_value changed = NULL;
    hf_value bundle = *io_bundle;
    hf_status st = HF_OK;

    if (options->redact)
        st = hf_redact_bundle(mem, bundle, options->redact, options->redact_arg, &bundle, &paths,
                              &changed, err);
    if (st)
        return st;
    bundle = with_member(mem, bundle, HF_SLICE("redaction"), redaction_make(mem, options, paths));
    if (bundle)
        bundle = with_member(mem, bundle, HF_SLICE("codec_schemas"), codecs_make(mem));
    if (bundle)
        bundle = with_member(mem, bundle, HF_SLICE("payload_manifest"),
                             manifest_make(dossier, mem, bundle, changed));
    *io_bundle = bundle;
    return bundle ? HF_OK : hf_err_nomem(err, "a bundle");
}

hf_status hf_bundle_make(const hf_dossier *dossier, hf_mem *mem, const hf_bundle_options *options,
                         hf_value *out_bundle, hf_err *err)
{
    hf_compose_run run = {.key = dossier->run.key,
                          .id = hf_dossier_run_id(&dossier->run),
                          .instance_id = dossier->run.instance_id,
                          .type = dossier->run.type,
                          .queue = dossier->queue,
                          .number = dossier->run.number,
                          .business_key = dossier->business_key,
                          .parent_instance_id = dossier->parent.instance_id,
                          .parent_step = dossier->parent_step,
                          .definition = dossier->definition};
    hf_value_list *object = hf_value_object(mem);
    hf_section section = {.mem = mem, .dossier = dossier, .lean = true};
    hf_compose *compose = NULL;
    hf_value events = NULL;
    hf_value timeline = NULL;
    hf_value bundle = NULL;
    hf_value integrity = NULL;
    hf_status st = hf_compose_new(mem, &run, &compose, err);

    if (dossier->parent.key != HF_NONE)
        run.parent_run_id = hf_dossier_run_id(&dossier->parent);
    section.compose = compose;
    if (!st)
        st = events_make(&section, compose, &events, &timeline, err);
    if (!st) {
        head_put(object, &section, options);
        hf_value_put(object, "history_events", events);
        hf_value_put(object, "timeline", timeline);
        st = sections_put(object, &section, err);
    }
    if (!st) {
        bundle = hf_value_finish(object);
        st = bundle ? bundle_finish(dossier, mem, options, &bundle, err)
                    : hf_err_nomem(err, "a bundle");
        if (!st)
            st = integrity_make(mem, options, bundle, &integrity, err);
    }
    if (!st) {
        *out_bundle = with_member(mem, bundle, HF_SLICE("integrity"), integrity);
        if (!*out_bundle)
            st = hf_err_nomem(err, "a bundle");
    }
    hf_compose_free(compose);
    return hf_err_because(err, st, "make the bundle of a run");
}
