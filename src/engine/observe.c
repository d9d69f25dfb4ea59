/* observe.c: tells the program's observer what was committed. The rule: only facts that are in the
   store, in their order, each once by the process that committed it; a replay tells nothing. It
   runs on the core's thread, so it must not wait for anybody. */
#include "base/mem.h"
#include "base/options.h"
#include "engine/engine_impl.h"
#include "model/event.h"

/* What an event is called outside; NULL when nobody is told of it. */
static const char *event_name(hf_event_type type)
{
    switch ((int)type) {
    case HF_EVENT_WORKFLOW_COMPLETED:
        return "WorkflowCompleted";
    case HF_EVENT_WORKFLOW_FAILED:
    case HF_EVENT_WORKFLOW_TIMED_OUT:
        return "WorkflowFailed";
    case HF_EVENT_ACTIVITY_STARTED:
        return "ActivityStarted";
    case HF_EVENT_ACTIVITY_COMPLETED:
        return "ActivityCompleted";
    case HF_EVENT_ACTIVITY_FAILED:
    case HF_EVENT_ACTIVITY_TIMED_OUT:
        return "ActivityFailed";
    case HF_EVENT_STEP_COMPLETED:
        return "StepCompleted";
    }
    return NULL;
}

static bool is_failure(hf_event_type type)
{
    return type == HF_EVENT_WORKFLOW_FAILED || type == HF_EVENT_WORKFLOW_TIMED_OUT ||
           type == HF_EVENT_ACTIVITY_FAILED || type == HF_EVENT_ACTIVITY_TIMED_OUT ||
           type == HF_EVENT_CHILD_RUN_FAILED;
}

static const char *text_of(hf_mem *mem, const hf_event *event, hf_event_key key)
{
    hf_slice text;

    if (!hf_event_key_allowed(event->type, key) || !hf_event_text(event, key, &text))
        return NULL;
    return hf_mem_text(mem, text);
}

static hf_value detail_of(hf_mem *mem, const hf_core_facts *facts, const hf_event *event,
                          int64_t seq)
{
    hf_slice activity = {0};
    int64_t attempt = 0;

    if (event->step && hf_event_key_allowed(event->type, HF_KEY_ACTIVITY_TYPE))
        activity = facts->activity(facts->ctx, event->step);
    if (hf_event_key_allowed(event->type, HF_KEY_ATTEMPT_NUMBER))
        (void)hf_event_int(event, HF_KEY_ATTEMPT_NUMBER, &attempt);
    return hf_json_(mem,
                    "{'instance_id': %s, 'run_id': %s, 'workflow_type': %s, 'sequence': %lld, "
                    "'committed_at': %lld, 'step': %lld, 'activity_type': %s, 'attempt': %lld, "
                    "'exception_type': %s, 'message': %s}",
                    hf_mem_text(mem, facts->instance_id), hf_mem_text(mem, facts->run_id),
                    hf_mem_text(mem, facts->type), (long long)seq,
                    (long long)(event->time_us / 1000), (long long)event->step,
                    activity.ptr ? hf_mem_text(mem, activity) : NULL, (long long)attempt,
                    text_of(mem, event, HF_KEY_EXCEPTION_TYPE),
                    text_of(mem, event, HF_KEY_MESSAGE));
}

/* A start is told with the first turn that followed it: whoever committed it, a run has one. */
static hf_value begun_of(hf_mem *mem, const hf_core_facts *facts)
{
    return hf_json_(mem,
                    "{'instance_id': %s, 'run_id': %s, 'workflow_type': %s, 'sequence': null, "
                    "'committed_at': %lld}",
                    hf_mem_text(mem, facts->instance_id), hf_mem_text(mem, facts->run_id),
                    hf_mem_text(mem, facts->type),
                    (long long)(facts->count ? facts->events[0].time_us / 1000 : 0));
}

void hf_engine_observe(void *ctx, const hf_core_facts *facts)
{
    hf_engine *engine = ctx;
    hf_observer observer;
    hf_mem *mem;

    hf_mutex_lock(&engine->lock);
    observer = engine->observer;
    hf_mutex_unlock(&engine->lock);
    if (!observer.on)
        return;
    mem = hf_mem_new();
    if (!mem)
        return; /* what happened stands in the store; telling it is a courtesy */
    if (facts->begun)
        observer.on(observer.arg, "WorkflowStarted", begun_of(mem, facts));
    for (size_t i = 0; i < facts->count; i++) {
        const hf_event *event = &facts->events[i];
        const char *name = event_name(event->type);
        hf_value detail = NULL;

        if (name || is_failure(event->type))
            detail = detail_of(mem, facts, event, facts->first_seq + (int64_t)i);
        if (is_failure(event->type))
            observer.on(observer.arg, "FailureRecorded", detail);
        if (name)
            observer.on(observer.arg, name, detail);
    }
    hf_mem_free(mem);
}

void hf_observe(hf_engine *engine, const hf_observer *o)
{
    hf_observer known = {0};
    engine_slot *slot = engine ? hf_engine_slot_get(engine) : NULL;

    if (!slot || hf_options_take(&known, sizeof(known), o, &slot->err))
        return; /* hf_errmsg has it; the observer stays as it was */
    hf_mutex_lock(&engine->lock);
    engine->observer = known;
    hf_mutex_unlock(&engine->lock);
}
