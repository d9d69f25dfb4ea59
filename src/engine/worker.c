/* worker.c: the calls of worker.h. A poll is a waiter at the desk with texts of its own; a report
   waits until the core has committed what it says. */
#include "holdfast/worker.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/value.h"
#include "decide/worker_command.h"
#include "engine/bounds.h"
#include "engine/call.h"
#include "engine/errand.h"
#include "engine/handback.h"
#include "engine/standalone.h"
#include "engine/inquiry.h"
#include "model/decision_codec.h"
#include "model/envelope.h"

#define COMING_US  INT64_C(20000)   /* for what the core is about to offer */
#define HANDING_US INT64_C(1000000) /* for what is being handed over: a commit, for an attempt */

enum { TYPES_MAX = 1024, KINDS_ALL = (1 << HF_DESK_KINDS) - 1 };

typedef enum poll_state {
    POLL_WAITS,
    POLL_CALLING, /* `got` runs */
    POLL_GOT,
    POLL_LEFT /* its owner went, and a thread of the engine is on its way to it: that one frees it
               */
} poll_state;

struct hf_poll {
    hf_waiter waiter;
    hf_desk *desk;
    bool (*got)(void *arg, hf_value task);
    void *arg;
    hf_mutex lock;
    hf_cond called;
    poll_state state;
    pthread_t caller; /* of `got` */
    bool ended;       /* from inside `got` */
    bool left;        /* nothing comes any more: the owner's */
};

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
    if (engine->desk)
        return HF_OK;
    mode = engine->mode;
    if (mode != ENGINE_UNDECIDED)
        hf_engine_end(engine); /* what works begins again, with a desk */
    hf_settings_for_workers(&engine->settings);
    st = hf_registry_add(engine->registry, &hf_standalone_def, &slot->err);
    if (!st)
        st = hf_registry_store(engine->registry, hf_store_writer(engine->store), &slot->err);
    if (st)
        return st;
    st = hf_desk_open(engine->clock, &engine->desk, &slot->err);
    if (!st)
        st = hf_inquiries_open(engine->clock, &engine->inquiries, &slot->err);
    return st || mode == ENGINE_UNDECIDED ? st : hf_engine_begin(engine, mode, &slot->err);
}

static void poll_free(hf_poll *poll)
{
    hf_cond_fini(&poll->called);
    hf_mutex_fini(&poll->lock);
    hf_mem_free(poll->waiter.mem);
    hf_alloc_free(poll);
}

static bool poll_got(hf_waiter *waiter, hf_value task)
{
    hf_poll *poll = (hf_poll *)waiter;
    bool took = false;
    bool over;

    hf_mutex_lock(&poll->lock);
    over = poll->state == POLL_LEFT;
    poll->state = POLL_CALLING;
    poll->caller = pthread_self();
    hf_mutex_unlock(&poll->lock);
    if (!over) {
        took = poll->got(poll->arg, task);
        hf_mutex_lock(&poll->lock);
        over = poll->ended;
        poll->state = POLL_GOT;
        hf_cond_broadcast(&poll->called);
        hf_mutex_unlock(&poll->lock);
    }
    if (over)
        poll_free(poll);
    return took;
}

/* Its queues, and a place at each for every kind. */
static hf_status places_fill(hf_poll *poll, const hf_poll_opts *opts, hf_err *err)
{
    hf_waiter *waiter = &poll->waiter;
    size_t kinds = 0;
    size_t count = 1;
    hf_slice *queues;

    waiter->kinds = (1U << opts->kind | opts->also) & KINDS_ALL;
    for (unsigned kind = 0; kind < HF_DESK_KINDS; kind++)
        kinds += waiter->kinds >> kind & 1;
    while (opts->queues && opts->queues[count - 1] && count < HF_DESK_QUEUES_MAX)
        count++;
    queues = hf_mem_array(waiter->mem, count, sizeof(*queues));
    waiter->places = hf_mem_array(waiter->mem, count * kinds, sizeof(*waiter->places));
    if (!queues || !waiter->places)
        return hf_err_nomem(err, "a poll");
    for (size_t i = 0; i < count; i++) {
        const char *name = i ? opts->queues[i - 1] : opts->queue;

        queues[i] = hf_slice_of(hf_mem_text(waiter->mem, hf_slice_of(name)));
        if (!queues[i].ptr)
            return hf_err_nomem(err, "a poll");
    }
    waiter->queues = queues;
    waiter->queue_count = count;
    waiter->place_count = count * kinds;
    for (size_t i = 0; i < waiter->place_count; i++) {
        waiter->places[i].waiter = waiter;
        hf_list_init(&waiter->places[i].link);
    }
    return HF_OK;
}

