/* bars.c: see bars.h. */
#include "project/bars.h"

#include "model/event.h"
#include "project/edge.h"
#include "project/sheet.h"

static hf_status segment_add(const hf_section *s, hf_value_list *list, const char *kind,
                             int64_t from_us, int64_t to_us, int64_t attempt, hf_err *err)
{
    hf_sheet sh = hf_sheet_begin(s, err);

    hf_sheet_text(&sh, "kind", hf_slice_of(kind));
    hf_sheet_time(&sh, "from", from_us);
    hf_sheet_time(&sh, "to", to_us); /* null: it goes on */
    hf_sheet_int(&sh, "attempt", attempt);
    return hf_sheet_append(&sh, list);
}

/* Queued before the first attempt, running during one, back-off or lost between two. */
static hf_status activity_segments(const hf_section *s, const hf_track_step *step,
                                   hf_value_list *list, hf_err *err)
{
    int64_t from_us = step->opened->time_us;
    int64_t end_us = step->ended ? step->ended->time_us : HF_EDGE_NO_TIME;
    const char *gap = "queued";
    hf_status st = HF_OK;

    for (const hf_track_attempt *a = step->attempts; !st && a; a = a->next) {
        bool lost = a->status == HF_ATTEMPT_STATUS_EXPIRED;

        if (a->started_us > from_us)
            st = segment_add(s, list, gap, from_us, a->started_us, HF_NONE, err);
        if (!st)
            st = segment_add(s, list, lost ? "lost" : "running", a->started_us, a->closed_us,
                             a->number, err);
        from_us = a->closed_us;
        gap = lost ? "queued" : "backoff";
        if (from_us == HF_EDGE_NO_TIME)
            return st;
    }
    if (!st && (end_us == HF_EDGE_NO_TIME || end_us > from_us))
        st = segment_add(s, list, gap, from_us, end_us, HF_NONE, err);
    return st;
}

static hf_status attempts_list(const hf_section *s, const hf_track_step *step, hf_value *out_list,
                               hf_err *err)
{
    hf_value_list *list = hf_value_array(s->mem);
    hf_status st = HF_OK;

    for (const hf_track_attempt *a = step->attempts; !st && a; a = a->next) {
        hf_sheet sh = hf_sheet_begin(s, err);

        hf_sheet_int(&sh, "number", a->number);
        hf_sheet_word(&sh, "status", &hf_attempt_status_list, a->status);
        hf_sheet_time(&sh, "started_at", a->started_us);
        hf_sheet_time(&sh, "closed_at", a->closed_us);
        hf_sheet_time(&sh, "last_heartbeat_at", a->heartbeat_us);
        hf_sheet_time(&sh, "lease_expires_at", a->lease_us);
        st = hf_sheet_append(&sh, list);
    }
    return hf_sheet_list(list, st, out_list, err);
}

static const char *bar_name(hf_mem *mem, const hf_event *opened)
{
    static const hf_event_key keys[] = {HF_KEY_ACTIVITY_TYPE, HF_KEY_CHILD_WORKFLOW_TYPE,
                                        HF_KEY_SIGNAL_NAME,   HF_KEY_CONDITION_KEY,
                                        HF_KEY_CHANGE_ID,     HF_KEY_STEP_NAME};
    hf_slice text;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (hf_event_text(opened, keys[i], &text))
            return hf_mem_text(mem, text);
    return NULL;
}

static hf_status bar_append(const hf_section *s, const hf_track_step *step, hf_value_list *bars,
                            hf_err *err)
{
    hf_value_list *segments = hf_value_array(s->mem);
    hf_value attempts = NULL;
    int64_t deadline_us = HF_EDGE_NO_TIME;
    const hf_event *ended = step->ended ? step->ended : step->timer_ended;
    hf_sheet sh = hf_sheet_begin(s, err);

    if (step->opened->type == HF_EVENT_ACTIVITY_SCHEDULED)
        sh.st = activity_segments(s, step, segments, err);
    else
        sh.st = segment_add(s, segments,
                            step->opened->type == HF_EVENT_CHILD_WORKFLOW_SCHEDULED ? "running"
                            : step->opened->type == HF_EVENT_TIMER_SCHEDULED        ? "timer"
                                                                                    : "waiting",
                            step->opened->time_us, ended ? ended->time_us : HF_EDGE_NO_TIME,
                            HF_NONE, err);
    if (!sh.st)
        sh.st = attempts_list(s, step, &attempts, err);
    if (step->timer_set)
        (void)hf_event_time(step->timer_set, HF_KEY_FIRE_AT, &deadline_us);
    hf_sheet_int(&sh, "step", step->step);
    hf_sheet_word(&sh, "kind", &hf_history_shape_list, hf_event_shape(step->opened->type));
    hf_sheet_text(&sh, "name", hf_slice_of(bar_name(s->mem, step->opened)));
    hf_sheet_line(&sh, step);
    hf_sheet_event_time(&sh, "from", step->opened);
    hf_sheet_event_time(&sh, "to", ended);
    hf_sheet_time(&sh, "deadline_at", deadline_us);
    hf_sheet_put(&sh, "open", hf_value_bool(!ended && s->dossier->base.closed_us == HF_NONE));
    hf_sheet_put(&sh, "failed", hf_value_bool(step->failure != NULL));
    hf_sheet_put(&sh, "handled", hf_value_bool(step->failure && step->failure->handled));
    hf_sheet_text(&sh, "outcome",
                  ended ? hf_slice_of(hf_event_type_text(ended->type)) : (hf_slice){0});
    hf_sheet_field(&sh, "group", step->opened, HF_KEY_PARALLEL_GROUP_PATH);
    hf_sheet_field(&sh, "child_run_id", step->child_started ? step->child_started : step->opened,
                   HF_KEY_CHILD_WORKFLOW_RUN_ID);
    hf_sheet_field(&sh, "child_instance_id", step->opened, HF_KEY_CHILD_WORKFLOW_INSTANCE_ID);
    hf_sheet_put(&sh, "segments", hf_value_finish(segments));
    hf_sheet_put(&sh, "attempts", attempts ? attempts : hf_value_null());
    return hf_sheet_append(&sh, bars);
}

hf_status hf_bars_make(const hf_section *section, hf_value *out_bars, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *bars = hf_value_array(section->mem);
    size_t total = 0;
    size_t skip;
    hf_status st = HF_OK;

    for (const hf_track_step *step = hf_track_steps(track); step; step = step->next)
        total += step->opened != NULL;
    skip = hf_section_skip(section, total);
    for (const hf_track_step *step = hf_track_steps(track); !st && step; step = step->next)
        if (step->opened && !(skip && skip--))
            st = bar_append(section, step, bars, err);
    return hf_sheet_list(bars, st, out_bars, err);
}
