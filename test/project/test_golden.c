/* Golden histories: runs that were recorded once and are never edited. Replay of each prefix of
   each gives the decisions that were recorded; nothing that comes later may change that.

   A new history is recorded by adding its scenario to golden_app.h and running this program once
   with HF_GOLDEN_RECORD set: files that are not there are written, those that are there stay. Its
   line in digests.txt (as sha256sum prints it) keeps it as it is. Each release adds what its
   exports look like: NAME-VERSION.json. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "engine/registry.h"
#include "engine/replay_check.h"
#include "holdfast/tool.h"
#include "lib/suite.h"
#include "model/limit.h"
#include "project/bundle_read.h"
#include "project/golden_app.h"
#include "project/schema.h"

static void golden_path(size_t i, char *out_path, size_t size)
{
    snprintf(out_path, size, "%s/replay/golden/%s.json", HF_TEST_DIR, golden_scenarios[i].name);
}

static void golden_record(size_t i, const char *path)
{
    hf_engine *d = hf_test_open(&golden_app);
    hf_mem *mem = hf_mem_new();
    const char *json = NULL;
    FILE *file;

    ck_assert_msg(golden_scenarios[i].run(d) == HF_OK, "%s: %s", path, hf_errmsg(d));
    ck_assert_msg(hf_export(d, mem, &json, "g") == HF_OK, "%s: %s", path, hf_errmsg(d));
    file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(json, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    hf_mem_free(mem);
    hf_close(d);
}

static void golden_read(size_t i, hf_mem *mem, hf_bundle_history *out_history)
{
    char path[512];
    hf_buf text = {0};
    hf_err err = {0};

    golden_path(i, path, sizeof(path));
    if (getenv("HF_GOLDEN_RECORD") && access(path, F_OK) != 0)
        golden_record(i, path);
    file_text(path, &text);
    ck_assert_msg(hf_bundle_read(mem, hf_buf_slice(&text), out_history, &err) == HF_OK, "%s: %s",
                  path, err.text);
    hf_buf_fini(&text);
}

static hf_replay_info replay_info(const hf_registry *registry, const hf_bundle_history *history)
{
    const hf_registry_workflow *workflow =
        hf_registry_find_workflow(registry, history->workflow_type);

    ck_assert_ptr_nonnull(workflow);
    return (hf_replay_info){.definition = workflow->definition,
                            .instance_id = history->instance_id,
                            .run_id = history->run_id,
                            .random_seed = hf_replay_seed(history->run_key),
                            .fingerprint = hf_slice_of(workflow->snapshot.fingerprint),
                            .batch_max = hf_limit_get(HF_LIMIT_COMMAND_BATCH_SIZE)->standard,
                            .events_max =
                                hf_limit_get(HF_LIMIT_HISTORY_TRANSACTION_SIZE)->standard};
}

/* Events that come with a decision's event and have no decision of their own. */
static bool is_companion(const hf_event *event)
{
    hf_slice kind;

    switch ((int)event->type) {
    case HF_EVENT_ACTIVITY_STARTED:
    case HF_EVENT_ACTIVITY_CANCELLED:
    case HF_EVENT_CHILD_RUN_STARTED:
    case HF_EVENT_MESSAGE_CURSOR_ADVANCED:
    case HF_EVENT_UPDATE_COMPLETED:
    case HF_EVENT_TIMER_CANCELLED:
    case HF_EVENT_TIMER_FIRED:
        return true;
    case HF_EVENT_TIMER_SCHEDULED:
        return hf_event_text(event, HF_KEY_TIMER_KIND, &kind);
    default:
        return false;
    }
}

/* Written by a decision of the code, and by nothing else. */
static bool is_decided(const hf_event *event)
{
    for (size_t i = 0; i < hf_decision_list.count; i++)
        if (hf_replay_event_of((hf_decision)hf_decision_list.items[i].number) == (int)event->type)
            return !is_companion(event) && event->type != HF_EVENT_WORKFLOW_CANCELLED;
    return false;
}

