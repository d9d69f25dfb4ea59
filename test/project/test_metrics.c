/* test_metrics.c: what health and the text for Prometheus make of numbers: each check speaks up
   about what it should, and nothing that a user wrote becomes a name or a label. */
#include <string.h>

#include "base/buf.h"
#include "lib/engine.h"
#include "lib/suite.h"
#include "project/metrics.h"

/* The published checks, and a number each has to speak up about; NULL: there is none. */
static const struct {
    const char *check;
    const char *group, *number;
    const char *status;
} speaks_up[] = {
    {"backend_capabilities", NULL, NULL, "ok"},
    {"run_summary_projection", "run_summaries", "missing", "warning"},
    {"run_summary_projection", "run_summaries", "orphaned", "warning"},
    {"run_summary_projection", "run_summaries", "schema_outdated", "warning"},
    {"selected_run_projections", "run_timeline_entries", "missing_runs", "warning"},
    {"selected_run_projections", "run_timeline_entries", "stale_projected_runs", "warning"},
    {"selected_run_projections", "run_timeline_entries", "schema_outdated", "warning"},
    {"selected_run_projections", "run_timeline_entries", "orphaned", "warning"},
    {"selected_run_projections", "folder", "failures", "warning"},
    {"command_contract_snapshots", "command_contracts", "backfill_unavailable_runs", "ok"},
    {"task_transport", "tasks", "unhealthy", "warning"},
    {"durable_resume_paths", "runs", "repair_needed", "warning"},
    {"durable_resume_paths", "runs", "replay_blocked", "warning"},
    {"durable_resume_paths", "runs", "quarantined", "error"},
    {"worker_compatibility", "runs", "compatibility_blocked", "warning"},
    {"history_retention_invariant", "history", "history_orphan_total", "error"},
    {"activity_path", "activities", "timeout_overdue", "warning"},
    {"routing_health", "tasks", "dispatch_overdue", "warning"},
    {"scheduler_role", "schedules", "missed", "warning"},
    {"long_poll_wake_acceleration", NULL, NULL, "ok"}};

enum { ROWS = sizeof(speaks_up) / sizeof(speaks_up[0]), CHECKS = 12 };

/* Metrics with one number that is not 0. */
static hf_value one_number(hf_mem *mem, const char *group, const char *number)
{
    static const char *const projected[] = {"run_summaries", "run_timeline_entries", "folder"};
    hf_value inner;

    if (!group)
        return hf_json_(mem, "{}");
    inner = hf_parse_(mem, hf_mem_format(mem, "{\"%s\":{\"%s\":3}}", group, number),
                      strlen(group) + strlen(number) + 11);
    ck_assert_ptr_nonnull(inner);
    for (size_t i = 0; i < 3; i++)
        if (strcmp(group, projected[i]) == 0)
            return hf_json_(mem, "{'projections': %p}", (const void *)inner);
    return inner;
}

static hf_value check_find(hf_value health, const char *name)
{
    hf_value checks = hf_get(health, "checks");

    ck_assert_uint_eq(hf_len(checks), CHECKS);
    for (size_t i = 0; i < CHECKS; i++)
        if (strcmp(hf_str(hf_at(checks, i), "name", ""), name) == 0)
            return hf_at(checks, i);
    ck_abort_msg("there is no check %s", name);
    return NULL;
}

/* One number at a time: its check speaks up, all others stay quiet, and health as a whole says the
   worst of them. */
START_TEST(each_check_speaks_up_about_its_numbers)
{
    hf_mem *mem = hf_mem_new();

    for (size_t i = 0; i < ROWS; i++) {
        hf_value health =
            hf_metrics_health(mem, one_number(mem, speaks_up[i].group, speaks_up[i].number));
        hf_value check = check_find(health, speaks_up[i].check);
        bool speaks = strcmp(speaks_up[i].status, "ok") != 0;

        ck_assert_str_eq(hf_str(check, "status", ""), speaks_up[i].status);
        ck_assert_int_eq(hf_int(check, "count", -1), speaks_up[i].group ? 3 : 0);
        ck_assert_int_eq(hf_str(check, "message", NULL) != NULL, speaks);
        ck_assert_str_eq(hf_str(health, "status", ""), speaks_up[i].status);
        ck_assert_int_eq(hf_bool(health, "healthy", false),
                         strcmp(speaks_up[i].status, "error") != 0);
        for (size_t j = 0; j < ROWS; j++)
            if (strcmp(speaks_up[j].check, speaks_up[i].check) != 0)
                ck_assert_str_eq(hf_str(check_find(health, speaks_up[j].check), "status", ""),
                                 "ok");
        ck_assert_int_eq(hf_int(health, "categories.correctness.check_count", 0), CHECKS - 1);
        ck_assert_int_eq(hf_int(health, "categories.acceleration.check_count", 0), 1);
        hf_mem_reset(mem);
    }
    hf_mem_free(mem);
}
END_TEST

/* Every number is a gauge under a name of ours, once; texts and lists, which users write, are none.
 */
START_TEST(text_has_numbers_and_no_words_of_users)
{
    hf_mem *mem = hf_mem_new();
    hf_value metrics = hf_json_(
        mem, "{'runs': {'total': 7, 'oldest_wait_started_at': 'x', 'archived': 0}, 'repair': "
             "{'scan_pressure': true, 'scopes': [{'queue': 'a\\nb 1', 'selected': 5}]}, "
             "'projections': {'run_summaries': {'missing': 2}}, 'workers': {'fleet': "
             "[{'worker_id': 'w', 'count': 9}], 'active_workers': 1}}");
    hf_buf text = {0};

    hf_metrics_print(&text, metrics);
    ck_assert_str_eq(hf_buf_text(&text), "# TYPE holdfast_runs_total gauge\n"
                                         "holdfast_runs_total 7\n"
                                         "# TYPE holdfast_runs_archived gauge\n"
                                         "holdfast_runs_archived 0\n"
                                         "# TYPE holdfast_repair_scan_pressure gauge\n"
                                         "holdfast_repair_scan_pressure 1\n"
                                         "# TYPE holdfast_projections_run_summaries_missing gauge\n"
                                         "holdfast_projections_run_summaries_missing 2\n"
                                         "# TYPE holdfast_workers_active_workers gauge\n"
                                         "holdfast_workers_active_workers 1\n");
    hf_buf_fini(&text);
    hf_mem_free(mem);
}
END_TEST

HF_SUITE_MAIN("project/metrics", {each_check_speaks_up_about_its_numbers, 0},
              {text_has_numbers_and_no_words_of_users, 0})
