/* Bundles: what an engine exports fits the published schemas, comes back as the events that were
   stored, and is refused when anything in it was changed. */
#include "base/buf.h"
#include "base/fault.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/engine_impl.h"
#include "engine/registry.h"
#include "engine/replay_check.h"
#include "lib/kit.h"
#include "model/event_codec.h"
#include "model/limit.h"
#include "project/bundle.h"
#include "project/bundle_read.h"
#include "project/golden_app.h"
#include "project/schema.h"

/* Runs a scenario and exports what it leaves; the text lives in `mem`. */
static const char *export_of(hf_engine_kind kind, size_t scenario, hf_mem *mem)
{
    hf_engine *d = hf_kit_open(kind, &golden_app);
    const char *json = NULL;

    hf_kit_ok(d, golden_scenarios[scenario].run(d));
    hf_kit_ok(d, hf_export(d, mem, &json, "g"));
    hf_kit_close(d);
    return json;
}

static hf_value parsed(hf_mem *mem, const char *json)
{
    hf_value bundle = NULL;
    hf_err err = {0};

    ck_assert_msg(hf_json_read(mem, hf_slice_of(json), NULL, &bundle, &err) == HF_OK, "%s",
                  err.text);
    return bundle;
}

/* Every scenario, on both databases, gives a bundle that the published schemas accept. */
HF_BOTH_ENGINES(exports_fit_the_schemas)
{
    for (size_t i = 0; i < GOLDEN_SCENARIOS; i++) {
        hf_mem *mem = hf_mem_new();
        hf_value bundle = parsed(mem, export_of(kind, i, mem));
        hf_err err = {0};

        schema_check_bundle(mem, bundle);
        ck_assert_msg(hf_bundle_check(bundle, (hf_slice){0}, &err) == HF_OK, "%s", err.text);
        hf_mem_free(mem);
    }
}

/* Every key that the registry lists for a type is there, and no other; the keys of a group may be
   missing. */
START_TEST(events_have_every_published_key)
{
    for (size_t i = 0; i < GOLDEN_SCENARIOS; i++) {
        hf_mem *mem = hf_mem_new();
        hf_value events =
            hf_get(parsed(mem, export_of(HF_ENGINE_SQLITE, i, mem)), "history_events");

        ck_assert_uint_gt(hf_len(events), 2);
        for (size_t j = 0; j < hf_len(events); j++) {
            hf_value payload = hf_get(hf_at(events, j), "payload");
            size_t listed = 0;
            hf_event_type type;

            ck_assert(
                hf_event_type_parse(hf_slice_of(hf_str(hf_at(events, j), "type", "")), &type));
            for (size_t k = 0; k < hf_event_key_list.count; k++) {
                const char *name = hf_event_key_list.items[k].text;
                bool there = hf_value_find(payload, hf_slice_of(name)) != NULL;
                bool published =
                    hf_event_key_published(type, (hf_event_key)hf_event_key_list.items[k].number);

                ck_assert_msg(!there || published, "%s has %s", hf_event_type_text(type), name);
                ck_assert_msg(there || !published || strncmp(name, "parallel_group_", 15) == 0,
                              "%s lacks %s", hf_event_type_text(type), name);
                listed += there;
            }
            ck_assert_uint_eq(hf_len(payload), listed);
        }
        hf_mem_free(mem);
    }
}
END_TEST

/* All stored events of the newest run, chunk by chunk, with big payloads in place. */
static hf_dossier stored_of(hf_engine *d, hf_mem *mem, const char *id)
{
    hf_intake in = {.db = hf_engine_read_begin(d), .namespace_key = d->namespace_key};
    hf_intake_target target;
    hf_dossier dossier;
    hf_err err = {0};

    ck_assert_int_eq(hf_intake_find(&in, mem, hf_slice_of(id), &target, &err), HF_OK);
    ck_assert_msg(hf_dossier_read(in.db, mem, target.base.run, &dossier, &err) == HF_OK, "%s",
                  err.text);
    hf_engine_read_end(d);
    return dossier;
}