/* Every decision is the next event of the unit, companions aside, and none is left over. */
static void compare(const char *name, const hf_bundle_history *h, size_t known,
                    const hf_decision_row *rows, size_t count)
{
    size_t at = known;
    hf_err err = {0};

    for (size_t i = 0; i < count; i++) {
        bool same = false;

        if (!hf_replay_event_of(rows[i].kind))
            continue;
        while (!same && at < h->count && h->units[at] == h->units[known]) {
            ck_assert_int_eq(hf_replay_records(&rows[i], &h->events[at], &same, &err), HF_OK);
            ck_assert_msg(same || is_companion(&h->events[at]),
                          "%s: after %zu events code decides %s at step %lld, history has %s", name,
                          known, hf_decision_text(rows[i].kind), (long long)rows[i].step,
                          hf_event_type_text(h->events[at].type));
            at++;
        }
        ck_assert_msg(same, "%s: after %zu events code decides %s, history has nothing", name,
                      known, hf_decision_text(rows[i].kind));
    }
    for (; at < h->count && h->units[at] == h->units[known]; at++)
        ck_assert_msg(is_companion(&h->events[at]),
                      "%s: after %zu events history has %s, code decides nothing", name, known,
                      hf_event_type_text(h->events[at].type));
}

/* Replay of each prefix goes on as recorded: the prefix in front of a decided event gives exactly
   the rest of that event's unit; every other prefix is at least accepted. */
START_TEST(each_prefix_decides_what_was_recorded)
{
    hf_registry *registry = NULL;
    hf_err err = {0};
    size_t compared = 0;

    ck_assert_int_eq(hf_registry_new(&golden_app, &registry, &err), HF_OK);
    for (size_t g = 0; g < GOLDEN_SCENARIOS; g++) {
        const char *name = golden_scenarios[g].name;
        hf_mem *mem = hf_mem_new();
        hf_bundle_history h;
        hf_replay_info info;

        golden_read(g, mem, &h);
        ck_assert_ptr_nonnull(h.units);
        info = replay_info(registry, &h);
        for (size_t known = 2; known <= h.count; known++) {
            hf_replay *replay = NULL;
            const hf_decision_row *rows;
            hf_turn turn = HF_TURN_BLOCKED;
            size_t count = 0;

            ck_assert_int_eq(hf_replay_new(&info, &replay, &err), HF_OK);
            ck_assert_msg(hf_replay_feed(replay, h.events, known, 1, &err) == HF_OK, "%s: %s", name,
                          err.text);
            ck_assert_msg(hf_replay_turn(replay, &turn, &err) == HF_OK, "%s after %zu: %s", name,
                          known, err.text);
            ck_assert_msg(turn != HF_TURN_BLOCKED, "%s after %zu: %s", name, known,
                          hf_replay_mismatch_get(replay)->sentence);
            rows = hf_replay_decisions(replay, &count);
            if (known < h.count && is_decided(&h.events[known])) {
                compare(name, &h, known, rows, count);
                compared++;
            }
            hf_replay_free(replay);
        }
        hf_mem_free(mem);
    }
    ck_assert_uint_gt(compared, 30);
    hf_registry_free(registry);
}
END_TEST

/* What users call says the same of whole files. */
START_TEST(whole_histories_replay)
{
    char path[512];
    char why[512];

    for (size_t g = 0; g < GOLDEN_SCENARIOS; g++) {
        golden_path(g, path, sizeof(path));
        ck_assert_msg(hf_test_replay(&golden_app, path, why, sizeof(why)) == HF_OK, "%s: %s", path,
                      why);
        ck_assert_str_eq(why, "");
    }
}
END_TEST

/* Old bundles keep to the published schemas. */
START_TEST(golden_bundles_fit_the_schemas)
{
    char path[512];

    for (size_t g = 0; g < GOLDEN_SCENARIOS; g++) {
        hf_mem *mem = hf_mem_new();
        hf_buf text = {0};
        hf_value bundle;

        golden_path(g, path, sizeof(path));
        file_text(path, &text);
        bundle = hf_parse_(mem, text.ptr, text.len);
        ck_assert_ptr_nonnull(bundle);
        schema_check_bundle(mem, bundle);
        hf_buf_fini(&text);
        hf_mem_free(mem);
    }
}
END_TEST

/* Golden bundles are only ever added: each is, byte by byte, what it was when it was recorded, each
   is listed, and each is still found sound. */
