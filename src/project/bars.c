/* bars.c: see bars.h. */
#include "project/bars.h"

#include "model/event.h"
#include "project/edge.h"
#include "project/sheet.h"

enum { BEATS_MAX = 50 }; /* of an attempt that are drawn */

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

/* When the step was over: with its run when nothing else ended it. */
static int64_t step_end(const hf_section *s, const hf_track_step *step)
{
    const hf_event *ended = step->ended ? step->ended : step->timer_ended;

    return ended ? ended->time_us : s->dossier->base.closed_us;
}

/* An attempt whose worker went away: it ran until it was last heard of, was missed until its lease
   ran out (or until the next attempt began, when nobody knows), and waited from then on. */
static hf_status lost_segments(const hf_section *s, const hf_track_attempt *a, hf_value_list *list,
                               int64_t *out_us, hf_err *err)
{
    bool heard = a->heartbeat_us != HF_EDGE_NO_TIME && a->heartbeat_us > a->started_us &&
                 a->heartbeat_us < a->closed_us;
    int64_t alive_us = heard ? a->heartbeat_us : a->started_us;
    bool leased =
        a->lease_us != HF_EDGE_NO_TIME && a->lease_us > alive_us && a->lease_us < a->closed_us;
    hf_status st = HF_OK;

    *out_us = leased ? a->lease_us : a->closed_us;
    if (heard)
        st = segment_add(s, list, "running", a->started_us, alive_us, a->number, err);
    return st ? st : segment_add(s, list, "lost", alive_us, *out_us, a->number, err);
}

/* Queued before the first attempt, running during one, back-off or lost between two. */
static hf_status activity_segments(const hf_section *s, const hf_track_step *step,
                                   hf_value_list *list, hf_err *err)
{
    int64_t from_us = step->opened->time_us;
    int64_t end_us = step_end(s, step);
    const char *gap = "queued";
    hf_status st = HF_OK;

    for (const hf_track_attempt *a = step->attempts; !st && a; a = a->next) {
        bool lost = a->status == HF_ATTEMPT_STATUS_EXPIRED;
        int64_t over_us = a->closed_us == HF_EDGE_NO_TIME ? end_us : a->closed_us;

        if (a->started_us > from_us)
            st = segment_add(s, list, gap, from_us, a->started_us, HF_NONE, err);
        if (!st && lost)
            st = lost_segments(s, a, list, &over_us, err);
        else if (!st)
            st = segment_add(s, list, "running", a->started_us, over_us, a->number, err);
        from_us = over_us;
        gap = lost ? "queued" : "backoff";
        if (from_us == HF_EDGE_NO_TIME)
            return st;
    }
    if (!st && (end_us == HF_EDGE_NO_TIME || end_us > from_us))
        st = segment_add(s, list, gap, from_us, end_us, HF_NONE, err);
    return st;
}

/* ---- steps of machines */

/* When a signal woke the machine for this step; the time of its end when nobody knows. */
static int64_t woken_at(const hf_section *s, const hf_track_step *step, int64_t parked_us)
{
    const hf_track *track = hf_compose_track(s->compose);
    int64_t woken_us = step->opened->time_us;

    for (const hf_track_message *m = hf_track_messages(track); m; m = m->next)
        if (m->applied == step->opened && m->came->time_us < woken_us)
            woken_us = m->came->time_us;
    return woken_us > parked_us ? woken_us : parked_us;
}

/* When the last child of a step that fanned out was over, HF_EDGE_NO_TIME while one is open; false:
   it has none. Its children stand behind it, before the next step of the machine. */
static bool fan_end(const hf_track_step *step, int64_t *out_us)
{
    const hf_track_step *child = step->next;
    bool has = false;

    *out_us = step->opened->time_us;
    for (; child && (!child->opened || child->opened->type != HF_EVENT_STEP_COMPLETED);
         child = child->next) {
        if (!child->opened || child->opened->type != HF_EVENT_CHILD_WORKFLOW_SCHEDULED)
            continue;
        has = true;
        if (!child->ended)
            *out_us = HF_EDGE_NO_TIME;
        else if (*out_us != HF_EDGE_NO_TIME && child->ended->time_us > *out_us)
            *out_us = child->ended->time_us;
    }
    return has;
}

