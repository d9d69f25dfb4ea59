/* worker.c: the calls of worker.h, but for those of a poll that is there (task/poll.c). A report
   waits until the core has committed what it says. */
#include "holdfast/worker.h"

#include <string.h>

#include "base/alloc.h"
#include "base/value.h"
#include "engine/call.h"
#include "engine/errand.h"
#include "engine/handback.h"
#include "engine/standalone.h"
#include "engine/inquiry.h"
#include "engine/report.h"
#include "model/name.h"
#include "task/matching.h"

#define COMING_US  INT64_C(20000)   /* for what the core is about to offer */
#define HANDING_US INT64_C(1000000) /* for what is being handed over: a commit, for an attempt */

enum { TYPES_MAX = 1024, KINDS_ALL = (1 << HF_TASK_KINDS) - 1 };

hf_status hf_workers_allow(hf_engine *engine)
{
    engine_slot *slot = engine ? hf_engine_slot_get(engine) : NULL;
    engine_mode mode;
    hf_status st;

    if (!slot)
        return engine ? HF_NOMEM : HF_MISUSE;
    if (engine->open_error.status) {
        slot->err = engine->open_error;
        return engine->open_error.status;
    }
    if (engine->workers)
        return HF_OK;
    mode = engine->mode;
    if (mode != ENGINE_UNDECIDED)
        hf_engine_end(engine); /* what works begins again, with matching */
    hf_settings_for_workers(&engine->settings);
    st = hf_registry_add(engine->registry, &hf_standalone_def, &slot->err);
    if (!st)
        st = hf_registry_store(engine->registry, hf_store_writer(engine->store), &slot->err);
    if (st)
        return st;
    st = hf_engine_match(engine, &slot->err);
    engine->workers = !st;
    return st || mode == ENGINE_UNDECIDED ? st : hf_engine_begin(engine, mode, &slot->err);
}

/* Texts ended by NULL, at most so many, behind the first ones that are there; in `mem`. */
static hf_slice *texts_read(hf_mem *mem, const char *first, const char *const *texts, size_t most,
                            size_t *out_count)
{
    size_t count = first != NULL;
    hf_slice *read;

    for (size_t i = 0; texts && texts[i] && count < most; i++)
        count++;
    read = hf_mem_array(mem, count + 1, sizeof(*read));
    for (size_t i = 0; read && i < count; i++)
        read[i] = hf_slice_of(!first ? texts[i] : i == 0 ? first : texts[i - 1]);
    *out_count = count;
    return read;
}

/* What the worker calls itself, where it works and what it was built from. */
static hf_status poll_names_check(const hf_poll_opts *opts, hf_err *err)
{
    hf_status st = hf_name_check(HF_NAME_LEASE_OWNER, hf_slice_of(opts->worker), err);

    if (!st && opts->queue)
        st = hf_name_check(HF_NAME_QUEUE, hf_slice_of(opts->queue), err);
    for (size_t i = 0; !st && opts->queues && opts->queues[i]; i++)
        st = hf_name_check(HF_NAME_QUEUE, hf_slice_of(opts->queues[i]), err);
    if (!st && opts->build && *opts->build)
        st = hf_name_check(HF_NAME_BUILD, hf_slice_of(opts->build), err);
    return st;
}

/* The one task that is asked for. */
static hf_status task_claim(hf_matching *matching, const hf_poll_spec *spec,
                            const hf_poll_opts *opts, hf_poll **out_poll, hf_err *err)
{
    hf_ulid id;

    if (opts->kind != HF_TASK_WORKFLOW && opts->kind != HF_TASK_ACTIVITY)
        return hf_err_set(err, HF_INVALID, "workflow tasks and activities are taken by name");
    if (!hf_ulid_parse(hf_slice_of(opts->task), &id))
        return hf_err_set(err, HF_NOTFOUND, "task_not_found: there is no task %s", opts->task);
    return hf_matching_poll_task(matching, spec, opts->kind, hf_ulid_key(&id), out_poll, err);
}