/* One encoding per event, so equal bytes are equal events. */
static void events_equal(const hf_event *a, const hf_event *b, size_t i)
{
    hf_buf left = {0};
    hf_buf right = {0};
    hf_err err = {0};

    ck_assert_msg(hf_event_chunk_encode(a, 1, &left, &err) == HF_OK, "event %zu: %s", i, err.text);
    ck_assert_msg(hf_event_chunk_encode(b, 1, &right, &err) == HF_OK, "event %zu: %s", i, err.text);
    ck_assert_msg(hf_slice_equal(hf_buf_slice(&left), hf_buf_slice(&right)),
                  "event %zu (%s) came back different", i, hf_event_type_text(a->type));
    hf_buf_fini(&left);
    hf_buf_fini(&right);
}

/* Export, read: the same events with the same fields and the same units; replay agrees with them.
 */
HF_BOTH_ENGINES(exports_come_back_as_they_were)
{
    for (size_t i = 0; i < GOLDEN_SCENARIOS; i++) {
        hf_engine *d = hf_kit_open(kind, &golden_app);
        hf_mem *mem = hf_mem_new();
        const hf_registry_workflow *workflow;
        hf_bundle_history history;
        hf_replay_verdict verdict;
        hf_replay_info info;
        hf_dossier stored;
        const char *json = NULL;
        hf_err err = {0};

        hf_kit_ok(d, golden_scenarios[i].run(d));
        hf_kit_ok(d, hf_export(d, mem, &json, "g"));
        stored = stored_of(d, mem, "g");
        ck_assert_msg(hf_bundle_read(mem, hf_slice_of(json), &history, &err) == HF_OK, "%s",
                      err.text);
        ck_assert_uint_eq(history.count, stored.event_count);
        for (size_t j = 0; j < history.count; j++) {
            events_equal(&stored.events[j], &history.events[j], j + 1);
            ck_assert_int_eq(history.units[j], stored.units[j]);
        }
        ck_assert_int_eq(history.run_key, stored.run.key);
        ck_assert_int_eq(history.complete, stored.base.closed_us != HF_NONE);
        workflow = hf_registry_find_workflow(d->registry, history.workflow_type);
        ck_assert_ptr_nonnull(workflow);
        info = (hf_replay_info){.definition = workflow->definition,
                                .instance_id = history.instance_id,
                                .run_id = history.run_id,
                                .random_seed = hf_replay_seed(history.run_key),
                                .fingerprint = hf_slice_of(workflow->snapshot.fingerprint),
                                .batch_max = hf_limit_get(HF_LIMIT_COMMAND_BATCH_SIZE)->standard,
                                .events_max =
                                    hf_limit_get(HF_LIMIT_HISTORY_TRANSACTION_SIZE)->standard};
        ck_assert_msg(hf_replay_check(&info, history.events, history.count, NULL, &verdict, &err) ==
                          HF_OK,
                      "%s: %s", golden_scenarios[i].name, err.text);
        hf_mem_free(mem);
        hf_kit_close(d);
    }
}