/* When a step could begin: after the one before it, and what that one waited for. */
static int64_t machine_begin(const hf_section *s, const hf_track_step *step,
                             const hf_track_step *before)
{
    int64_t begin_us = before ? before->opened->time_us : s->dossier->run.created_us;
    int64_t fan_us;

    if (before && before->awaited.ptr)
        return woken_at(s, step, begin_us);
    if (before && fan_end(before, &fan_us) && fan_us != HF_EDGE_NO_TIME &&
        fan_us <= step->opened->time_us)
        return fan_us;
    return begin_us;
}

/* Whether the step waits behind its own end, for a signal or its children, and until when. */
static bool machine_waits(const hf_section *s, const hf_track_step *step, int64_t *out_us)
{
    bool waits = step->awaited.ptr || fan_end(step, out_us);

    if (step->awaited.ptr)
        *out_us =
            step->woken
                ? woken_at(s, hf_track_step_get(hf_compose_track(s->compose), step->woken->step),
                           step->opened->time_us)
                : HF_EDGE_NO_TIME;
    if (*out_us == HF_EDGE_NO_TIME)
        *out_us = s->dossier->base.closed_us;
    return waits;
}

/* What an event of a machine says of its end is when the step ended; it began when it could: after
   the step before it, after a pause, when a signal came, or when its children were over. A step
   that parks or fans out waits behind that. */
static hf_status machine_segments(const hf_section *s, const hf_track_step *step,
                                  const hf_track_step *before, hf_value_list *list,
                                  int64_t *out_from_us, int64_t *out_to_us, hf_err *err)
{
    int64_t end_us = step->opened->time_us;
    int64_t begin_us = machine_begin(s, step, before);
    int64_t ready_us = HF_EDGE_NO_TIME;
    int64_t attempt = HF_NONE;
    int64_t until_us;
    hf_status st = HF_OK;

    *out_from_us = begin_us;
    *out_to_us = end_us;
    if (before && hf_event_time(before->opened, HF_KEY_RETRY_AVAILABLE_AT, &ready_us) &&
        ready_us > begin_us && ready_us < end_us) {
        st = segment_add(s, list, "backoff", begin_us, ready_us, HF_NONE, err);
        begin_us = ready_us;
    }
    (void)hf_event_int(step->opened, HF_KEY_ATTEMPT_NUMBER, &attempt);
    if (!st)
        st = segment_add(s, list, "running", begin_us, end_us, attempt, err);
    if (st || !machine_waits(s, step, &until_us))
        return st;
    *out_to_us = until_us;
    return segment_add(s, list, "waiting", end_us, until_us, HF_NONE, err);
}

/* When the attempt was heard of, the earliest first; thinned when it was often. */
static hf_value beats_value(hf_mem *mem, const hf_track_attempt *attempt)
{
    const hf_track_beat *drawn[BEATS_MAX];
    hf_value_list *list = hf_value_array(mem);
    size_t total = 0;
    size_t each;
    size_t at = 0;
    size_t count = 0;

    for (const hf_track_beat *beat = attempt->beats; beat; beat = beat->next)
        total++;
    each = total / BEATS_MAX + (total % BEATS_MAX ? 1 : 0);
    for (const hf_track_beat *beat = attempt->beats; beat; beat = beat->next)
        if (at++ % each == 0)
            drawn[count++] = beat;
    while (count)
        hf_value_append(list, hf_edge_time(mem, drawn[--count]->at_us));
    return hf_value_finish(list);
}