START_TEST(golden_bundles_stay_as_they_are)
{
    char line[256];
    size_t listed = 0;
    FILE *list = fopen(HF_TEST_DIR "/replay/golden/digests.txt", "rb");
    hf_sha256 *sha = NULL;
    hf_err err = {0};

    ck_assert_ptr_nonnull(list);
    ck_assert_int_eq(hf_sha256_new(&sha, &err), HF_OK);
    while (fgets(line, sizeof(line), list)) {
        uint8_t digest[HF_SHA256_BYTES];
        char shown[HF_SHA256_TEXT_SIZE];
        char path[512];
        hf_mem *mem = hf_mem_new();
        hf_value report = NULL;
        hf_buf text = {0};

        line[strcspn(line, "\n")] = '\0';
        (void)snprintf(path, sizeof(path), "%s/replay/golden/%s", HF_TEST_DIR, line + 66);
        file_text(path, &text);
        ck_assert_int_eq(hf_sha256_digest(sha, hf_buf_slice(&text), digest, &err), HF_OK);
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), shown);
        ck_assert_msg(strncmp(shown, line, 64) == 0, "%s was changed", path);
        ck_assert_int_eq(hf_bundle_verify(text.ptr, text.len, NULL, mem, &report, &err), HF_OK);
        ck_assert_msg(strcmp(hf_str(report, "status", ""), "failed") != 0, "%s: %s", path,
                      hf_str(report, "findings.0.rule", ""));
        listed++;
        hf_buf_fini(&text);
        hf_mem_free(mem);
    }
    (void)fclose(list);
    hf_sha256_free(sha);
    ck_assert_uint_eq(listed, GOLDEN_SCENARIOS);
}
END_TEST

/* ---- code that is no longer what it was */

static hf_value other_step(hf_ctx *w, hf_value in)
{
    hf_activity(w, "echo", hf_json(w, "{'reserve': %s}", hf_str(in, "sku", "?")));
    hf_sleep(w, hf_days(2));
    return NULL;
}

static hf_value other_kind(hf_ctx *w, hf_value in)
{
    (void)in;
    hf_receive(w, "approved-by", .timeout = hf_days(2));
    return NULL;
}

static hf_value other_end(hf_ctx *w, hf_value in)
{
    hf_activity(w, "echo", in);
    return hf_json(w, "'another'");
}

static hf_value too_short(hf_ctx *w, hf_value in)
{
    (void)w;
    return in;
}

static hf_value too_long(hf_ctx *w, hf_value in)
{
    hf_activity(w, "echo", in);
    hf_activity(w, "echo", in);
    hf_activity(w, "flaky", in);
    return in;
}

static void expect_blocked(const char *type, hf_workflow_fn *run, const char *file,
                           const char *expected)
{
    const hf_workflow_def workflows[] = {
        {.type = type,
         .run = run,
         .state_size = sizeof(golden_papers),
         .signals = (const hf_signal_def[]){{"approved-by", "name:string"}, {0}}},
        {0}};
    const hf_app app = {.workflows = workflows, .activities = golden_activities};
    char path[512];
    char why[512];

    snprintf(path, sizeof(path), "%s/replay/golden/%s.json", HF_TEST_DIR, file);
    ck_assert_int_eq(hf_test_replay(&app, path, why, sizeof(why)), HF_REPLAY_BLOCKED);
    ck_assert_msg(strstr(why, expected) != NULL, "%s: %s", file, why);
}

/* Changed code is found, and the sentence says where and what. */
START_TEST(changed_code_is_explained)
{
    expect_blocked("golden-order", other_step, "order",
                   "step 2: history has activity flaky, code wants timer");
    expect_blocked("golden-approval", other_kind, "approval",
                   "step 1: history has condition wait papers.complete, code wants signal wait "
                   "approved-by at ");
    expect_blocked("golden-countdown", too_short, "countdown",
                   "step 1: history has activity echo, code wants ");
    expect_blocked("golden-countdown", too_long, "countdown",
                   "history ends with WorkflowCompleted, code waits for activity:echo");
    expect_blocked("golden-countdown", other_end, "countdown",
                   "history ends with another result than \"another\"");
}
END_TEST

/* A bundle of a workflow that the program does not have, and no bundle at all. */
START_TEST(unknown_workflows_and_files_are_named)
{
    const hf_workflow_def workflows[] = {{.type = "else", .run = too_short}, {0}};
    const hf_app app = {.workflows = workflows};
    char path[512];
    char why[512];

    golden_path(0, path, sizeof(path));
    ck_assert_int_eq(hf_test_replay(&app, path, why, sizeof(why)), HF_NOTFOUND);
    ck_assert_str_eq(why, "this program has no workflow golden-order");
    ck_assert_int_eq(hf_test_replay(&app, HF_TEST_DIR "/nothing.json", why, sizeof(why)),
                     HF_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(why, "cannot open"));
    ck_assert_int_eq(hf_test_replay(&app, NULL, why, sizeof(why)), HF_MISUSE);
    ck_assert_int_eq(hf_test_replay(NULL, path, NULL, 0), HF_MISUSE);
}
END_TEST

HF_SUITE_MAIN("project/golden", {each_prefix_decides_what_was_recorded, 0},
              {whole_histories_replay, 0}, {golden_bundles_fit_the_schemas, 0},
              {golden_bundles_stay_as_they_are, 0}, {changed_code_is_explained, 0},
              {unknown_workflows_and_files_are_named, 0})