hf_status hf_poll_begin(hf_engine *engine, const hf_poll_opts *opts, hf_poll **out_poll)
{
    hf_poll_spec spec = {0};
    hf_poll_opts known = {0};
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = hf_options_take(&known, sizeof(known), opts, &c.slot->err);
    if (st)
        return st;
    opts = &known;
    if (!out_poll || (!opts->queue && !opts->task) || !opts->got)
        return hf_err_set(&c.slot->err, HF_INVALID, "a poll needs a queue and a function");
    st = poll_names_check(opts, &c.slot->err);
    if (st)
        return st;
    if (!engine->matching)
        return hf_err_set(&c.slot->err, HF_MISUSE, "workers are not allowed: hf_workers_allow");
    hf_mem_reset(c.slot->scratch);
    spec.kinds = (1U << opts->kind | opts->also) & KINDS_ALL;
    spec.namespace_key = c.in.namespace_key;
    spec.queues = texts_read(c.slot->scratch, opts->queue ? opts->queue : "", opts->queues,
                             HF_MATCHING_QUEUES_MAX, &spec.queue_count);
    spec.types = texts_read(c.slot->scratch, NULL, opts->types, TYPES_MAX, &spec.type_count);
    spec.worker = hf_slice_of(opts->worker);
    if (opts->build && *opts->build)
        spec.build = hf_slice_of(opts->build);
    spec.lease_us = hf_clock_after(0, opts->lease);
    spec.got = opts->got;
    spec.arg = opts->arg;
    if (!spec.queues || !spec.types)
        return hf_err_nomem(&c.slot->err, "a poll");
    *out_poll = NULL;
    return opts->task ? task_claim(engine->matching, &spec, opts, out_poll, &c.slot->err)
                      : hf_matching_poll(engine->matching, &spec, out_poll, &c.slot->err);
}

/* ---- a poll that does not wait */

typedef struct probe {
    hf_engine *engine;
    engine_slot *slot; /* of the thread that waits */
    hf_mem *mem;
    hf_value task;
    bool done;
} probe;

static bool probe_got(void *arg, hf_value task)
{
    probe *who = arg;

    hf_mutex_lock(&who->engine->lock);
    who->task = task ? hf_value_copy(who->mem, task) : NULL;
    who->done = true;
    hf_cond_signal(&who->slot->woken);
    hf_mutex_unlock(&who->engine->lock);
    return who->task != NULL;
}

/* True: something came. */
static bool probe_wait(probe *who, int64_t wait_us)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + wait_us;
    bool done;

    if (who->engine->mode != ENGINE_THREADS)
        while (!who->done && hf_engine_pump(who->engine))
            ;
    hf_mutex_lock(&who->engine->lock);
    while (!who->done && who->engine->mode == ENGINE_THREADS &&
           !hf_cond_wait_until(&who->slot->woken, &who->engine->lock, until_us))
        ;
    done = who->done;
    hf_mutex_unlock(&who->engine->lock);
    return done;
}

hf_status hf_poll_now(hf_engine *engine, const hf_poll_opts *opts, hf_mem *mem, hf_value *out_task)
{
    probe who = {.engine = engine, .mem = mem};
    hf_poll_opts own = {0};
    hf_poll *poll = NULL;
    hf_status st;

    who.slot = hf_engine_slot_get(engine);
    if (!who.slot)
        return engine ? HF_NOMEM : HF_MISUSE;
    if (!opts || !mem || !out_task)
        return hf_err_set(&who.slot->err, HF_MISUSE,
                          "options, memory and a place for the task are needed");
    *out_task = NULL;
    st = hf_options_take(&own, sizeof(own), opts, &who.slot->err);
    if (st)
        return st;
    own.size_ = sizeof(own);
    own.got = probe_got;
    own.arg = &who;
    st = hf_poll_begin(engine, &own, &poll);
    if (st)
        return st;
    if (!probe_wait(&who, COMING_US) && hf_poll_leave(poll)) {
        (void)hf_poll_end(poll); /* nobody has anything for it */
        return HF_OK;
    }
    (void)probe_wait(&who, HANDING_US);
    (void)hf_poll_end(poll); /* `got` is not called any more */
    *out_task = who.task;
    return HF_OK;
}