/* Payloads that are stored apart are in the bundle, and in what is read from it. */
HF_BOTH_ENGINES(big_payloads_travel_with_the_bundle)
{
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    hf_bundle_history history;
    hf_payload_value payload;
    const char *json = NULL;
    hf_err err = {0};
    char big[20000];

    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    hf_kit_ok(d, hf_start(d, "golden-leaf", hf_json(d, "{'big': %s}", big), .id = "b"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_export(d, mem, &json, "b"));
    ck_assert_int_eq(hf_bundle_read(mem, hf_slice_of(json), &history, &err), HF_OK);
    ck_assert(hf_event_payload(&history.events[history.count - 1], HF_KEY_OUTPUT, &payload));
    ck_assert_int_eq(payload.codec, HF_PAYLOAD_CODEC_JSON);
    ck_assert_uint_eq(payload.bytes.len, sizeof(big) - 1 + strlen("{\"big\":\"\"}"));
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* A run is chosen by its id; the earlier run of a chain says which run goes on. */
HF_BOTH_ENGINES(any_run_of_an_instance_is_exported)
{
    hf_engine *d = hf_kit_open(kind, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *json = NULL;
    const char *first;
    hf_value newest;
    hf_value older;

    hf_kit_ok(d, golden_do_countdown(d));
    hf_kit_ok(d, hf_export(d, mem, &json, "g"));
    newest = parsed(mem, json);
    ck_assert_int_eq(hf_int(newest, "workflow.run_number", 0), 2);
    ck_assert(hf_bool(newest, "workflow.is_current_run", false));
    first = hf_str(newest, "links.parents.0.workflow_run_id", "");
    hf_kit_ok(d, hf_export(d, mem, &json, "g", .run_id = first));
    older = parsed(mem, json);
    ck_assert_int_eq(hf_int(older, "workflow.run_number", 0), 1);
    ck_assert(!hf_bool(older, "workflow.is_current_run", true));
    ck_assert_str_eq(hf_str(older, "workflow.current_run_id", ""),
                     hf_str(newest, "workflow.run_id", "?"));
    ck_assert_str_eq(hf_str(older, "workflow.closed_reason", ""), "continued");
    ck_assert_str_eq(hf_str(older, "links.children.0.workflow_run_id", ""),
                     hf_str(newest, "workflow.run_id", "?"));
    ck_assert_int_eq(hf_export(d, mem, &json, "nobody"), HF_NOTFOUND);
    ck_assert_int_eq(hf_export(d, mem, &json, "g", .run_id = "no-id"), HF_NOTFOUND);
    ck_assert_int_eq(hf_export(d, mem, &json, "g", .run_id = "01KDVDNA0000000000ZZ000000"),
                     HF_NOTFOUND);
    ck_assert_int_eq(hf_export(d, NULL, &json, "g"), HF_MISUSE);
    hf_mem_free(mem);
    hf_kit_close(d);
}

/* A child's bundle names its parent, and the parent's names the child. */
START_TEST(links_lead_both_ways)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *json = NULL;
    hf_value parent;
    hf_value child;

    hf_kit_ok(d, golden_do_fanout(d));
    hf_kit_ok(d, hf_export(d, mem, &json, "g"));
    parent = parsed(mem, json);
    hf_kit_ok(
        d, hf_export(d, mem, &json, hf_str(parent, "links.children.0.workflow_instance_id", "")));
    child = parsed(mem, json);
    ck_assert_str_eq(hf_str(child, "links.parents.0.workflow_run_id", "?"),
                     hf_str(parent, "workflow.run_id", ""));
    ck_assert_str_eq(hf_str(child, "history_events.1.payload.parent_workflow_instance_id", "?"),
                     "g");
    ck_assert_str_eq(hf_str(child, "workflow.run_id", "?"),
                     hf_str(parent, "links.children.0.workflow_run_id", ""));
    hf_mem_free(mem);
    hf_kit_close(d);
}
END_TEST

/* A signal that came early keeps the name of its command, and the wait takes it over. */
START_TEST(early_signals_name_their_wait)
{
    hf_mem *mem = hf_mem_new();
    hf_value bundle = parsed(mem, export_of(HF_ENGINE_SQLITE, 3, mem));
    hf_value signals = hf_get(bundle, "signals");
    hf_value events = hf_get(bundle, "history_events");
    const char *first = hf_str(signals, "0.signal_wait_id", "");
    bool seen = false;

    ck_assert_uint_eq(hf_len(signals), 2);
    ck_assert_int_eq(strncmp(first, "signal-command:", 15), 0);
    ck_assert_str_eq(first + 15, hf_str(signals, "0.command_id", "?"));
    ck_assert_str_eq(hf_str(signals, "0.status", ""), "applied");
    ck_assert_str_eq(hf_str(signals, "1.status", ""), "received");
    for (size_t i = 0; i < hf_len(events); i++) {
        if (strcmp(hf_str(hf_at(events, i), "type", ""), "SignalWaitOpened") == 0) {
            ck_assert_str_eq(hf_str(hf_at(events, i), "payload.signal_wait_id", ""), first);
            seen = true;
        }
    }
    ck_assert(seen);
    hf_mem_free(mem);
}
END_TEST

/* The same run exported twice has the same checksum at the same time; a key signs it, and only the
   same key agrees. */
START_TEST(checksum_is_stable_and_keys_sign)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &golden_app);
    hf_mem *mem = hf_mem_new();
    const char *one = NULL;
    const char *two = NULL;
    hf_value bundle;
    hf_err err = {0};

    hf_kit_ok(d, golden_do_order(d));
    hf_kit_ok(d, hf_export(d, mem, &one, "g"));
    hf_kit_ok(d, hf_export(d, mem, &two, "g"));
    ck_assert_str_eq(one, two);
    bundle = parsed(mem, one);
    ck_assert_int_eq(hf_bundle_check(bundle, HF_SLICE("secret"), &err), HF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "not signed"));
    hf_kit_ok(d, hf_export(d, mem, &two, "g", .key = " secret\n", .key_id = "k1"));
    bundle = parsed(mem, two);
    schema_check_bundle(mem, bundle);
    ck_assert_str_eq(hf_str(bundle, "integrity.key_id", ""), "k1");
    ck_assert_str_eq(hf_str(bundle, "integrity.checksum", "?"),
                     hf_str(parsed(mem, one), "integrity.checksum", ""));
    ck_assert_int_eq(hf_bundle_check(bundle, HF_SLICE("secret"), &err), HF_OK);
    ck_assert_int_eq(hf_bundle_check(bundle, HF_SLICE("other"), &err), HF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "another key"));
    hf_mem_free(mem);
    hf_kit_close(d);
}
END_TEST

