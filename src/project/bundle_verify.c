/* bundle_verify.c: see bundle_verify.h. Nothing of the bundle is in memory but the value at hand:
   lists are walked side by side. Only what is not in the order that our own bundles have costs
   more, and is bounded. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/map.h"
#include "project/bundle.h"
#include "project/bundle_verify_impl.h"

enum {
    SMALL_MAX = 64 * 1024, /* bytes of values that are names, numbers, words */
    FINDINGS_MAX = 1000,   /* more say nothing new */
    REWINDS_MAX = 64       /* of a list that is walked beside another, in a big bundle */
};

static void finding_add(bundle_check *c, const char *severity, const char *rule, const char *path,
                        const char *message)
{
    if (c->finding_count++ < FINDINGS_MAX)
        hf_value_append(c->findings,
                        hf_json_(c->mem, "{'rule': %s, 'severity': %s, 'path': %s, 'message': %s}",
                                 rule, severity, path, message));
}

void hf_bundle_fails(bundle_check *c, const char *rule, const char *path, const char *message)
{
    c->failed = true;
    finding_add(c, "failed", rule, path, message);
}

void hf_bundle_warns(bundle_check *c, const char *rule, const char *path, const char *message)
{
    c->warned = true;
    finding_add(c, "warning", rule, path, message);
}

hf_status hf_bundle_small(bundle_check *c, const char *path, hf_value *out_value, hf_err *err)
{
    hf_status st =
        hf_bundle_file_get(&c->file, c->mem, hf_slice_of(path), SMALL_MAX, out_value, err);

    if (st != HF_TOOBIG)
        return st;
    *out_value = hf_value_null();
    return HF_OK;
}

bool hf_bundle_is_big(const bundle_check *c)
{
    return c->file.source.size > HF_BUNDLE_BYTES_MAX;
}

/* ---- shape */

static hf_status schema_check(bundle_check *c, hf_err *err)
{
    hf_value schema = NULL;
    hf_value version = NULL;
    hf_value exported = NULL;
    hf_status st = hf_bundle_small(c, "schema", &schema, err);

    if (!st)
        st = hf_bundle_small(c, "schema_version", &version, err);
    if (!st)
        st = hf_bundle_small(c, "exported_at", &exported, err);
    if (st)
        return st;
    if (!hf_str(schema, "", NULL))
        hf_bundle_fails(c, "bundle.schema_missing", "schema", "the bundle names no schema");
    else if (strcmp(hf_str(schema, "", ""), HF_BUNDLE_SCHEMA) != 0)
        hf_bundle_fails(c, "bundle.schema_unexpected", "schema", "the bundle is of another schema");
    if (!version)
        hf_bundle_fails(c, "bundle.schema_version_missing", "schema_version",
                        "the bundle names no version");
    else if (hf_int(version, "", -1) != HF_BUNDLE_VERSION)
        hf_bundle_fails(c, "bundle.schema_version_unsupported", "schema_version",
                        "this program reads version 1");
    if (!hf_str(exported, "", NULL))
        hf_bundle_fails(c, "bundle.exported_at_missing", "exported_at",
                        "the bundle does not say when it was made");
    return HF_OK;
}

static hf_status sections_check(bundle_check *c, hf_err *err)
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
    char text[64];
    hf_status st = HF_OK;

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        const hf_bundle_section *s = hf_bundle_file_section(&c->file, hf_slice_of(needed[i].name));

        if (!s)
            (i < 5 ? hf_bundle_fails : hf_bundle_warns)(c, "bundle.section_missing", needed[i].name,
                                                        "a section is missing");
        else if (s->kind != needed[i].kind && !(s->empty && s->kind == HF_VALUE_ARRAY))
            hf_bundle_fails(c, "bundle.section_invalid", needed[i].name,
                            "a section is of the wrong kind");
    }
    for (size_t i = 0; !st && i < 3; i++) {
        hf_value name = NULL;

        (void)snprintf(text, sizeof(text), "workflow.%s", names[i]);
        st = hf_bundle_small(c, text, &name, err);
        (void)snprintf(text, sizeof(text), "workflow.%s_missing", names[i]);
        if (!st && !hf_str(name, "", NULL))
            hf_bundle_fails(c, text, "workflow", "the bundle does not say which run it is");
    }
    return st;
}

/* ---- events */

/* What is remembered of the events before. */
typedef struct walk {
    int64_t sequence;
    hf_buf id;     /* of the newest event that has one */
    bool disorder; /* an id is not behind the one before it */
} walk;