/* ---- tasks that are there now */

typedef struct taker {
    hf_engine *engine;
    engine_slot *slot; /* of the thread that waits */
    hf_mem *mem;       /* for the tasks */
    size_t left;       /* polls that a task is on its way to */
} taker;

typedef struct taken {
    taker *who;
    hf_poll *poll;
    hf_value task;
} taken;

static bool taken_got(void *arg, hf_value task)
{
    taken *one = arg;
    hf_engine *engine = one->who->engine;

    hf_mutex_lock(&engine->lock);
    one->task = task ? hf_value_copy(one->who->mem, task) : NULL;
    task = one->task;
    if (--one->who->left == 0)
        hf_cond_signal(&one->who->slot->woken);
    hf_mutex_unlock(&engine->lock);
    return task != NULL;
}

static void left_add(taker *who, bool more)
{
    hf_mutex_lock(&who->engine->lock);
    if (more)
        who->left++;
    else
        who->left--;
    hf_mutex_unlock(&who->engine->lock);
}

/* A poll that waits. */
static hf_status taken_begin(taker *who, taken *one, const hf_poll_opts *opts)
{
    hf_poll_opts own = *opts;
    hf_status st;

    own.got = taken_got;
    own.arg = one;
    one->who = who;
    left_add(who, true);
    st = hf_poll_begin(who->engine, &own, &one->poll);
    if (st)
        left_add(who, false);
    return st;
}

/* It waits no more. True: it has a task, or soon will have. */
static bool taken_leave(taken *one)
{
    if (!hf_poll_leave(one->poll))
        return true;
    left_add(one->who, false);
    return false;
}

/* True: the poll has a task, or soon will have. */
static bool take_begin(taker *who, taken *one, const hf_poll_opts *opts, hf_status *out_status)
{
    *out_status = taken_begin(who, one, opts);
    if (!*out_status && taken_leave(one))
        return true;
    if (!*out_status)
        (void)hf_poll_end(one->poll);
    return false;
}

static void take_wait(taker *who)
{
    hf_engine *engine = who->engine;
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + HANDING_US;

    hf_mutex_lock(&engine->lock);
    while (who->left > 0) {
        if (engine->mode != ENGINE_THREADS) {
            hf_mutex_unlock(&engine->lock);
            (void)hf_engine_pump(engine);
            hf_mutex_lock(&engine->lock);
        } else if (hf_cond_wait_until(&who->slot->woken, &engine->lock, until_us)) {
            break; /* what comes later goes to others */
        }
    }
    hf_mutex_unlock(&engine->lock);
}

/* When what is on its way is there: how many tasks came. */
static size_t take_end(taker *who, const taken *ones, size_t count, hf_value *out_tasks)
{
    size_t came = 0;

    take_wait(who);
    for (size_t i = 0; i < count; i++) {
        (void)hf_poll_leave(ones[i].poll);
        (void)hf_poll_end(ones[i].poll); /* `got` is not called any more */
        if (ones[i].task)
            out_tasks[came++] = ones[i].task;
    }
    return came;
}