/* No byte of a bundle can change unnoticed, unless the text still says the same. */
START_TEST(changed_bytes_are_noticed)
{
    hf_mem *mem = hf_mem_new();
    const char *json = export_of(HF_ENGINE_SQLITE, 5, mem);
    hf_value original = parsed(mem, json);
    size_t size = strlen(json);
    size_t noticed = 0;

    for (size_t i = 0; i < size; i += 3) {
        hf_mem *scratch = hf_mem_new();
        char *changed = hf_mem_text(scratch, hf_slice_of(json));
        hf_bundle_history history;
        hf_value value = NULL;
        hf_err err = {0};

        changed[i] = (char)(changed[i] == '1' ? '2' : '1');
        if (hf_bundle_read(scratch, hf_slice_of(changed), &history, &err) == HF_OK) {
            ck_assert_int_eq(hf_json_read(scratch, hf_slice_of(changed), NULL, &value, &err),
                             HF_OK);
            /* the seal's own words about a signature that is not there are outside the sum */
            ck_assert_msg(strstr(json, "\"integrity\"") < json + i ||
                              hf_value_equal(original, value),
                          "a change of byte %zu went unnoticed", i);
        } else {
            ck_assert_str_ne(err.text, "");
            noticed++;
        }
        hf_mem_free(scratch);
    }
    ck_assert_uint_gt(noticed, size / 3 - size / 30);
    hf_mem_free(mem);
}
END_TEST

/* A bundle whose members are replaced before it is sealed again by whoever changed it. */
static hf_status read_with(hf_mem *mem, hf_value bundle, const char *section, hf_value item,
                           hf_err *err)
{
    hf_value_list *object = hf_value_object(mem);
    hf_bundle_history history;
    hf_buf text = {0};
    hf_slice name;
    hf_value member;
    hf_status st;

    for (size_t i = 0; hf_value_member(bundle, i, &name, &member); i++) {
        if (!hf_slice_equal(name, hf_slice_of(section)))
            hf_value_set(object, name, member);
        else if (item)
            hf_value_set(object, name, item);
    }
    hf_json_write(&text, hf_value_finish(object));
    ck_assert(hf_buf_ok(&text));
    st = hf_bundle_read(mem, hf_buf_slice(&text), &history, err);
    hf_buf_fini(&text);
    return st;
}