static void event_check(bundle_check *c, hf_value event, size_t i, walk *w)
{
    char path[48];
    hf_value sequence = hf_value_find(event, HF_SLICE("sequence"));
    hf_slice id = hf_value_slice(hf_value_find(event, HF_SLICE("id")));

    (void)snprintf(path, sizeof(path), "history_events.%zu", i);
    if (hf_value_kind_of(event) != HF_VALUE_OBJECT) {
        hf_bundle_fails(c, "history_events.entry_invalid", path, "an event is no object");
        return;
    }
    if (hf_value_kind_of(sequence) != HF_VALUE_INT)
        hf_bundle_fails(c, "history_events.sequence_missing", path, "an event has no number");
    else if (hf_int(sequence, "", 0) != w->sequence + 1)
        hf_bundle_fails(c, "history_events.sequence_not_monotonic", path,
                        "events are not numbered one by one");
    w->sequence = hf_int(sequence, "", w->sequence + 1);
    if (!hf_str(event, "type", NULL))
        hf_bundle_fails(c, "history_events.type_missing", path, "an event has no type");
    if (!id.len)
        return;
    w->disorder |= hf_slice_compare(hf_buf_slice(&w->id), id) >= 0;
    hf_buf_clear(&w->id);
    hf_buf_add_slice(&w->id, id);
}

/* Ids that do not ascend are all compared; that takes memory. */
static hf_status ids_check(bundle_check *c, hf_err *err)
{
    hf_map_seed seed; /* who made the bundle chose the ids */
    hf_bundle_list *list = NULL;
    hf_mem *kept = NULL;
    hf_map *ids = NULL;
    hf_value event = NULL;
    char path[48];
    hf_status st = HF_OK;

    if (hf_bundle_is_big(c)) {
        hf_bundle_fails(
            c, "history_events.id_order", "history_events",
            "ids of events do not ascend, and a bundle of this size cannot be searched for equal "
            "ones");
        return HF_OK;
    }
    st = hf_map_seed_system(&seed, err);
    if (st)
        return st;
    kept = hf_mem_new();
    ids = hf_map_new(seed);
    if (!kept || !ids)
        st = hf_err_nomem(err, "a bundle");
    if (!st)
        st = hf_bundle_list_open(&c->file, HF_SLICE("history_events"), &list, err);
    while (!st && list) {
        hf_slice id;

        hf_mem_reset(c->work);
        st = hf_bundle_list_next(list, c->work, &event, err);
        if (st || !event)
            break;
        id = hf_value_slice(hf_value_find(event, HF_SLICE("id")));
        (void)snprintf(path, sizeof(path), "history_events.%lld",
                       (long long)hf_bundle_list_count(list) - 1);
        if (id.len && hf_map_get(ids, id)) {
            hf_bundle_fails(c, "history_events.id_duplicate", path, "two events have the same id");
        } else if (id.len) {
            const char *copy = hf_mem_text(kept, id);

            st = copy ? hf_map_put(ids, hf_slice_from(copy, id.len), c, NULL, err)
                      : hf_err_nomem(err, "a bundle");
        }
    }
    hf_bundle_list_close(list);
    hf_map_free(ids);
    if (kept)
        hf_mem_free(kept);
    return st;
}

static hf_status events_check(bundle_check *c, hf_err *err)
{
    hf_bundle_list *list = NULL;
    hf_value event = NULL;
    hf_value last = NULL;
    walk w = {0};
    hf_status st = hf_bundle_list_open(&c->file, HF_SLICE("history_events"), &list, err);

    while (!st && list) {
        hf_mem_reset(c->work);
        st = hf_bundle_list_next(list, c->work, &event, err);
        if (st || !event)
            break;
        event_check(c, event, (size_t)c->events++, &w);
        if (!hf_buf_ok(&w.id))
            st = hf_err_nomem(err, "a bundle");
    }
    hf_bundle_list_close(list);
    hf_buf_fini(&w.id);
    if (!st && w.disorder)
        st = ids_check(c, err);
    if (!st)
        st = hf_bundle_small(c, "workflow.last_history_sequence", &last, err);
    if (!st && hf_int(last, "", -1) >= 0 && hf_int(last, "", -1) != w.sequence)
        hf_bundle_fails(c, "bundle.last_history_sequence_stale", "workflow.last_history_sequence",
                        "the run says another number of events than there are");
    return st;
}

/* ---- a list beside another */

/* Where the second list stands. Going back costs a walk from its beginning. */
typedef struct beside {
    hf_slice path; /* borrowed */
    hf_bundle_list *list;
    hf_value item; /* the newest that was read, in c->side */
    int64_t at;    /* its place; -1: none was read */
    int rewinds;
} beside;