hf_status hf_tasks_take(hf_engine *engine, const hf_poll_opts *opts, size_t most, hf_mem *mem,
                        hf_value *out_tasks, size_t *out_count)
{
    taker who = {.engine = engine, .slot = engine ? hf_engine_slot_get(engine) : NULL, .mem = mem};
    taken ones[HF_TASKS_TAKE_MAX] = {0};
    hf_poll_opts own = {0};
    size_t count = 0;
    hf_status st;

    if (!who.slot)
        return engine ? HF_NOMEM : HF_MISUSE;
    if (!opts || !mem || !out_tasks || !out_count || most < 1 || most > HF_TASKS_TAKE_MAX)
        return hf_err_set(&who.slot->err, HF_MISUSE,
                          "opts, mem and out must not be NULL, most is from 1 to %d",
                          HF_TASKS_TAKE_MAX);
    *out_count = 0;
    st = hf_options_take(&own, sizeof(own), opts, &who.slot->err);
    own.size_ = sizeof(own);
    while (!st && count < most && take_begin(&who, &ones[count], &own, &st))
        count++;
    *out_count = take_end(&who, ones, count, out_tasks);
    return *out_count ? HF_OK : st;
}

struct hf_tasks {
    taker who;   /* with an arena of its own: tasks come while the caller is busy with his */
    hf_mem *mem; /* the caller's */
    size_t count;
    taken ones[];
};

hf_status hf_tasks_begin(hf_engine *engine, const hf_poll_opts *opts, size_t most, hf_mem *mem,
                         hf_tasks **out_tasks)
{
    engine_slot *slot = engine ? hf_engine_slot_get(engine) : NULL;
    hf_poll_opts own = {0};
    hf_tasks *tasks;
    hf_status st;

    if (!slot)
        return engine ? HF_NOMEM : HF_MISUSE;
    if (!opts || !mem || !out_tasks || most < 1 || most > HF_TASKS_TAKE_MAX)
        return hf_err_set(&slot->err, HF_MISUSE,
                          "opts, mem and out must not be NULL, most is from 1 to %d",
                          HF_TASKS_TAKE_MAX);
    *out_tasks = NULL;
    st = hf_options_take(&own, sizeof(own), opts, &slot->err);
    own.size_ = sizeof(own);
    tasks = st ? NULL : hf_mem_alloc(mem, sizeof(*tasks) + most * sizeof(tasks->ones[0]));
    if (!tasks)
        return st ? st : hf_err_nomem(&slot->err, "polls");
    tasks->mem = mem;
    tasks->who = (taker){.engine = engine, .slot = slot, .mem = hf_mem_new_small()};
    if (!tasks->who.mem)
        return hf_err_nomem(&slot->err, "polls");
    while (!st && tasks->count < most) {
        st = taken_begin(&tasks->who, &tasks->ones[tasks->count], &own);
        tasks->count += !st;
    }
    *out_tasks = tasks;
    return HF_OK; /* as many as there could be */
}

void hf_tasks_end(hf_tasks *tasks, hf_value *out_tasks, size_t *out_count)
{
    size_t count;

    *out_count = 0;
    if (!tasks)
        return;
    for (size_t i = 0; i < tasks->count; i++)
        (void)taken_leave(&tasks->ones[i]);
    count = take_end(&tasks->who, tasks->ones, tasks->count, out_tasks);
    for (size_t i = 0; i < count; i++) {
        out_tasks[*out_count] = hf_value_copy(tasks->mem, out_tasks[i]);
        *out_count += out_tasks[*out_count] != NULL; /* else its lease runs out */
    }
    hf_mem_free(tasks->who.mem);
}

hf_status hf_tasks_ready(hf_engine *engine, hf_task_kind kind, const char *queue, int64_t most,
                         hf_mem *mem, hf_value *out)
{
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!mem || !out || most < 1 || kind > HF_TASK_ACTIVITY)
        return hf_err_set(&c.slot->err, HF_INVALID, "workflow tasks or activities, at least one");
    if (!engine->matching)
        return hf_err_set(&c.slot->err, HF_MISUSE, "workers are not allowed: hf_workers_allow");
    *out = hf_matching_ready(engine->matching, c.in.namespace_key, kind,
                             queue ? hf_slice_of(queue) : (hf_slice){0}, (size_t)most, mem);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "tasks");
}

/* ---- reports */

