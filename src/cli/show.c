/* show.c: see show.h. Everything that is printed here came from outside: only through
   hf_cli_print_text. */
#include "cli/show.h"

#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/value.h"
#include "server/payload.h"

/* "20 ms", "3.1 s", "12 m 04 s", "5 h 02 m", "3 d 4 h" */
static const char *span_text(hf_mem *mem, int64_t ms)
{
    long long s = (long long)(ms / 1000);

    if (ms < 1000)
        return hf_mem_format(mem, "%lld ms", (long long)ms);
    if (s < 60)
        return hf_mem_format(mem, "%.1f s", (double)ms / 1000);
    if (s < 3600)
        return hf_mem_format(mem, "%lld m %02lld s", s / 60, s % 60);
    if (s < 86400)
        return hf_mem_format(mem, "%lld h %02lld m", s / 3600, s / 60 % 60);
    return hf_mem_format(mem, "%lld d %lld h", s / 86400, s / 3600 % 24);
}

/* From one moment to another, or to now when it is not there; NULL when it began never. */
static const char *span_between(hf_mem *mem, const char *from, const char *to)
{
    int64_t from_us;
    int64_t to_us = hf_clock_wall_us(hf_clock_system());

    if (!hf_clock_parse(hf_slice_of(from), &from_us))
        return NULL;
    (void)hf_clock_parse(hf_slice_of(to), &to_us);
    return span_text(mem, to_us > from_us ? (to_us - from_us) / 1000 : 0);
}

static void field_print(hf_cli_call *call, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    (void)fprintf(call->print.out, "  %-9s ", name);
    hf_cli_print_text(call->print.out, text);
    (void)fputc('\n', call->print.out);
}

int hf_cli_show_head(hf_cli_call *call, hf_value run)
{
    FILE *out = call->print.out;
    const char *then = hf_bool(run, "is_now", true) ? "" : hf_str(run, "last_progress_at", "");
    const char *span =
        span_between(call->mem, hf_str(run, "started_at", ""), hf_str(run, "closed_at", then));

    hf_cli_print_text(out, hf_str(run, "workflow_id", hf_str(run, "instance_id", "")));
    (void)fputs("  ", out);
    hf_cli_print_text(out, hf_str(run, "workflow_type", ""));
    (void)fprintf(out, "  %s", hf_str(run, "status", ""));
    if (span)
        (void)fprintf(out, " %s %s", hf_bool(run, "is_terminal", false) ? "after" : "for", span);
    (void)fprintf(out, "  %lld events\n", (long long)hf_int(run, "history_event_count", 0));
    return 1;
}

/* ---- steps */

/* How it stands. What the end of the run cut short has nothing more to say than that. */
static const char *step_status(hf_value wait)
{
    const char *status = hf_str(wait, "status", "");

    return strcmp(status, "cancelled") == 0 ? status : hf_str(wait, "source_status", status);
}

static const char *step_mark(hf_value wait)
{
    const char *status = step_status(wait);

    if (strcmp(hf_str(wait, "status", ""), "open") == 0)
        return "●";
    return strstr(status, "fail") || strstr(status, "timed") || strstr(status, "cancel") ? "✗"
                                                                                         : "✓";
}

hf_value hf_cli_show_find(hf_value run, int64_t step)
{
    hf_value waits = hf_get(run, "waits");

    for (size_t i = 0; i < hf_len(waits); i++)
        if (hf_int(hf_at(waits, i), "sequence", -1) == step)
            return hf_at(waits, i);
    return NULL;
}

hf_value hf_cli_show_activity(hf_value run, hf_value wait)
{
    hf_value all = hf_get(run, "activities");

    if (strcmp(hf_str(wait, "kind", ""), "activity") != 0)
        return NULL;
    for (size_t i = 0; i < hf_len(all); i++)
        if (strcmp(hf_str(hf_at(all, i), "id", ""), hf_str(wait, "resume_source_id", "-")) == 0)
            return hf_at(all, i);
    return NULL;
}

void hf_cli_show_step(hf_cli_call *call, hf_value run, hf_value wait, bool last)
{
    FILE *out = call->print.out;
    hf_value activity = hf_cli_show_activity(run, wait);
    const char *span = span_between(call->mem, hf_str(wait, "opened_at", ""),
                                    hf_str(wait, "resolved_at", hf_str(run, "closed_at", "")));
    const char *name = hf_str(wait, "target_name", "");
    int64_t attempts = hf_int(activity, "attempt_count", 0);
    int64_t most = hf_int(activity, "retry_policy.max_attempts", 0);

    (void)fprintf(out, "%s %s %lld  %s", last ? "└─" : "├─", step_mark(wait),
                  (long long)hf_int(wait, "sequence", 0), hf_str(wait, "kind", ""));
    if (*name)
        (void)fputc(' ', out);
    hf_cli_print_text(out, name);
    (void)fprintf(out, "  %s", step_status(wait));
    if (span)
        (void)fprintf(out, "  %s", span);
    if (attempts > 1)
        (void)fprintf(out, "  attempt %lld", (long long)attempts);
    if (attempts > 1 && attempts <= most) /* those that were lost with their worker do not count */
        (void)fprintf(out, " of %lld", (long long)most);
}