static hf_status beside_rewind(bundle_check *c, beside *b, hf_slice path, hf_err *err)
{
    hf_bundle_list_close(b->list);
    b->path = path;
    b->item = NULL;
    b->at = -1;
    return hf_bundle_list_open(&c->file, path, &b->list, err);
}

static hf_status beside_next(bundle_check *c, beside *b, hf_err *err)
{
    hf_status st = HF_OK;

    hf_mem_reset(c->side);
    b->item = NULL;
    if (b->list)
        st = hf_bundle_list_next(b->list, c->side, &b->item, err);
    b->at += !st && b->item;
    return st;
}

/* ---- commands */

static bool event_is_of(hf_value event, const char *command)
{
    return event && strcmp(hf_str(event, "workflow_command_id", ""), command) == 0;
}

/* Looks on from the event at hand, then, once around, from the first one. */
static hf_status command_find(bundle_check *c, beside *b, const char *id, bool *out_found,
                              hf_err *err)
{
    int64_t began = b->at;
    bool around = false;
    hf_status st = HF_OK;

    *out_found = event_is_of(b->item, id);
    while (!st && !*out_found && (!around || b->at < began)) {
        st = beside_next(c, b, err);
        *out_found = !st && event_is_of(b->item, id);
        if (st || b->item)
            continue;
        if (around || began < 0)
            break;
        around = true;
        b->rewinds++;
        st = beside_rewind(c, b, b->path, err);
    }
    return st;
}

static hf_status commands_check(bundle_check *c, hf_err *err)
{
    beside b = {0};
    hf_bundle_list *list = NULL;
    hf_value command = NULL;
    char path[48];
    hf_status st = beside_rewind(c, &b, HF_SLICE("history_events"), err);

    if (!st)
        st = hf_bundle_list_open(&c->file, HF_SLICE("commands"), &list, err);
    while (!st && list) {
        const char *id;
        bool there = true;

        hf_mem_reset(c->work);
        st = hf_bundle_list_next(list, c->work, &command, err);
        if (st || !command)
            break;
        id = hf_str(command, "id", NULL);
        (void)snprintf(path, sizeof(path), "commands.%lld",
                       (long long)hf_bundle_list_count(list) - 1);
        if (!id) {
            hf_bundle_fails(c, "commands.id_missing", path, "a command has no id");
            continue;
        }
        if (strcmp(hf_str(command, "status", ""), "accepted") != 0)
            continue;
        if (hf_bundle_is_big(c) && b.rewinds > REWINDS_MAX) {
            hf_bundle_warns(
                c, "commands.order", path,
                "commands are not in the order of their events: the rest was not compared");
            break;
        }
        st = command_find(c, &b, id, &there, err);
        if (!st && !there)
            hf_bundle_warns(c, "commands.history_event_missing", path,
                            "an accepted command has no event");
    }
    hf_bundle_list_close(list);
    hf_bundle_list_close(b.list);
    return st;
}

/* ---- manifest */

/* The number and the rest of "3.payload.output". */
static bool place_parse(hf_slice path, int64_t *out_index, hf_slice *out_rest)
{
    hf_slice number;

    return hf_slice_split(&path, '.', &number) && hf_slice_int(number, out_index) &&
           *out_index >= 0 && (*out_rest = path, true);
}

/* Whether the payload is there that the manifest speaks of. Items of lists are asked for in their
   order, section by section. */
static hf_status payload_has(bundle_check *c, beside *b, hf_slice path, bool *out_there,
                             hf_err *err)
{
    const hf_bundle_section *section;
    hf_slice rest = path;
    hf_slice name = {0};
    int64_t index = 0;
    hf_status st = HF_OK;

    *out_there = false;
    (void)hf_slice_split(&rest, '.', &name);
    section = hf_bundle_file_section(&c->file, name);
    if (!section || section->kind != HF_VALUE_ARRAY || !place_parse(rest, &index, &rest))
        return hf_bundle_file_has(&c->file, path, out_there, err);
    name = hf_slice_of(section->name);
    if (!hf_slice_equal(b->path, name) || b->at > index) {
        b->rewinds++;
        st = beside_rewind(c, b, name, err);
    }
    while (!st && b->at < index) {
        st = beside_next(c, b, err);
        if (!b->item)
            break;
    }
    if (!st && b->item) {
        const char *text = hf_mem_text(c->work, rest);
        hf_value value = text ? hf_get(b->item, text) : NULL;

        if (!text)
            return hf_err_nomem(err, "a bundle");
        *out_there = value && hf_value_kind_of(value) != HF_VALUE_NULL;
    }
    return st;
}