static hf_status poll_fill(hf_poll *poll, const hf_poll_opts *opts, hf_err *err)
{
    hf_mem *mem = poll->waiter.mem;
    hf_slice *types = NULL;
    size_t count = 0;

    while (opts->types && opts->types[count] && count < TYPES_MAX)
        count++;
    if (count)
        types = hf_mem_array(mem, count, sizeof(*types));
    poll->waiter.worker = hf_slice_of(hf_mem_text(mem, hf_slice_of(opts->worker)));
    if (opts->build && *opts->build)
        poll->waiter.build = hf_slice_of(hf_mem_text(mem, hf_slice_of(opts->build)));
    if ((count && !types) || !poll->waiter.worker.ptr ||
        (opts->build && *opts->build && !poll->waiter.build.ptr))
        return hf_err_nomem(err, "a poll");
    for (size_t i = 0; i < count; i++) {
        types[i] = hf_slice_of(hf_mem_text(mem, hf_slice_of(opts->types[i])));
        if (!types[i].ptr)
            return hf_err_nomem(err, "a poll");
    }
    poll->waiter.types = types;
    poll->waiter.type_count = count;
    poll->waiter.once = opts->task != NULL;
    return opts->task ? HF_OK : places_fill(poll, opts, err);
}

/* The one task that is asked for. */
static hf_status task_claim(hf_poll *poll, const hf_poll_opts *opts, hf_err *err)
{
    hf_ulid id;

    if (!hf_ulid_parse(hf_slice_of(opts->task), &id))
        return hf_err_set(err, HF_NOTFOUND, "task_not_found: there is no task %s", opts->task);
    if (opts->kind == HF_TASK_ACTIVITY)
        return hf_errand_claim(poll->desk, &poll->waiter, 0, hf_ulid_key(&id), err);
    return hf_errand_claim(poll->desk, &poll->waiter, hf_ulid_key(&id), 0, err);
}

hf_status hf_poll_begin(hf_engine *engine, const hf_poll_opts *opts, hf_poll **out_poll)
{
    hf_poll_opts known = {0};
    hf_poll *poll;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = hf_options_take(&known, sizeof(known), opts, &c.slot->err);
    if (st)
        return st;
    opts = &known;
    if (!out_poll || (!opts->queue && !opts->task) || !opts->worker || !*opts->worker ||
        !opts->got || strlen(opts->worker) > 255)
        return hf_err_set(&c.slot->err, HF_INVALID,
                          "a poll needs a queue, a worker of 1 to 255 bytes and a function");
    if (!engine->desk)
        return hf_err_set(&c.slot->err, HF_MISUSE, "workers are not allowed: hf_workers_allow");
    poll = hf_alloc(sizeof(*poll));
    if (!poll)
        return hf_err_nomem(&c.slot->err, "a poll");
    st = hf_mutex_init(&poll->lock, &c.slot->err);
    if (st) {
        hf_alloc_free(poll);
        return st;
    }
    st = hf_cond_init(&poll->called, &c.slot->err);
    if (st) {
        hf_mutex_fini(&poll->lock);
        hf_alloc_free(poll);
        return st;
    }
    poll->desk = engine->desk;
    poll->got = opts->got;
    poll->arg = opts->arg;
    poll->waiter.namespace_key = c.in.namespace_key;
    poll->waiter.got = poll_got;
    poll->waiter.lease_us = hf_clock_after(0, opts->lease);
    poll->waiter.mem = hf_mem_new_small(); /* thousands may wait */
    st = poll->waiter.mem ? poll_fill(poll, opts, &c.slot->err)
                          : hf_err_nomem(&c.slot->err, "a poll");
    *out_poll = poll; /* `got` may be called before this returns */
    if (!st && engine->node && !hf_desk_visited(engine->desk, HF_DESK_VISIT_US))
        hf_node_look(engine->node);
    if (!st)
        st = opts->task ? task_claim(poll, opts, &c.slot->err)
                        : hf_errand_ask(engine->desk, &poll->waiter, &c.slot->err);
    if (st) {
        *out_poll = NULL;
        poll_free(poll);
    }
    return st;
}