/* Wrong schemas, versions and missing sections are refused with a sentence that names them. */
START_TEST(strange_bundles_are_refused)
{
    static const char *const needed[] = {"exported_at", "dedupe_key", "history_complete",
                                         "workflow",    "payloads",   "history_events",
                                         "integrity",   "schema",     "schema_version"};
    hf_mem *mem = hf_mem_new();
    hf_value bundle = parsed(mem, export_of(HF_ENGINE_SQLITE, 5, mem));
    hf_err err = {0};

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        ck_assert_int_eq(read_with(mem, bundle, needed[i], NULL, &err), HF_INVALID);
        ck_assert_msg(strstr(err.text, needed[i]) || strstr(err.text, "schema"), "%s", err.text);
        ck_assert_int_eq(read_with(mem, bundle, needed[i], hf_json(mem, "[]"), &err), HF_INVALID);
    }
    ck_assert_int_eq(read_with(mem, bundle, "schema",
                               hf_json(mem, "'durable-workflow.v3.history-export'"), &err),
                     HF_NEWER);
    ck_assert_int_eq(read_with(mem, bundle, "schema", hf_json(mem, "'something'"), &err),
                     HF_INVALID);
    ck_assert_int_eq(read_with(mem, bundle, "schema_version", hf_json(mem, "2"), &err), HF_NEWER);
    ck_assert_ptr_nonnull(strstr(err.text, "schema version is 2"));
    ck_assert_int_eq(read_with(mem, bundle, "holdfast", hf_json(mem, "{'format': 2}"), &err),
                     HF_NEWER);
    hf_mem_free(mem);
}
END_TEST

/* Text that is cut short anywhere, broken UTF-8 and text over the limit. */
START_TEST(broken_text_is_refused)
{
    hf_mem *mem = hf_mem_new();
    const char *json = export_of(HF_ENGINE_SQLITE, 5, mem);
    size_t size = strlen(json);
    hf_bundle_history history;
    hf_err err = {0};
    char *text;

    for (size_t len = 0; len < size; len += 7)
        ck_assert_int_eq(hf_bundle_read(mem, hf_slice_from(json, len), &history, &err), HF_INVALID);
    text = hf_mem_text(mem, hf_slice_of(json));
    memset(strstr(text, "golden"), 0xff, 6);
    ck_assert_int_eq(hf_bundle_read(mem, hf_slice_of(text), &history, &err), HF_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "byte"));
    text = hf_mem_bytes(mem, (size_t)HF_BUNDLE_BYTES_MAX + 1);
    ck_assert_ptr_nonnull(text);
    memset(text, ' ', (size_t)HF_BUNDLE_BYTES_MAX + 1);
    ck_assert_int_eq(
        hf_bundle_read(mem, hf_slice_from(text, (size_t)HF_BUNDLE_BYTES_MAX + 1), &history, &err),
        HF_TOOBIG);
    hf_mem_free(mem);
}
END_TEST

/* Whichever allocation fails, the answer is "no memory" and nothing is left behind. */
START_TEST(memory_may_run_out_anywhere)
{
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &golden_app);
    hf_mem *mem = hf_mem_new();
    const hf_bundle_options options = {.now_us = 1, .key = HF_SLICE("secret")};
    hf_bundle_history history;
    hf_dossier dossier;
    hf_buf text = {0};
    hf_err err = {0};
    hf_status st = HF_NOMEM;

    hf_kit_ok(d, golden_do_approval(d));
    dossier = stored_of(d, mem, "g");
    for (int64_t n = 1; st == HF_NOMEM; n++) {
        hf_mem *work = hf_mem_new();
        hf_value bundle = NULL;

        hf_fault_arm(HF_FAULT_ALLOC, n, false);
        st = hf_bundle_make(&dossier, work, &options, &bundle, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == HF_OK || st == HF_NOMEM, "%s", err.text);
        hf_buf_clear(&text);
        hf_json_write(&text, bundle);
        hf_mem_free(work);
    }
    st = HF_NOMEM;
    for (int64_t n = 1; st == HF_NOMEM; n++) {
        hf_mem *work = hf_mem_new();

        hf_fault_arm(HF_FAULT_ALLOC, n, false);
        st = hf_bundle_read(work, hf_buf_slice(&text), &history, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == HF_OK || st == HF_NOMEM, "%s", err.text);
        hf_mem_free(work);
    }
    hf_buf_fini(&text);
    hf_mem_free(mem);
    hf_kit_close(d);
}
END_TEST

