/* test_view_memory.c: what operators read, with the first allocation failing, then the second,
   until the answer is there: each failure says so and nothing is left behind. Among the runs are
   one whose turn is lost, so that lists ask its history, and one that failed. */
#include <string.h>

#include "base/fault.h"
#include "base/value.h"
#include "engine/engine_impl.h"
#include "holdfast/tool.h"
#include "holdfast/view.h"
#include "lib/kit.h"

static hf_value act_refuse(hf_act *a, hf_value in)
{
    (void)in;
    return hf_reject(a, "declined", "the limit is reached");
}

static hf_value order(hf_ctx *w, hf_value in)
{
    const hf_error *failed = NULL;

    (void)hf_activity(w, "refuse", in, .err = &failed);
    return hf_receive(w, "go");
}

static const hf_signal_def go[] = {{"go", NULL}, {0}};
static const hf_activity_def activities[] = {{.name = "refuse", .run = act_refuse}, {0}};
static const hf_workflow_def workflows[] = {{.type = "order", .run = order, .signals = go}, {0}};
static const hf_app app = {
    .name = "test", .workflows = workflows, .activities = activities, .supports = "a, b"};

typedef hf_status reading(hf_engine *d, hf_value request, hf_mem *mem, hf_value *out);

static hf_status read_filters(hf_engine *d, hf_value request, hf_mem *mem, hf_value *out)
{
    (void)request;
    return hf_list_filters(d, mem, out);
}

static hf_status read_health(hf_engine *d, hf_value request, hf_mem *mem, hf_value *out)
{
    (void)request;
    return hf_health(d, mem, out);
}

static hf_status read_bundle(hf_engine *d, hf_value request, hf_mem *mem, hf_value *out)
{
    const char *json = NULL;
    hf_status st = hf_export(d, mem, &json, "o");

    (void)request;
    return st ? st : hf_bundle_verify(json, strlen(json), NULL, mem, out, NULL);
}

static hf_status read_diff(hf_engine *d, hf_value request, hf_mem *mem, hf_value *out)
{
    const char *json = NULL;
    hf_status st = hf_export(d, mem, &json, "o");

    (void)request;
    return st ? st : hf_bundle_diff(json, strlen(json), json, strlen(json), mem, out, NULL);
}

static void each_allocation_fails(hf_engine *d, const char *name, reading *read, hf_value request)
{
    bool more = true;

    for (int64_t nth = 1; more; nth++) {
        hf_mem *mem = hf_mem_new();
        hf_value out = NULL;
        hf_status st;

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = read(d, request, mem, &out);
        more = hf_fault_seen(HF_FAULT_ALLOC) >= nth;
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        ck_assert_msg(st == HF_OK || (more && st == HF_NOMEM), "%s, allocation %d: %s", name,
                      (int)nth, hf_strstatus(st));
        ck_assert_msg(st || out, "%s, allocation %d: no answer", name, (int)nth);
        hf_mem_free(mem);
    }
}

/* All of them, on one store. */
START_TEST(views_without_memory)
{
    static const struct {
        const char *name;
        reading *read;
        const char *request;
    } readings[] = {
        {"list", hf_list_runs,
         "{\"total\":true,\"facets\":[\"status\",\"queue\"],\"filters\":{\"liveness_state\":"
         "\"repair_needed\",\"labels\":{\"a\":\"b\"},\"search_attributes\":{\"n\":{\"gte\":1}}}}"},
        {"detail", hf_describe, "{\"id\":\"o\"}"},
        {"earlier", hf_describe, "{\"id\":\"o\",\"at\":6}"},
        {"spans", hf_spans, "{\"id\":\"o\"}"},
        {"head", hf_run_part, "{\"id\":\"o\",\"part\":\"head\"}"},
        {"events", hf_run_part,
         "{\"id\":\"o\",\"part\":\"events\",\"limit\":5,\"q\":\"a\",\"order\":\"desc\"}"},
        {"waits", hf_run_part, "{\"id\":\"o\",\"part\":\"waits\"}"},
        {"commands", hf_run_part, "{\"id\":\"o\",\"part\":\"commands\"}"},
        {"tasks", hf_run_part, "{\"id\":\"o\",\"part\":\"tasks\",\"at\":5}"},
        {"state", hf_run_part, "{\"id\":\"o\",\"part\":\"state\"}"},
        {"lineage", hf_run_part, "{\"id\":\"o\",\"part\":\"lineage\"}"},
        {"step", hf_run_part, "{\"id\":\"o\",\"part\":\"step\",\"step\":1}"},
        {"views", hf_view_list, "{\"owner\":\"me\"}"},
        {"suggestions", hf_list_suggest, "{\"q\":\"type:o\"}"},
        {"states", hf_list_suggest, "{\"q\":\"is:open is:wa\"}"},
        {"filters", read_filters, "{}"},
        {"health", read_health, "{}"},
        {"points", hf_metrics_points, "{\"span\":\"minute\"}"},
        {"durations", hf_durations, "{\"from_us\":0,\"to_us\":9000000000000000,\"points\":2}"},
        {"attention", hf_attention, "{}"},
        {"failures", hf_failure_groups, "{}"},
        {"bundle", read_bundle, "{}"},
        {"difference", read_diff, "{}"}};
    hf_engine *d = hf_kit_open(HF_ENGINE_SQLITE, &app);
    hf_mem *mem = hf_mem_new();
    hf_value out = NULL;

    hf_kit_ok(d, hf_start(d, "order", NULL, .id = "o", .labels = "{\"a\":\"b\"}",
                          .search_attributes = "{\"n\":3}"));
    hf_kit_ok(d, hf_test_drain(d));
    hf_kit_ok(d, hf_view_save(d,
                              hf_json_(mem, "{'name': 'v', 'bucket': 'running', 'owner': 'me', "
                                            "'filters': {'status': 'waiting'}}"),
                              mem, &out));
    hf_kit_ok(d, hf_signal(d, "o", "go", NULL));
    hf_kit_sql(d, "DELETE FROM task");
    while (hf_folder_step(d->folder))
        ;
    for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
        hf_value request = hf_parse_(mem, readings[i].request, strlen(readings[i].request));

        ck_assert_ptr_nonnull(request);
        if (i == 0) { /* the run is found by asking its history */
            hf_kit_ok(d, hf_list_runs(d, request, mem, &out));
            ck_assert_uint_eq(hf_len(hf_get(out, "items")), 1);
        }
        each_allocation_fails(d, readings[i].name, readings[i].read, request);
    }
    hf_kit_ok(d, hf_test_advance(d, hf_seconds(30))); /* the watchdog restores the turn */
    ck_assert_str_eq(hf_test_status(d, "o"), "completed");
    hf_mem_free(mem);
    hf_kit_close(d);
}
END_TEST

HF_PG_SUITE_MAIN("engine/view_memory", {views_without_memory, 300})