bool hf_poll_leave(hf_poll *poll)
{
    if (poll && !poll->left)
        poll->left = hf_desk_leave(poll->desk, &poll->waiter);
    return !poll || poll->left;
}

bool hf_poll_end(hf_poll *poll)
{
    bool waited;
    bool got;
    bool inside;

    if (!poll)
        return true;
    waited = hf_poll_leave(poll);
    hf_mutex_lock(&poll->lock);
    inside = poll->state == POLL_CALLING && pthread_equal(poll->caller, pthread_self());
    poll->ended |= inside;
    while (!inside && poll->state == POLL_CALLING)
        hf_cond_wait(&poll->called, &poll->lock);
    got = poll->state != POLL_WAITS;
    if (!got && !waited)
        poll->state = POLL_LEFT;
    hf_mutex_unlock(&poll->lock);
    if (!inside && (got || waited))
        poll_free(poll);
    return !got;
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

hf_status hf_tasks_ready(hf_engine *engine, hf_task_kind kind, const char *queue, int64_t most,
                         hf_mem *mem, hf_value *out)
{
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!mem || !out || most < 1 || kind > HF_TASK_ACTIVITY)
        return hf_err_set(&c.slot->err, HF_INVALID, "workflow tasks or activities, at least one");
    if (!engine->desk)
        return hf_err_set(&c.slot->err, HF_MISUSE, "workers are not allowed: hf_workers_allow");
    if (engine->node && !hf_desk_visited(engine->desk, HF_DESK_VISIT_US))
        hf_node_look(engine->node);
    *out = hf_desk_ready(engine->desk, c.in.namespace_key, kind,
                         queue ? hf_slice_of(queue) : (hf_slice){0}, (size_t)most, mem);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "tasks");
}

/* ---- reports */

typedef struct reporter {
    hf_engine *engine;
    engine_slot *slot; /* of the thread that waits */
    bool done;
} reporter;

/* Wakes the thread that waits, and no other. */
static void reporter_tell(reporter *who)
{
    hf_engine *engine = who->engine;

    hf_mutex_lock(&engine->lock);
    who->done = true;
    hf_cond_signal(&who->slot->woken);
    hf_mutex_unlock(&engine->lock); /* it may be gone by now */
}

static void ticket_done(hf_ticket *ticket)
{
    reporter_tell(ticket->ctx);
}

static void reporter_wait(reporter *who)
{
    if (who->engine->mode != ENGINE_THREADS)
        while (!who->done)
            (void)hf_engine_pump(who->engine);
    hf_mutex_lock(&who->engine->lock);
    while (!who->done)
        hf_cond_wait(&who->slot->woken, &who->engine->lock);
    hf_mutex_unlock(&who->engine->lock);
}

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
    ticket->attempt = known.attempt;
    ticket->worker = known.worker ? hf_slice_of(known.worker) : (hf_slice){0};
    return HF_OK;
}

/* Sends the ticket through the core and waits for its answer. */
static int64_t payload_max(const hf_engine *engine)
{
    return hf_limits_get(&engine->settings.limits, HF_LIMIT_PAYLOAD_SIZE_BYTES);
}