static hf_status entry_check(bundle_check *c, beside *b, hf_value codecs, hf_value entry,
                             const char *path, hf_err *err)
{
    const char *at = hf_str(entry, "path", NULL);
    bool there = true;
    hf_status st = HF_OK;

    if (!at)
        hf_bundle_fails(c, "payload_manifest.path_missing", path, "an entry names no payload");
    else if (hf_bool(entry, "available", false))
        st = payload_has(c, b, hf_slice_of(at), &there, err);
    if (!st && !there)
        hf_bundle_fails(c, "payload_manifest.payload_missing", path,
                        "a payload that should be there is not");
    if (!hf_str(entry, "codec", NULL))
        hf_bundle_fails(c, "payload_manifest.codec_missing", path, "an entry names no codec");
    else if (!hf_value_find(codecs, hf_slice_of(hf_str(entry, "codec", ""))))
        hf_bundle_fails(c, "codec_schemas.codec_missing", path,
                        "the codec of a payload is not described");
    return st;
}

static hf_status manifest_check(bundle_check *c, hf_err *err)
{
    const hf_bundle_section *section =
        hf_bundle_file_section(&c->file, HF_SLICE("payload_manifest"));
    beside b = {.at = -1};
    hf_bundle_list *list = NULL;
    hf_value codecs = NULL;
    hf_value entry = NULL;
    char path[48];
    hf_status st;

    if (!section || section->kind != HF_VALUE_OBJECT)
        return HF_OK; /* said already */
    st = hf_bundle_small(c, "codec_schemas", &codecs, err);
    if (!st)
        st = hf_bundle_list_open(&c->file, HF_SLICE("payload_manifest.entries"), &list, err);
    if (!st && !list)
        hf_bundle_fails(c, "payload_manifest.entries_missing", "payload_manifest",
                        "the manifest lists nothing");
    while (!st && list) {
        hf_mem_reset(c->work);
        st = hf_bundle_list_next(list, c->work, &entry, err);
        if (st || !entry)
            break;
        (void)snprintf(path, sizeof(path), "payload_manifest.entries.%lld",
                       (long long)hf_bundle_list_count(list) - 1);
        if (hf_bundle_is_big(c) && b.rewinds > REWINDS_MAX) {
            hf_bundle_fails(
                c, "payload_manifest.order", path,
                "the manifest does not follow the bundle: its entries cannot be looked up");
            break;
        }
        st = entry_check(c, &b, codecs, entry, path, err);
    }
    hf_bundle_list_close(list);
    hf_bundle_list_close(b.list);
    return st;
}

static hf_status redaction_check(bundle_check *c, hf_err *err)
{
    hf_value applied = NULL;
    bool any = false;
    hf_status st = hf_bundle_small(c, "redaction.applied", &applied, err);

    if (!st && hf_bool(applied, "", false)) {
        st = hf_bundle_file_has(&c->file, HF_SLICE("redaction.paths.0"), &any, err);
        if (!st && !any)
            hf_bundle_warns(c, "redaction.empty_paths", "redaction.paths",
                            "something was redacted and nothing says what");
    }
    return st;
}

/* ---- the report */

static hf_status report_make(bundle_check *c, hf_value *out_report, hf_err *err)
{
    static const char *const paths[] = {"workflow.instance_id", "workflow.run_id",
                                        "workflow.workflow_type", "exported_at",
                                        "history_complete"};
    hf_value values[5] = {NULL, NULL, NULL, NULL, NULL};
    hf_value findings;
    hf_status st = HF_OK;

    for (size_t i = 0; !st && c->open && i < 5; i++)
        st = hf_bundle_small(c, paths[i], &values[i], err);
    if (st)
        return st;
    findings = hf_value_finish(c->findings);
    *out_report =
        hf_json_(c->mem,
                 "{'schema': 'durable-workflow.v2.history-bundle-verification', 'status': %s, "
                 "'instance_id': %s, 'run_id': %s, 'workflow_type': %s, 'exported_at': %s, "
                 "'events': %lld, 'complete': %p, 'findings': %p, 'findings_total': %zu}",
                 c->failed   ? "failed"
                 : c->warned ? "warning"
                             : "ok",
                 hf_str(values[0], "", NULL), hf_str(values[1], "", NULL),
                 hf_str(values[2], "", NULL), hf_str(values[3], "", NULL), (long long)c->events,
                 (const void *)hf_value_bool(hf_bool(values[4], "", false)), (const void *)findings,
                 c->finding_count);
    return findings && *out_report ? HF_OK : hf_err_nomem(err, "a report");
}