/* With threads of its own an engine exports runs while they run: each export is one consistent
   moment, and replays. */
HF_BOTH_ENGINES(exports_while_runs_go_on)
{
    hf_test_place *place = hf_test_place_new(kind);
    hf_mem *mem = hf_mem_new();
    hf_engine *d = NULL;
    hf_value out = NULL;
    const hf_error *e = NULL;
    char id[32];

    hf_kit_ok(d, hf_open(hf_test_place_address(place), &golden_app, &d));
    for (int i = 0; i < 20; i++) {
        (void)snprintf(id, sizeof(id), "o-%d", i);
        hf_kit_ok(d, hf_start(d, "golden-countdown", hf_json(d, "{'n': 20}"), .id = id));
    }
    for (int i = 0; i < 100; i++) {
        hf_bundle_history history;
        const char *json = NULL;
        hf_err err = {0};

        hf_mem_reset(mem);
        (void)snprintf(id, sizeof(id), "o-%d", i % 20);
        hf_kit_ok(d, hf_export(d, mem, &json, id));
        ck_assert_msg(hf_bundle_read(mem, hf_slice_of(json), &history, &err) == HF_OK, "%s",
                      err.text);
        ck_assert_uint_ge(history.count, 2);
    }
    for (int i = 0; i < 20; i++) {
        (void)snprintf(id, sizeof(id), "o-%d", i);
        hf_kit_ok(d, hf_result(d, id, hf_seconds(50), &out, &e));
    }
    hf_close(d);
    hf_mem_free(mem);
    hf_test_place_free(place);
}

/* The whole way from the store to the text, and from a file to a verdict, when memory runs out or
   the database fails: a status that says so, and a right answer once it works. */
START_TEST(exports_and_replays_survive_failures)
{
    static const hf_fault_kind kinds[] = {HF_FAULT_ALLOC, HF_FAULT_DB};
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &golden_app);
    const char *json = NULL;
    hf_status st;
    char why[512];

    hf_kit_ok(d, golden_do_open(d));
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        st = HF_ERROR;
        for (int64_t n = 1; st != HF_OK; n++) {
            hf_mem *mem = hf_mem_new();

            hf_fault_arm(kinds[k], n, false);
            st = hf_export(d, mem, &json, "g");
            hf_fault_arm(kinds[k], 0, false);
            ck_assert_msg(st == HF_OK || hf_errmsg(d)[0], "failure %lld has no text", (long long)n);
            ck_assert(st == HF_OK || json == NULL);
            ck_assert_int_lt(n, 100000);
            hf_mem_free(mem);
        }
    }
    st = HF_NOMEM;
    for (int64_t n = 1; st == HF_NOMEM; n++) {
        hf_fault_arm(HF_FAULT_ALLOC, n, false);
        st = hf_test_replay(&golden_app, HF_TEST_DIR "/replay/golden/approval.json", why,
                            sizeof(why));
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    }
    ck_assert_msg(st == HF_OK, "%s", why);
    hf_kit_close(d);
}
END_TEST

HF_PG_SUITE_MAIN("project/bundle", HF_BOTH_SLOW(exports_fit_the_schemas, 120),
                 {events_have_every_published_key, 0},
                 HF_BOTH_SLOW(exports_come_back_as_they_were, 120),
                 HF_BOTH(big_payloads_travel_with_the_bundle),
                 HF_BOTH(any_run_of_an_instance_is_exported), {links_lead_both_ways, 0},
                 {early_signals_name_their_wait, 0}, {checksum_is_stable_and_keys_sign, 0},
                 {changed_bytes_are_noticed, 120}, {strange_bundles_are_refused, 0},
                 {broken_text_is_refused, 120}, {memory_may_run_out_anywhere, 120},
                 {exports_and_replays_survive_failures, 120},
                 HF_BOTH_SLOW(exports_while_runs_go_on, 120))
