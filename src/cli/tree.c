/* tree.c: see tree.h. Everything that is printed here came from outside: only through
   hf_cli_print_text. */
#include "cli/tree.h"

#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "cli/show.h"
#include "server/payload.h"

enum { DEPTH_MAX = 8, LINES_MAX = 200, BAR_CELLS = 20, EVENTS_BACK = 400, PREFIX_BYTES = 64 };

typedef struct tree {
    hf_cli_target *target;
    hf_cli_call *call;
    int lines;
} tree;

/* The newest progress that an activity told of, or NULL. */
static hf_value progress_find(tree *t, hf_value run, hf_value wait)
{
    const hf_cli_aim aim = {.id = hf_str(run, "workflow_id", ""),
                            .run_id = hf_str(run, "run_id", "")};
    int64_t last = hf_int(run, "last_history_sequence", hf_int(run, "history_event_count", 0));
    const char *activity = hf_str(wait, "resume_source_id", "-");
    hf_value page = NULL;
    hf_value events;
    hf_value found = NULL;
    hf_err err;

    if (hf_cli_target_history(t->target, &aim, last > EVENTS_BACK ? last - EVENTS_BACK : 0,
                              t->call->mem, &page, &err))
        return NULL;
    events = hf_get(page, "events");
    for (size_t i = 0; i < hf_len(events); i++) {
        hf_value event = hf_at(events, i);

        if (strcmp(hf_str(event, "type", ""), "ActivityHeartbeatRecorded") == 0 &&
            strcmp(hf_str(event, "payload.activity_execution_id", ""), activity) == 0)
            found = hf_get(event, "payload.progress");
    }
    return found;
}

/* "▇▇▇▁▁▁ 6210/10000 rows" */
static void bar_print(FILE *out, hf_value progress)
{
    int64_t current = hf_int(progress, "current", 0);
    int64_t total = hf_int(progress, "total", 0);
    int64_t full = total > 0 ? current * BAR_CELLS / total : 0;

    if (total > 0) {
        (void)fputs("  ", out);
        for (int64_t i = 0; i < BAR_CELLS; i++)
            (void)fputs(i < full ? "▇" : "▁", out);
        (void)fprintf(out, "  %lld/%lld", (long long)current, (long long)total);
    } else if (current > 0) {
        (void)fprintf(out, "  %lld", (long long)current);
    }
    if (*hf_str(progress, "unit", "")) {
        (void)fputc(' ', out);
        hf_cli_print_text(out, hf_str(progress, "unit", ""));
    }
    if (*hf_str(progress, "message", "")) {
        (void)fputs("  ", out);
        hf_cli_print_text(out, hf_str(progress, "message", ""));
    }
}

static bool is_open(hf_value wait)
{
    return strcmp(hf_str(wait, "status", ""), "open") == 0;
}

static bool is_kind(hf_value wait, const char *kind)
{
    return strcmp(hf_str(wait, "kind", ""), kind) == 0;
}

/* The run that a step started; NULL: it cannot be read. */
static hf_value child_read(tree *t, hf_value wait)
{
    const hf_cli_aim aim = {.id = hf_str(wait, "target_name", "")};
    hf_value child = NULL;
    hf_err err;

    return *aim.id && !hf_cli_target_run(t->target, &aim, t->call->mem, &child, &err) ? child
                                                                                      : NULL;
}

/* One run's steps behind a prefix; those of its children behind a longer one. The depth is bounded,
   and so is what a terminal is given. */
static void steps_print(tree *t, hf_value run, const char *prefix, int depth)
{
    FILE *out = t->call->print.out;
    hf_value waits = hf_get(run, "waits");
    size_t count = hf_len(waits);

    for (size_t i = 0; i < count && t->lines < LINES_MAX; i++) {
        hf_value wait = hf_at(waits, i);
        bool last = i + 1 == count;
        hf_value child = is_kind(wait, "child") && depth < DEPTH_MAX ? child_read(t, wait) : NULL;
        char deeper[PREFIX_BYTES];

        (void)fputs(prefix, out);
        hf_cli_show_step(t->call, run, wait, last);
        if (is_kind(wait, "activity") && is_open(wait))
            bar_print(out, progress_find(t, run, wait));
        (void)fputc('\n', out);
        t->lines++;
        (void)snprintf(deeper, sizeof(deeper), "%s%s", prefix, last ? "   " : "│  ");
        if (child)
            steps_print(t, child, deeper, depth + 1);
    }
}

hf_status hf_cli_tree_print(hf_cli_target *target, hf_value run, int *out_lines, hf_err *err)
{
    tree t = {.target = target, .call = hf_cli_target_call(target)};

    steps_print(&t, run, "", 0);
    *out_lines = t.lines;
    return hf_cli_print_flush(&t.call->print, err);
}