static hf_status rules_check(bundle_check *c, hf_err *err)
{
    static hf_status (*const rules[])(bundle_check * c, hf_err * err) = {
        schema_check,   sections_check,  events_check,       commands_check,
        manifest_check, redaction_check, hf_bundle_integrity};
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < sizeof(rules) / sizeof(rules[0]); i++)
        st = rules[i](c, err);
    return st || c->failed ? st : hf_bundle_chain_holds(c, err);
}

/* What is wrong with the bundle is a finding; the rest ends the check. */
static bool is_finding(hf_status st)
{
    return st == HF_INVALID || st == HF_TOOBIG;
}

static hf_status text_read(void *ctx, int64_t at, char *room, size_t size, size_t *out_got,
                           hf_err *err)
{
    const hf_slice *text = ctx;
    size_t left = (size_t)at < text->len ? text->len - (size_t)at : 0;

    (void)err;
    *out_got = left < size ? left : size;
    if (*out_got)
        memcpy(room, text->ptr + at, *out_got);
    return HF_OK;
}

static hf_status source_text(const hf_bundle_source *source, hf_buf *text, hf_err *err)
{
    enum { PART = 64 * 1024 };
    size_t got = 1;
    hf_status st = HF_OK;

    if (source->size > HF_BUNDLE_BYTES_MAX)
        return hf_err_set(err, HF_TOOBIG,
                          "members are not ordered by name, and a bundle of this size can only be "
                          "read when they are");
    while (!st && got) {
        char *room = hf_buf_reserve(text, PART);

        if (!room)
            return hf_err_nomem(err, "a bundle");
        st = source->read(source->ctx, (int64_t)text->len, room, PART, &got, err);
        if (!st)
            hf_buf_advance(text, got);
    }
    return st;
}

/* A bundle whose members stand in another order is put into memory and in order. */
static hf_status order_make(const hf_bundle_source *source, hf_buf *out_text, hf_err *err)
{
    const hf_json_limits limits = {.bytes_max = HF_BUNDLE_BYTES_MAX};
    hf_mem *mem = hf_mem_new();
    hf_value bundle = NULL;
    hf_buf text = {0};
    hf_status st = mem ? source_text(source, &text, err) : hf_err_nomem(err, "a bundle");

    if (!st)
        st = hf_json_read(mem, hf_buf_slice(&text), &limits, &bundle, err);
    hf_buf_fini(&text);
    if (!st) {
        hf_json_write_outer(out_text, bundle);
        if (!hf_buf_ok(out_text))
            st = hf_err_nomem(err, "a bundle");
    }
    if (mem)
        hf_mem_free(mem);
    return st;
}

hf_status hf_bundle_verify_source(hf_mem *mem, const hf_bundle_source *source,
                                  const hf_bundle_verify_options *options, hf_value *out_report,
                                  hf_err *err)
{
    const hf_bundle_verify_options none = {0};
    bundle_check c = {.mem = mem,
                      .work = hf_mem_new(),
                      .side = hf_mem_new(),
                      .options = options ? options : &none,
                      .findings = hf_value_array(mem)};
    hf_buf ordered = {0};
    hf_slice text;
    hf_slice key = hf_slice_trim(c.options->key);
    hf_err why = {0};
    hf_status st = c.work && c.side ? hf_bundle_file_open(source, key, NULL, &c.file, &why)
                                    : hf_err_nomem(&why, "a bundle");

    if (!st && !c.file.sorted) {
        st = order_make(source, &ordered, &why);
        text = hf_buf_slice(&ordered);
        if (!st)
            st = hf_bundle_file_open(&(hf_bundle_source){text_read, &text, (int64_t)text.len}, key,
                                     NULL, &c.file, &why);
    }
    c.open = !st;
    if (!st)
        st = rules_check(&c, &why);
    if (is_finding(st)) {
        hf_bundle_fails(&c, "bundle.unreadable", "", why.text);
        st = HF_OK;
    }
    st = st ? hf_err_set(err, st, "%s", why.text) : report_make(&c, out_report, err);
    hf_buf_fini(&ordered);
    if (c.work)
        hf_mem_free(c.work);
    if (c.side)
        hf_mem_free(c.side);
    return st;
}

hf_status hf_bundle_verify_text(hf_mem *mem, hf_slice text, const hf_bundle_verify_options *options,
                                hf_value *out_report, hf_err *err)
{
    const hf_bundle_source source = {text_read, &text, (int64_t)text.len};

    return hf_bundle_verify_source(mem, &source, options, out_report, err);
}