int hf_cli_show_steps(hf_cli_call *call, hf_value run)
{
    hf_value waits = hf_get(run, "waits");
    size_t count = hf_len(waits);

    for (size_t i = 0; i < count; i++) {
        hf_cli_show_step(call, run, hf_at(waits, i), i + 1 == count);
        (void)fputc('\n', call->print.out);
    }
    return (int)count;
}

/* ---- the whole */

static const char *value_text(hf_cli_call *call, hf_value envelope)
{
    hf_value value = NULL;

    if (!envelope || hf_value_kind_of(envelope) == HF_VALUE_NULL ||
        hf_payload_open(call->mem, envelope, &value, NULL))
        return NULL;
    return hf_text(call->mem, value);
}

/* The command behind an action of why, in words for hf_cli_command_text. */
static const char *next_command(hf_mem *mem, hf_value why)
{
    const char *action = hf_str(why, "next.0.action", "");
    const char *id = hf_str(why, "instance_id", "");
    const char *name = hf_str(why, "subject.name", "NAME");

    if (strncmp(hf_str(why, "code", ""), "replay_blocked", 14) == 0)
        return "holdfast replay check --app PROGRAM --blocked"; /* a repair needs other code first
                                                                 */
    if (strcmp(action, "repair") == 0 || strcmp(action, "resume") == 0)
        return hf_mem_format(mem, "holdfast %s %s {here}", action, id);
    if (strcmp(action, "reset") == 0)
        return hf_mem_format(mem, "holdfast reset %s --step STEP {here}", id);
    if (strcmp(action, "signal") == 0)
        return hf_mem_format(mem, "holdfast signal %s %s {here}", id, name);
    if (strcmp(action, "update") == 0) /* the condition has a name, the update has another */
        return hf_mem_format(mem, "holdfast update %s NAME {here}", id);
    if (strcmp(action, "open_child") == 0)
        return hf_mem_format(mem, "holdfast why %s {here}", name);
    if (strcmp(action, "start_worker") == 0)
        return "holdfast worker PROGRAM {here}";
    return action;
}

const char *hf_cli_show_next(hf_cli_call *call, hf_value why)
{
    const char *command =
        hf_bool(why, "next.0.primary", false) ? next_command(call->mem, why) : NULL;

    return command ? hf_cli_command_text(call, command) : NULL;
}

hf_status hf_cli_show_run(hf_cli_call *call, hf_value run, hf_err *err)
{
    hf_value failures = hf_get(run, "exceptions");
    hf_value failure = hf_len(failures) ? hf_at(failures, hf_len(failures) - 1) : NULL;

    (void)hf_cli_show_head(call, run);
    field_print(call, "run",
                hf_mem_format(call->mem, "%s (number %lld)", hf_str(run, "run_id", ""),
                              (long long)hf_int(run, "run_number", 1)));
    field_print(call, "queue", hf_str(run, "task_queue", NULL));
    field_print(call, "key", hf_str(run, "business_key", NULL));
    field_print(call, "started", hf_str(run, "started_at", NULL));
    field_print(call, "closed", hf_str(run, "closed_at", NULL));
    field_print(call, "input", value_text(call, hf_get(run, "arguments")));
    field_print(call, "why", hf_str(run, "why.text", NULL));
    field_print(call, "next", hf_cli_show_next(call, hf_get(run, "why")));
    if (hf_str(failure, "exception_type", NULL) || hf_str(failure, "message", NULL))
        field_print(call, "failure",
                    hf_mem_format(call->mem, "%s: %s", hf_str(failure, "exception_type", "error"),
                                  hf_str(failure, "message", "")));
    field_print(call, "result", value_text(call, hf_get(run, "output")));
    (void)hf_cli_show_steps(call, run);
    return hf_cli_print_flush(&call->print, err);
}

/* ---- events */

const char *hf_cli_show_event(hf_mem *mem, hf_value event)
{
    static const char *const names[] = {"payload.activity_type", "payload.signal_name",
                                        "payload.update_name",   "payload.child_workflow_type",
                                        "payload.name",          "payload.change_id",
                                        "payload.key",           "payload.reason"};
    const char *what = "";
    int64_t attempt = hf_int(event, "payload.attempt_number", 0);
    const char *message = hf_str(event, "payload.message", NULL);

    for (size_t i = 0; !*what && i < sizeof(names) / sizeof(names[0]); i++)
        what = hf_str(event, names[i], "");
    if (attempt > 0)
        what = hf_mem_format(mem, "%s attempt %lld", what, (long long)attempt);
    else if (strcmp(hf_str(event, "type", ""), "TimerScheduled") == 0) /* delay_seconds are whole */
        what = span_between(mem, hf_str(event, "recorded_at", ""),
                            hf_str(event, "payload.fire_at", ""));
    return what && message ? hf_mem_format(mem, "%s%s%s", what, *what ? ": " : "", message) : what;
}