static hf_status attempts_list(const hf_section *s, const hf_track_step *step, hf_value *out_list,
                               hf_err *err)
{
    hf_value_list *list = hf_value_array(s->mem);
    hf_status st = HF_OK;

    for (const hf_track_attempt *a = step->attempts; !st && a; a = a->next) {
        hf_sheet sh = hf_sheet_begin(s, err);

        hf_sheet_int(&sh, "number", a->number);
        hf_sheet_text(&sh, "worker", a->worker);
        hf_sheet_put(&sh, "task_id",
                     a->worker.len ? hf_edge_id(s->mem, &step->id) : hf_value_null());
        hf_sheet_word(&sh, "status", &hf_attempt_status_list, a->status);
        hf_sheet_time(&sh, "started_at", a->started_us);
        hf_sheet_time(&sh, "closed_at", a->closed_us);
        hf_sheet_time(&sh, "last_heartbeat_at", a->heartbeat_us);
        hf_sheet_time(&sh, "lease_expires_at", a->lease_us);
        hf_sheet_put(&sh, "heartbeats", beats_value(s->mem, a));
        hf_sheet_field(&sh, "progress", a->beat, HF_KEY_PROGRESS);
        hf_sheet_field(&sh, "failure_type", a->ended, HF_KEY_EXCEPTION_TYPE);
        hf_sheet_field(&sh, "message", a->ended, HF_KEY_MESSAGE);
        hf_sheet_field(&sh, "timeout_kind", a->ended, HF_KEY_TIMEOUT_KIND);
        st = hf_sheet_append(&sh, list);
    }
    return hf_sheet_list(list, st, out_list, err);
}