static hf_status claim_read(const hf_task_claim *claim, hf_ticket *ticket, hf_err *err)
{
    hf_task_claim known = {0};
    hf_ulid id;
    hf_status st = hf_options_take(&known, sizeof(known), claim, err);

    if (st)
        return st;
    if (!known.task_id)
        return hf_err_set(err, HF_INVALID, "a report needs a task");
    if (!hf_ulid_parse(hf_slice_of(known.task_id), &id))
        return hf_err_set(err, HF_REJECTED, "task_not_found: there is no task %s", known.task_id);
    ticket->key = hf_ulid_key(&id);
    ticket->number = hf_ulid_counter(&id);
    ticket->attempt = known.attempt;
    ticket->worker = known.worker ? hf_slice_of(known.worker) : (hf_slice){0};
    return HF_OK;
}

static int64_t payload_max(const hf_engine *engine)
{
    return hf_limits_get(&engine->settings.limits, HF_LIMIT_PAYLOAD_SIZE_BYTES);
}

static hf_status ticket_begin(hf_call *c, hf_engine *engine, const hf_task_claim *claim,
                              hf_ticket *ticket)
{
    hf_status st = hf_call_begin(c, engine);

    if (st)
        return st;
    hf_mem_reset(c->slot->scratch);
    ticket->namespace_key = c->in.namespace_key;
    return claim_read(claim, ticket, &c->slot->err);
}

/* Reads what is said, in the arena, and has it carried out. */
static hf_status ticket_report(hf_call *c, hf_ticket *ticket, hf_mem *mem, hf_value *out_errors)
{
    hf_status st = hf_report_read(mem, ticket, payload_max(c->engine), out_errors, &c->slot->err);

    return st ? st : hf_report_send(c, ticket);
}

hf_status hf_task_answer(hf_engine *engine, const hf_task_claim *claim, hf_value commands,
                         hf_mem *mem, hf_value *out_errors)
{
    hf_ticket ticket = {.kind = HF_TASK_WORKFLOW, .what = HF_TICKET_ANSWER, .said = commands};
    hf_value errors = NULL;
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    if (!out_errors)
        out_errors = &errors;
    *out_errors = NULL;
    if (!st && !mem)
        st = hf_err_set(&c.slot->err, HF_MISUSE, "memory is needed");
    if (!st)
        st = ticket_report(&c, &ticket, mem, out_errors);
    if (st == HF_INVALID && mem && !*out_errors)
        *out_errors = hf_json_(mem, "{'commands': [%s]}", c.slot->err.text);
    return st;
}

hf_status hf_task_idle(hf_engine *engine, const hf_task_claim *claim)
{
    hf_ticket ticket = {.kind = HF_TASK_WORKFLOW, .what = HF_TICKET_ANSWER, .idle = true};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    return st ? st : ticket_report(&c, &ticket, c.slot->scratch, NULL);
}

hf_status hf_task_decide(hf_engine *engine, const hf_task_claim *claim, hf_value decisions,
                         bool measured, hf_mem *mem)
{
    hf_ticket ticket = {.kind = HF_TASK_WORKFLOW,
                        .what = HF_TICKET_ANSWER,
                        .answer = {.native = true, .measured = measured},
                        .said = decisions};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    if (!st && !mem)
        st = hf_err_set(&c.slot->err, HF_MISUSE, "memory is needed");
    return st ? st : ticket_report(&c, &ticket, mem, NULL);
}

hf_status hf_task_step_ended(hf_engine *engine, const hf_task_claim *claim, hf_value end,
                             hf_mem *mem)
{
    hf_ticket ticket = {.kind = HF_TASK_WORKFLOW, .what = HF_TICKET_ANSWER, .said = end};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    if (!st && !mem)
        st = hf_err_set(&c.slot->err, HF_MISUSE, "memory is needed");
    ticket.step = true;
    return st ? st : ticket_report(&c, &ticket, mem, NULL);
}

hf_status hf_task_fail(hf_engine *engine, const hf_task_claim *claim, hf_value failure)
{
    hf_ticket ticket = {.kind = HF_TASK_WORKFLOW, .what = HF_TICKET_RETURN, .said = failure};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    return st ? st : ticket_report(&c, &ticket, c.slot->scratch, NULL);
}

