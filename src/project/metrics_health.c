/* metrics_health.c: the published health checks, made from the metrics: see metrics.h. */
#include "project/metrics.h"

typedef enum level { OK, WARNING, ERROR } level;

static const char *const level_texts[] = {"ok", "warning", "error"};

/* What makes a check speak up: a number that should be 0; at the level OK it is only shown. */
typedef struct health_rule {
    const char *check;
    const char *path;
    level level;
    const char *message;
} health_rule;

static const health_rule rules[] = {
    {"run_summary_projection", "projections.run_summaries.missing", WARNING,
     "Summaries of runs are missing: rebuild-projections makes them anew."},
    {"run_summary_projection", "projections.run_summaries.orphaned", WARNING,
     "Summaries belong to runs that are gone: rebuild-projections --prune-stale forgets them."},
    {"run_summary_projection", "projections.run_summaries.schema_outdated", WARNING,
     "Summaries were written by another version: rebuild-projections makes them anew."},
    {"selected_run_projections", "projections.run_timeline_entries.missing_runs", WARNING,
     "Closed runs have no fold: pages make it while they are read."},
    {"selected_run_projections", "projections.run_timeline_entries.schema_outdated", WARNING,
     "Folds were written by another version: pages make them anew."},
    {"selected_run_projections", "projections.run_timeline_entries.stale_projected_runs", WARNING,
     "Folds of closed runs are behind: pages make them anew."},
    {"selected_run_projections", "projections.run_timeline_entries.orphaned", WARNING,
     "Folds belong to runs that are gone: rebuild-projections --prune-stale forgets them."},
    {"selected_run_projections", "projections.folder.failures", WARNING,
     "Projections could not be folded; lists may be behind."},
    {"selected_run_projections", "projections.folder.set_aside_runs", WARNING,
     "Runs cannot be folded and lists show them as they were: the log names them, verify says what "
     "is wrong, rebuild-projections tries again."},
    {"command_contract_snapshots", "command_contracts.backfill_unavailable_runs", OK, NULL},
    {"task_transport", "tasks.unhealthy", WARNING, "Tasks could not be handed over or claimed."},
    {"durable_resume_paths", "runs.repair_needed", WARNING,
     "Open runs lack what would move them on: the watchdog or repair puts it back."},
    {"durable_resume_paths", "runs.replay_blocked", WARNING,
     "Runs are blocked: code and history disagree."},
    {"durable_resume_paths", "runs.quarantined", ERROR,
     "The code of runs kept killing its process."},
    {"worker_compatibility", "runs.compatibility_blocked", WARNING,
     "Runs wait for a worker that supports their marker."},
    {"history_retention_invariant", "history.history_orphan_total", ERROR,
     "History is left of runs that are gone: holdfast verify names them."},
    {"activity_path", "activities.timeout_overdue", WARNING, "Activity timeouts are overdue."},
    {"routing_health", "tasks.dispatch_overdue", WARNING,
     "Tasks are due at queues where nobody takes them."},
    {"scheduler_role", "schedules.missed", WARNING, "Schedules are due and did not fire."}};

/* Every check, whether it speaks up or not. Those that only make work quicker come last. */
static const struct {
    const char *name;
    bool acceleration;
} checks[] = {{"backend_capabilities", false},
              {"run_summary_projection", false},
              {"selected_run_projections", false},
              {"command_contract_snapshots", false},
              {"task_transport", false},
              {"durable_resume_paths", false},
              {"worker_compatibility", false},
              {"history_retention_invariant", false},
              {"activity_path", false},
              {"routing_health", false},
              {"scheduler_role", false},
              {"long_poll_wake_acceleration", true}};

/* The worst that its rules say. */
static level check_look(hf_value metrics, const char *name, int64_t *out_count,
                        const char **out_message)
{
    level worst = OK;

    *out_count = 0;
    *out_message = NULL;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        int64_t number = hf_int(metrics, rules[i].path, 0);

        if (!number || !hf_slice_equal(hf_slice_of(rules[i].check), hf_slice_of(name)))
            continue;
        *out_count += number;
        if (rules[i].level <= worst)
            continue;
        worst = rules[i].level;
        *out_message = rules[i].message;
    }
    return worst;
}

hf_value hf_metrics_health(hf_mem *mem, hf_value metrics)
{
    hf_value_list *list = hf_value_array(mem);
    level worst[2] = {OK, OK}; /* correctness, acceleration */
    int64_t counts[2] = {0, 0};
    level all;

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        bool acceleration = checks[i].acceleration;
        const char *message = NULL;
        int64_t count = 0;
        level found = check_look(metrics, checks[i].name, &count, &message);

        counts[acceleration]++;
        if (found > worst[acceleration])
            worst[acceleration] = found;
        hf_value_append(list,
                        hf_json_(mem,
                                 "{'name': %s, 'category': %s, 'status': %s, 'count': %lld, "
                                 "'message': %s}",
                                 checks[i].name, acceleration ? "acceleration" : "correctness",
                                 level_texts[found], (long long)count, message));
    }
    all = worst[1] > worst[0] ? worst[1] : worst[0];
    return hf_json_(mem,
                    "{'generated_at': %p, 'status': %s, 'healthy': %p, 'checks': %p, 'categories': "
                    "{'correctness': {'status': %s, 'check_count': %lld}, 'acceleration': "
                    "{'status': %s, 'check_count': %lld}}, 'operator_metrics': %p, "
                    "'structural_limits': %p}",
                    (const void *)hf_get(metrics, "generated_at"), level_texts[all],
                    (const void *)hf_value_bool(all != ERROR), (const void *)hf_value_finish(list),
                    level_texts[worst[0]], (long long)counts[0], level_texts[worst[1]],
                    (long long)counts[1], (const void *)metrics,
                    (const void *)hf_get(metrics, "structural_limits"));
}