/* `before`: the step of a machine that led to this one; NULL: none did. */
static hf_status bar_append(const hf_section *s, const hf_track_step *step,
                            const hf_track_step *before, hf_value_list *bars, hf_err *err)
{
    hf_value_list *segments = hf_value_array(s->mem);
    hf_value attempts = NULL;
    int64_t deadline_us = HF_EDGE_NO_TIME;
    int64_t from_us = step->opened->time_us;
    int64_t to_us = step_end(s, step);
    const hf_event *ended = step->ended ? step->ended : step->timer_ended;
    hf_sheet sh = hf_sheet_begin(s, err);

    if (step->opened->type == HF_EVENT_ACTIVITY_SCHEDULED)
        sh.st = activity_segments(s, step, segments, err);
    else if (step->opened->type == HF_EVENT_STEP_COMPLETED)
        sh.st = machine_segments(s, step, before, segments, &from_us, &to_us, err);
    else
        sh.st = segment_add(s, segments,
                            step->opened->type == HF_EVENT_CHILD_WORKFLOW_SCHEDULED ? "running"
                            : step->opened->type == HF_EVENT_TIMER_SCHEDULED        ? "timer"
                                                                                    : "waiting",
                            from_us, to_us, HF_NONE, err);
    if (!sh.st)
        sh.st = attempts_list(s, step, &attempts, err);
    if (step->timer_set)
        (void)hf_event_time(step->timer_set, HF_KEY_FIRE_AT, &deadline_us);
    hf_sheet_int(&sh, "step", step->step);
    hf_sheet_word(&sh, "kind", &hf_history_shape_list, hf_event_shape(step->opened->type));
    hf_sheet_text(&sh, "name", hf_track_name(step->opened));
    hf_sheet_line(&sh, step);
    hf_sheet_time(&sh, "from", from_us);
    hf_sheet_time(&sh, "to", to_us);
    hf_sheet_time(&sh, "deadline_at", deadline_us);
    hf_sheet_put(&sh, "open", hf_value_bool(to_us == HF_EDGE_NO_TIME));
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

hf_status hf_bars_make(const hf_section *section, hf_value *out_bars, size_t *out_left_out,
                       hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *bars = hf_value_array(section->mem);
    const hf_track_step *before = NULL;
    size_t total = 0;
    size_t skip;
    hf_status st = HF_OK;

    for (const hf_track_step *step = hf_track_steps(track); step; step = step->next)
        total += step->opened != NULL;
    skip = section->step ? 0 : hf_section_skip(section, total);
    if (out_left_out)
        *out_left_out = skip;
    for (const hf_track_step *step = hf_track_steps(track); !st && step; step = step->next) {
        if (!step->opened)
            continue;
        if (hf_section_takes(section, step->step) && !(skip && skip--))
            st = bar_append(section, step, before, bars, err);
        if (step->opened->type == HF_EVENT_STEP_COMPLETED)
            before = step;
    }
    return hf_sheet_list(bars, st, out_bars, err);
}

/* ---- barriers */

/* A barrier while its leaves are counted. */
typedef struct barrier {
    struct barrier *next; /* in the order they were opened */
    hf_value path;        /* the entry that names it */
    int64_t depth;
    int64_t leaves;
    int64_t done;
    int64_t failed;
    int64_t from_us;
    int64_t to_us;
} barrier;

static bool same_barrier(const barrier *b, hf_value entry)
{
    return hf_slice_equal(hf_slice_of(hf_str(b->path, "parallel_group_id", "")),
                          hf_slice_of(hf_str(entry, "parallel_group_id", "")));
}

/* Leaves of a barrier stand beside each other, so it is mostly one of the newest. */
static hf_status leaf_add(hf_mem *mem, const hf_track_step *step, hf_value entry, int64_t depth,
                          barrier **io_newest, hf_err *err)
{
    const hf_event *ended = step->ended ? step->ended : step->timer_ended;
    barrier *b = *io_newest;

    while (b && !same_barrier(b, entry))
        b = b->next;
    if (!b) {
        b = hf_mem_alloc(mem, sizeof(*b));
        if (!b)
            return hf_err_nomem(err, "a barrier");
        *b = (barrier){.next = *io_newest,
                       .path = entry,
                       .depth = depth,
                       .from_us = step->opened->time_us,
                       .to_us = HF_EDGE_NO_TIME};
        *io_newest = b;
    }
    b->leaves++;
    b->failed += step->failure != NULL;
    if (!ended)
        return HF_OK;
    b->done++;
    if (ended->time_us > b->to_us)
        b->to_us = ended->time_us;
    return HF_OK;
}

static hf_status barrier_append(const hf_section *s, const barrier *b, hf_value_list *list,
                                hf_err *err)
{
    hf_sheet sh = hf_sheet_begin(s, err);

    hf_sheet_text(&sh, "id", hf_slice_of(hf_str(b->path, "parallel_group_id", "")));
    hf_sheet_text(&sh, "kind", hf_slice_of(hf_str(b->path, "parallel_group_kind", "")));
    hf_sheet_int(&sh, "depth", b->depth);
    hf_sheet_int(&sh, "step", hf_int(b->path, "parallel_group_base_sequence", 0));
    hf_sheet_int(&sh, "size", hf_int(b->path, "parallel_group_size", 0));
    hf_sheet_int(&sh, "leaves", b->leaves);
    hf_sheet_int(&sh, "done", b->done);
    hf_sheet_int(&sh, "failed", b->failed);
    hf_sheet_time(&sh, "from", b->from_us);
    hf_sheet_time(&sh, "to", b->done == b->leaves ? b->to_us : HF_EDGE_NO_TIME);
    return hf_sheet_append(&sh, list);
}

hf_status hf_bars_barriers(const hf_section *section, hf_value *out_barriers, hf_err *err)
{
    const hf_track *track = hf_compose_track(section->compose);
    hf_value_list *list = hf_value_array(section->mem);
    barrier *newest = NULL;
    barrier *first = NULL;
    hf_status st = HF_OK;

    for (const hf_track_step *step = hf_track_steps(track); !st && step; step = step->next) {
        hf_value path = NULL;

        if (!step->opened || !hf_event_key_allowed(step->opened->type, HF_KEY_PARALLEL_GROUP_PATH))
            continue;
        st = hf_compose_field(section->compose, step->opened, HF_KEY_PARALLEL_GROUP_PATH, &path,
                              err);
        for (size_t i = 0; !st && i < hf_len(path); i++)
            st = leaf_add(section->mem, step, hf_at(path, i), (int64_t)i, &newest, err);
    }
    while (newest) { /* turned round */
        barrier *next = newest->next;

        newest->next = first;
        first = newest;
        newest = next;
    }
    for (const barrier *b = first; !st && b; b = b->next)
        st = barrier_append(section, b, list, err);
    return hf_sheet_list(list, st, out_barriers, err);
}