hf_status hf_task_return(hf_engine *engine, const hf_task_claim *claim, const char *message)
{
    hf_mem *mem = hf_mem_new_small();
    hf_status st = hf_task_fail(engine, claim,
                                mem && message ? hf_value_string(mem, hf_slice_of(message)) : NULL);

    hf_mem_free(mem);
    return st;
}

hf_status hf_task_release(hf_engine *engine, hf_task_kind kind, const hf_task_claim *claim)
{
    hf_ticket ticket = {.kind = kind == HF_TASK_STEP ? HF_TASK_WORKFLOW : kind,
                        .what = HF_TICKET_BACK};
    hf_task_claim known = {0};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    if (!st)
        st = hf_options_take(&known, sizeof(known), claim, &c.slot->err);
    if (st)
        return st;
    if (!engine->matching || !ticket.worker.ptr)
        return hf_err_set(&c.slot->err, HF_MISUSE, "a task is given back in its worker's name");
    if (ticket.kind == HF_TASK_WORKFLOW || kind == HF_TASK_ACTIVITY)
        return hf_handback_post(engine->core, &ticket, &c.slot->err);
    hf_inquiry_give_back(engine->inquiries, kind, &known);
    return HF_OK;
}

hf_status hf_task_extend(hf_engine *engine, const hf_task_claim *claim, hf_mem *mem, hf_value *out)
{
    hf_ticket ticket = {.kind = HF_TASK_WORKFLOW, .what = HF_TICKET_BEAT, .mem = out ? mem : NULL};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    if (!st)
        st = hf_report_send(&c, &ticket);
    if (st || !out)
        return st;
    *out = hf_json_(mem, "{'workflow_id': %s, 'run_id': %s, 'lease_expires_at': %lld}",
                    ticket.instance_id, ticket.run_id, (long long)ticket.until_us);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "a task");
}

hf_status hf_task_result(hf_engine *engine, const hf_task_claim *claim, hf_value result)
{
    hf_ticket ticket = {.kind = HF_TASK_ACTIVITY, .what = HF_TICKET_RESULT, .said = result};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    return st ? st : ticket_report(&c, &ticket, c.slot->scratch, NULL);
}

static hf_decision_failure failure_of(bool retryable, const char *type, const char *message)
{
    return (hf_decision_failure){
        .category = HF_FAILURE_CATEGORY_ACTIVITY,
        .type = hf_slice_of(type && *type ? type : "error"),
        .message = hf_slice_of(message && *message ? message : "the activity failed"),
        .retryable = retryable};
}

hf_status hf_task_failure(hf_engine *engine, const hf_task_claim *claim, bool retryable,
                          const char *type, const char *message, hf_value details)
{
    hf_ticket ticket = {.kind = HF_TASK_ACTIVITY,
                        .what = HF_TICKET_FAILURE,
                        .failure = failure_of(retryable, type, message),
                        .said = details};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    return st ? st : ticket_report(&c, &ticket, c.slot->scratch, NULL);
}

hf_status hf_task_crashed(hf_engine *engine, hf_task_kind kind, const hf_task_claim *claim)
{
    hf_ticket ticket = {.kind = kind == HF_TASK_ACTIVITY ? HF_TASK_ACTIVITY : HF_TASK_WORKFLOW,
                        .what = HF_TICKET_CRASH};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    if (!st && (kind == HF_TASK_QUERY || kind == HF_TASK_VALIDATION))
        st = hf_err_set(&c.slot->err, HF_INVALID, "a question is asked again by whoever asked it");
    return st ? st : ticket_report(&c, &ticket, c.slot->scratch, NULL);
}

hf_status hf_task_beat(hf_engine *engine, const hf_task_claim *claim, hf_value progress)
{
    hf_ticket ticket = {.kind = HF_TASK_ACTIVITY, .what = HF_TICKET_BEAT, .said = progress};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    return st ? st : ticket_report(&c, &ticket, c.slot->scratch, NULL);
}