static hf_status ticket_send(hf_call *c, hf_ticket *ticket)
{
    hf_engine *engine = c->engine;
    reporter who = {.engine = engine, .slot = c->slot};
    hf_status st = HF_OK;

    if (!engine->desk)
        return hf_err_set(&c->slot->err, HF_MISUSE, "workers are not allowed: hf_workers_allow");
    if (ticket->what != HF_TICKET_BEAT) /* else its worker would wait until there is room */
        st = hf_writer_barred(engine->writer, &c->slot->err);
    if (st)
        return st;
    ticket->done = ticket_done;
    ticket->ctx = &who;
    st = hf_errand_report(engine->core, ticket, &c->slot->err);
    if (st)
        return st;
    reporter_wait(&who);
    if (ticket->status)
        c->slot->err = ticket->err;
    return ticket->status;
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

hf_status hf_task_answer(hf_engine *engine, const hf_task_claim *claim, hf_value commands,
                         hf_mem *mem, hf_value *out_errors)
{
    hf_ticket ticket = {.kind = HF_TASK_WORKFLOW, .what = HF_TICKET_ANSWER};
    hf_worker_command *read = NULL;
    hf_value errors = NULL;
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    if (!out_errors)
        out_errors = &errors;
    *out_errors = NULL;
    if (!st && !mem)
        st = hf_err_set(&c.slot->err, HF_MISUSE, "memory is needed");
    if (!st)
        st = hf_worker_commands_read(mem, commands, &read, &ticket.answer.count, out_errors,
                                     &c.slot->err);
    if (!st && *out_errors)
        st = hf_err_set(&c.slot->err, HF_INVALID, "invalid_commands: the commands do not fit");
    for (size_t i = 0; !st && i < ticket.answer.count; i++) {
        hf_decision_failure failure;

        if (hf_bounds_payload(c.slot->scratch, payload_max(engine),
                              (int64_t)read[i].row.value.bytes.len, &failure))
            st = hf_err_set(&c.slot->err, HF_TOOBIG, "payload_too_large: %.*s",
                            (int)failure.message.len, failure.message.ptr);
    }
    ticket.answer.commands = read;
    st = st ? st : ticket_send(&c, &ticket);
    if (st == HF_INVALID && mem && !*out_errors)
        *out_errors = hf_json_(mem, "{'commands': [%s]}", c.slot->err.text);
    return st;
}

hf_status hf_task_decide(hf_engine *engine, const hf_task_claim *claim, hf_value decisions,
                         bool measured, hf_mem *mem)
{
    hf_ticket ticket = {.kind = HF_TASK_WORKFLOW,
                        .what = HF_TICKET_ANSWER,
                        .answer = {.native = true, .measured = measured}};
    hf_decision_row *rows = NULL;
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    if (!st && !mem)
        st = hf_err_set(&c.slot->err, HF_MISUSE, "memory is needed");
    if (!st)
        st = hf_decisions_read(mem, decisions, &rows, &ticket.answer.row_count, &c.slot->err);
    if (st == HF_INVALID)
        st = hf_err_because(&c.slot->err, st, "invalid_decisions");
    ticket.answer.rows = rows;
    return st ? st : ticket_send(&c, &ticket);
}

hf_status hf_task_return(hf_engine *engine, const hf_task_claim *claim, const char *message)
{
    hf_ticket ticket = {.kind = HF_TASK_WORKFLOW,
                        .what = HF_TICKET_RETURN,
                        .failure = {.message = hf_slice_of(message)}};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    return st ? st : ticket_send(&c, &ticket);
}

hf_status hf_task_release(hf_engine *engine, hf_task_kind kind, const hf_task_claim *claim)
{
    hf_ticket ticket = {.kind = kind};
    hf_task_claim known = {0};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    if (!st)
        st = hf_options_take(&known, sizeof(known), claim, &c.slot->err);
    if (st)
        return st;
    if (!engine->desk || !ticket.worker.ptr)
        return hf_err_set(&c.slot->err, HF_MISUSE, "a task is given back in its worker's name");
    if (kind == HF_TASK_WORKFLOW || kind == HF_TASK_ACTIVITY)
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
        st = ticket_send(&c, &ticket);
    if (st || !out)
        return st;
    *out = hf_json_(mem, "{'workflow_id': %s, 'run_id': %s}", ticket.instance_id, ticket.run_id);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "a task");
}

hf_status hf_task_result(hf_engine *engine, const hf_task_claim *claim, hf_value result)
{
    hf_ticket ticket = {.kind = HF_TASK_ACTIVITY, .what = HF_TICKET_RESULT};
    hf_decision_failure failure;
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    if (!st)
        st = hf_envelope_read(c.slot->scratch, result, (hf_slice){0}, &ticket.result, &c.slot->err);
    if (!st && hf_bounds_payload(c.slot->scratch, payload_max(engine),
                                 (int64_t)ticket.result.bytes.len, &failure))
        st = hf_err_set(&c.slot->err, HF_TOOBIG, "payload_too_large: %.*s",
                        (int)failure.message.len, failure.message.ptr);
    return st ? st : ticket_send(&c, &ticket);
}

hf_status hf_task_failure(hf_engine *engine, const hf_task_claim *claim, bool retryable,
                          const char *type, const char *message, hf_value details)
{
    hf_ticket ticket = {
        .kind = HF_TASK_ACTIVITY,
        .what = HF_TICKET_FAILURE,
        .failure = {.category = HF_FAILURE_CATEGORY_ACTIVITY,
                    .type = hf_slice_of(type && *type ? type : "error"),
                    .message = hf_slice_of(message && *message ? message : "the activity failed"),
                    .retryable = retryable}};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    if (!st)
        st = hf_envelope_read(c.slot->scratch, details, (hf_slice){0}, &ticket.failure.details,
                              &c.slot->err);
    return st ? st : ticket_send(&c, &ticket);
}

hf_status hf_task_beat(hf_engine *engine, const hf_task_claim *claim, hf_value progress)
{
    hf_ticket ticket = {.kind = HF_TASK_ACTIVITY, .what = HF_TICKET_BEAT};
    hf_buf text = {0};
    hf_call c;
    hf_status st = ticket_begin(&c, engine, claim, &ticket);

    if (!st && progress) {
        hf_json_write(&text, progress);
        ticket.progress = hf_buf_slice(&text);
        if (!hf_buf_ok(&text))
            st = hf_err_nomem(&c.slot->err, "progress");
    }
    if (!st)
        st = ticket_send(&c, &ticket);
    hf_buf_fini(&text);
    return st;
}

typedef struct release_call {
    hf_core_call call;
    int64_t namespace_key;
    hf_slice worker;
    bool unheard;
    int64_t count;
    reporter who;
} release_call;

static void release_run(hf_core *core, hf_core_call *call)
{
    release_call *release = (release_call *)call;

    if (core)
        release->count =
            hf_errand_give_up(core, release->namespace_key, release->worker, release->unheard);
    reporter_tell(&release->who);
}

static int64_t release_send(hf_engine *engine, const char *worker, bool unheard)
{
    release_call release = {.call = {.run = release_run},
                            .worker = hf_slice_of(worker),
                            .unheard = unheard,
                            .who = {.engine = engine}};
    hf_call c;

    if (hf_call_begin(&c, engine) || !engine->desk || !worker || !*worker)
        return 0;
    release.namespace_key = c.in.namespace_key;
    release.who.slot = c.slot;
    if (hf_core_call_post(engine->core, &release.call, &c.slot->err))
        return 0;
    reporter_wait(&release.who);
    return release.count;
}

int64_t hf_workers_release(hf_engine *engine, const char *worker)
{
    return release_send(engine, worker, false);
}

int64_t hf_workers_idle(hf_engine *engine, const char *worker)
{
    return release_send(engine, worker, true);
}