/* ---- many reports */

/* One of hf_tasks_report as the ticket of the call that it would be. */
static hf_status report_take(hf_call *c, hf_ticket *ticket, const char *worker, hf_value said,
                             hf_mem *mem)
{
    const hf_task_claim claim = {.size_ = sizeof(claim),
                                 .task_id = hf_str(said, "task_id", NULL),
                                 .worker = worker,
                                 .attempt = hf_int(said, "attempt", 0)};
    hf_value failure = hf_get(said, "failure");
    hf_value decisions = hf_get(said, "decisions");
    hf_value result = hf_get(said, "result");
    hf_value step = hf_get(said, "step");
    hf_status st = claim_read(&claim, ticket, &c->slot->err);

    if (st)
        return st;
    ticket->namespace_key = c->in.namespace_key;
    ticket->kind = decisions || step ? HF_TASK_WORKFLOW : HF_TASK_ACTIVITY;
    if (step) {
        ticket->what = HF_TICKET_ANSWER;
        ticket->step = true;
        ticket->said = step;
    } else if (decisions) {
        ticket->what = HF_TICKET_ANSWER;
        ticket->answer =
            (hf_worker_answer){.native = true, .measured = hf_bool(said, "measured", false)};
        ticket->said = decisions;
    } else if (failure) {
        ticket->what = HF_TICKET_FAILURE;
        ticket->failure =
            failure_of(!hf_bool(failure, "non_retryable", false), hf_str(failure, "type", NULL),
                       hf_str(failure, "message", NULL));
        ticket->said = hf_get(failure, "details");
    } else if (result) {
        ticket->what = HF_TICKET_RESULT;
        ticket->said = result;
    } else {
        return hf_err_set(&c->slot->err, HF_INVALID,
                          "invalid_report: it has decisions, a step, a result or a failure");
    }
    return hf_report_read(mem, ticket, payload_max(c->engine), NULL, &c->slot->err);
}

hf_status hf_tasks_report(hf_engine *engine, const char *worker, hf_value reports, hf_mem *mem,
                          hf_report_end *out_ends)
{
    size_t count = hf_len(reports);
    hf_ticket **good;
    hf_ticket *tickets;
    size_t sent = 0;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!mem || !out_ends || !worker || !*worker)
        return hf_err_set(&c.slot->err, HF_MISUSE, "worker, mem and out must not be NULL");
    tickets = hf_mem_array(mem, count + 1, sizeof(*tickets));
    good = hf_mem_array(mem, count + 1, sizeof(hf_ticket *));
    if (!tickets || !good)
        return hf_err_nomem(&c.slot->err, "reports");
    for (size_t i = 0; i < count; i++) {
        tickets[i].status = report_take(&c, &tickets[i], worker, hf_at(reports, i), mem);
        if (tickets[i].status)
            tickets[i].err = c.slot->err;
        else
            good[sent++] = &tickets[i];
    }
    st = hf_report_send_all(&c, good, sent);
    for (size_t i = 0; !st && i < count; i++) {
        const char *why =
            tickets[i].status ? hf_mem_text(mem, hf_slice_of(tickets[i].err.text)) : "";

        out_ends[i] = (hf_report_end){.status = tickets[i].status, .message = why ? why : ""};
    }
    return st;
}

static int64_t release_send(hf_engine *engine, const char *worker, bool unheard)
{
    hf_call c;

    if (hf_call_begin(&c, engine) || !engine->matching || !worker || !*worker)
        return 0;
    return hf_report_give_up(&c, hf_slice_of(worker), unheard);
}

int64_t hf_workers_release(hf_engine *engine, const char *worker)
{
    return release_send(engine, worker, false);
}

int64_t hf_workers_idle(hf_engine *engine, const char *worker)
{
    return release_send(engine, worker, true);
}
