/* report.c: see report.h. */
#include "engine/report.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/value.h"
#include "decide/worker_command.h"
#include "engine/bounds.h"
#include "engine/carrier.h"
#include "engine/errand.h"
#include "engine/handback.h"
#include "engine/inquiry.h"
#include "engine/task_fault.h"
#include "model/decision_codec.h"
#include "model/envelope.h"
#include "model/step_codec.h"

enum { LEASES = 2 }; /* of nodes, that a report waits for an owner of its run */

/* Beside the kinds of reports, on the wire: see give_up_ask. */
#define GIVE_UP  "give_up"
#define QUESTION "question"
#define HEARD    "heard"

static const char *const names[] = {
    [HF_TICKET_ANSWER] = "answer",   [HF_TICKET_RETURN] = "return", [HF_TICKET_RESULT] = "result",
    [HF_TICKET_FAILURE] = "failure", [HF_TICKET_BEAT] = "beat",     [HF_TICKET_BACK] = "back",
    [HF_TICKET_CRASH] = "crash"};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* ---- what is said */

static hf_status commands_read(hf_mem *mem, hf_ticket *ticket, int64_t payload_max,
                               hf_value *out_errors, hf_err *err)
{
    hf_worker_command *read = NULL;
    hf_value errors = NULL;
    hf_status st =
        hf_worker_commands_read(mem, ticket->said, &read, &ticket->answer.count, &errors, err);

    if (!st && errors)
        st = hf_err_set(err, HF_INVALID, "invalid_commands: the commands do not fit");
    for (size_t i = 0; !st && i < ticket->answer.count; i++) {
        hf_decision_failure failure;

        if (hf_bounds_payload(mem, payload_max, (int64_t)read[i].row.value.bytes.len, &failure))
            st = hf_err_set(err, HF_TOOBIG, "payload_too_large: %.*s", (int)failure.message.len,
                            failure.message.ptr);
    }
    ticket->answer.commands = read;
    if (out_errors)
        *out_errors = errors;
    return st;
}

static hf_status decisions_read(hf_mem *mem, hf_ticket *ticket, hf_err *err)
{
    hf_decision_row *rows = NULL;
    hf_status st = hf_decisions_read(mem, ticket->said, &rows, &ticket->answer.row_count, err);

    ticket->answer.rows = rows;
    return st == HF_INVALID ? hf_err_because(err, st, "invalid_decisions") : st;
}

/* How a machine's step ended. */
static hf_status step_read(hf_mem *mem, hf_ticket *ticket, int64_t payload_max, hf_err *err)
{
    hf_step_end *end = hf_mem_alloc(mem, sizeof(*end));
    hf_decision_failure failure;
    int64_t most = 0;
    hf_status st =
        end ? hf_step_end_read(mem, ticket->said, end, err) : hf_err_nomem(err, "a step");

    if (st)
        return st == HF_INVALID ? hf_err_because(err, st, "invalid_step") : st;
    most = (int64_t)(end->state.bytes.len > end->result.bytes.len ? end->state.bytes.len
                                                                  : end->result.bytes.len);
    for (size_t i = 0; i < end->start_count; i++)
        if ((int64_t)end->starts[i].input.bytes.len > most)
            most = (int64_t)end->starts[i].input.bytes.len;
    if (hf_bounds_payload(mem, payload_max, most, &failure))
        return hf_err_set(err, HF_TOOBIG, "payload_too_large: %.*s", (int)failure.message.len,
                          failure.message.ptr);
    ticket->answer.ended = end;
    return HF_OK;
}

static hf_status result_read(hf_mem *mem, hf_ticket *ticket, int64_t payload_max, hf_err *err)
{
    hf_decision_failure failure;
    hf_status st = hf_envelope_read(mem, ticket->said, (hf_slice){0}, &ticket->result, err);

    if (!st && hf_bounds_payload(mem, payload_max, (int64_t)ticket->result.bytes.len, &failure))
        st = hf_err_set(err, HF_TOOBIG, "payload_too_large: %.*s", (int)failure.message.len,
                        failure.message.ptr);
    return st;
}

/* One that tells of a limit came to nothing because its result is none that can be recorded. */
static hf_status failure_read(hf_mem *mem, hf_ticket *ticket, hf_err *err)
{
    hf_decision_payload *details = &ticket->failure.details;
    hf_value said = NULL;
    hf_status st = hf_envelope_read(mem, ticket->said, (hf_slice){0}, details, err);

    if (!st && details->bytes.ptr && !hf_envelope_value(mem, details, &said, NULL) &&
        hf_str(said, "structural_limit_kind", NULL))
        ticket->failure.category = HF_FAILURE_CATEGORY_STRUCTURAL_LIMIT;
    return st;
}

static hf_status progress_read(hf_mem *mem, hf_ticket *ticket, hf_err *err)
{
    const char *text = ticket->said ? hf_text(mem, ticket->said) : NULL;

    ticket->progress = text ? hf_slice_of(text) : (hf_slice){0};
    return ticket->said && !text ? hf_err_nomem(err, "progress") : HF_OK;
}

static hf_status fault_read(hf_mem *mem, hf_ticket *ticket, hf_err *err)
{
    hf_task_fault *fault = hf_mem_alloc(mem, sizeof(*fault));
    hf_status st =
        fault ? hf_task_fault_read(mem, ticket->said, fault, err) : hf_err_nomem(err, "a failure");

    ticket->fault = st ? NULL : fault;
    return st;
}

hf_status hf_report_read(hf_mem *mem, hf_ticket *ticket, int64_t payload_max, hf_value *out_errors,
                         hf_err *err)
{
    switch (ticket->what) {
    case HF_TICKET_ANSWER:
        return ticket->idle            ? HF_OK
               : ticket->step          ? step_read(mem, ticket, payload_max, err)
               : ticket->answer.native ? decisions_read(mem, ticket, err)
                                       : commands_read(mem, ticket, payload_max, out_errors, err);
    case HF_TICKET_RESULT:
        return result_read(mem, ticket, payload_max, err);
    case HF_TICKET_FAILURE:
        return failure_read(mem, ticket, err);
    case HF_TICKET_BEAT:
        return progress_read(mem, ticket, err);
    case HF_TICKET_RETURN:
        return fault_read(mem, ticket, err);
    case HF_TICKET_BACK:
    case HF_TICKET_CRASH:
        break;
    }
    return HF_OK;
}

/* ---- a report as a letter */

static void text_add(hf_buf *text, const char *name, hf_slice value)
{
    if (!value.ptr)
        return;
    hf_buf_add_format(text, ",\"%s\":\"", name);
    hf_json_add_escaped(text, value);
    hf_buf_add_byte(text, '"');
}

static void report_write(const hf_ticket *ticket, hf_buf *text)
{
    hf_buf_add_format(text,
                      "{\"what\":\"%s\",\"kind\":%d,\"key\":%lld,\"attempt\":%lld,\"number\":%u,"
                      "\"namespace\":%lld"
                      ",\"shard\":%lld",
                      names[ticket->what], (int)ticket->kind, (long long)ticket->key,
                      (long long)ticket->attempt, (unsigned)ticket->number,
                      (long long)ticket->namespace_key, (long long)ticket->shard);
    text_add(text, "worker", ticket->worker);
    text_add(text, "type", ticket->failure.type);
    text_add(text, "message", ticket->failure.message);
    if (ticket->failure.retryable)
        hf_buf_add_text(text, ",\"retryable\":true");
    if (ticket->answer.native)
        hf_buf_add_format(text, ",\"native\":true,\"measured\":%s",
                          ticket->answer.measured ? "true" : "false");
    if (ticket->step)
        hf_buf_add_text(text, ",\"step\":true");
    if (ticket->idle)
        hf_buf_add_text(text, ",\"idle\":true");
    if (ticket->mem)
        hf_buf_add_text(text, ",\"asks\":true");
    if (ticket->said) {
        hf_buf_add_text(text, ",\"said\":");
        hf_json_write(text, ticket->said);
    }
    hf_buf_add_byte(text, '}');
}

static hf_slice text_take(hf_value ask, const char *name)
{
    const char *text = hf_str(ask, name, NULL);

    return text ? hf_slice_of(text) : (hf_slice){0};
}

/* False: it is a newer node's. */
static bool report_take(hf_mem *mem, hf_value ask, hf_ticket *ticket)
{
    const char *what = hf_str(ask, "what", "");
    int64_t kind = hf_int(ask, "kind", -1);
    size_t at = 0;

    while (at < NAMES && strcmp(names[at], what) != 0)
        at++;
    if (at == NAMES || (kind != HF_TASK_WORKFLOW && kind != HF_TASK_ACTIVITY))
        return false;
    *ticket = (hf_ticket){.kind = (hf_task_kind)kind,
                          .key = hf_int(ask, "key", 0),
                          .attempt = hf_int(ask, "attempt", 0),
                          .number = (uint32_t)hf_int(ask, "number", 0),
                          .namespace_key = hf_int(ask, "namespace", 0),
                          .shard = hf_int(ask, "shard", HF_NONE),
                          .worker = text_take(ask, "worker"),
                          .what = (enum hf_ticket_what)at,
                          .step = hf_bool(ask, "step", false),
                          .idle = hf_bool(ask, "idle", false),
                          .answer = {.native = hf_bool(ask, "native", false),
                                     .measured = hf_bool(ask, "measured", false)},
                          .failure = {.category = HF_FAILURE_CATEGORY_ACTIVITY,
                                      .type = text_take(ask, "type"),
                                      .message = text_take(ask, "message"),
                                      .retryable = hf_bool(ask, "retryable", false)},
                          .said = hf_get(ask, "said"),
                          .mem = hf_bool(ask, "asks", false) ? mem : NULL};
    return true;
}

/* ---- at the node that has the run */

typedef struct visitor {
    hf_ticket ticket;
    hf_mem *mem;
    hf_engine *engine;
    int64_t number;
} visitor;

static void visitor_answer(visitor *from, hf_value answer)
{
    hf_buf text = {0};

    hf_json_write(&text, answer);
    if (answer && hf_buf_ok(&text))
        hf_carrier_answer(from->engine->carrier, from->number, hf_buf_slice(&text));
    else
        hf_carrier_answer(from->engine->carrier, from->number, (hf_slice){0});
    hf_buf_fini(&text);
    hf_mem_free(from->mem);
    hf_alloc_free(from);
}

/* hf_ticket.done: the run went elsewhere before it was committed, or it is carried out. */
static void visitor_done(hf_ticket *ticket)
{
    visitor *from = ticket->ctx;
    hf_value answer = NULL;

    if (ticket->status != HF_RETRY && ticket->status != HF_STOPPED)
        answer =
            hf_json_(from->mem, "{'status': %d, 'text': %s, 'id': %s, 'run_id': %s, 'until': %lld}",
                     (int)ticket->status, ticket->status ? ticket->err.text : NULL,
                     ticket->instance_id, ticket->run_id, (long long)ticket->until_us);
    visitor_answer(from, answer);
}

typedef struct give_up_call {
    hf_core_call call;
    visitor *from;
    int64_t namespace_key;
    hf_slice worker;
    bool unheard;
} give_up_call;

static void give_up_run(hf_core *core, hf_core_call *call)
{
    const give_up_call *up = (give_up_call *)call;
    int64_t count = core ? hf_errand_give_up(core, up->namespace_key, up->worker, up->unheard) : 0;

    visitor_answer(up->from, hf_json_(up->from->mem, "{'count': %lld}", (long long)count));
}

/* {"what": "give_up", "namespace", "worker", "unheard"} */
static hf_status give_up_take(visitor *from, hf_value ask, hf_err *err)
{
    give_up_call *up = hf_mem_alloc(from->mem, sizeof(*up));

    if (!up)
        return hf_err_nomem(err, "a worker that went");
    *up = (give_up_call){.call = {.run = give_up_run},
                         .from = from,
                         .namespace_key = hf_int(ask, "namespace", 0),
                         .worker = text_take(ask, "worker"),
                         .unheard = hf_bool(ask, "unheard", false)};
    return hf_core_call_post(from->engine->core, &up->call, err);
}

/* {"what": "question", "namespace", "kind", "task_id", "worker", "attempt", "end", "value",
   "reason", "message", "errors"} */
static hf_status question_take(visitor *from, hf_value ask)
{
    const hf_task_claim claim = {.size_ = sizeof(claim),
                                 .task_id = hf_str(ask, "task_id", ""),
                                 .worker = hf_str(ask, "worker", ""),
                                 .attempt = hf_int(ask, "attempt", 0)};
    bool answered = hf_int(ask, "end", 0) == HF_INQUIRY_ANSWERED;
    hf_value errors = hf_get(ask, "errors");
    hf_task_kind kind =
        hf_int(ask, "kind", 0) == HF_TASK_QUERY ? HF_TASK_QUERY : HF_TASK_VALIDATION;
    const hf_inquiry_ask said = {
        .end = answered ? HF_INQUIRY_ANSWERED : HF_INQUIRY_REFUSED,
        .value = answered && kind == HF_TASK_QUERY ? hf_get(ask, "value") : NULL,
        .reason = hf_str(ask, "reason", ""),
        .message = hf_str(ask, "message", ""),
        .validation_errors = hf_value_kind_of(errors) == HF_VALUE_OBJECT ? errors : NULL};
    hf_err err = {0};
    hf_status st = from->engine->inquiries
                       ? hf_inquiry_said(from->engine->inquiries, hf_int(ask, "namespace", 0), kind,
                                         &claim, &said, &err)
                       : hf_err_set(&err, HF_REJECTED, "query_task_not_found: nobody asks here");

    visitor_answer(from, hf_json_(from->mem, "{'status': %d, 'text': %s}", (int)st, err.text));
    return HF_OK;
}

/* {"what": "heard", "space", "worker", "within_us"} */
static hf_status heard_take(visitor *from, hf_value ask)
{
    bool heard = hf_engine_hears(from->engine, hf_str(ask, "space", ""), hf_str(ask, "worker", ""),
                                 hf_int(ask, "within_us", 0));

    visitor_answer(from, hf_json_(from->mem, "{'heard': %p}", (const void *)hf_value_bool(heard)));
    return HF_OK;
}

static hf_status visitor_take(visitor *from, hf_value ask, bool tried, hf_err *err)
{
    hf_ticket *ticket = &from->ticket;
    hf_status st;

    if (!ask)
        return hf_err_nomem(err, "a report");
    if (strcmp(hf_str(ask, "what", ""), GIVE_UP) == 0)
        return give_up_take(from, ask, err);
    if (strcmp(hf_str(ask, "what", ""), QUESTION) == 0)
        return question_take(from, ask);
    if (strcmp(hf_str(ask, "what", ""), HEARD) == 0)
        return heard_take(from, ask);
    if (!report_take(from->mem, ask, ticket))
        return hf_err_set(err, HF_INVALID, "a report of a newer node");
    ticket->tried = tried;
    ticket->done = visitor_done;
    ticket->ctx = from;
    st = hf_report_read(from->mem, ticket,
                        hf_limits_get(&from->engine->settings.limits, HF_LIMIT_PAYLOAD_SIZE_BYTES),
                        NULL, err);
    return st ? st : hf_errand_report(from->engine->core, ticket, err);
}

void hf_report_asked(void *ctx, int64_t number, bool tried, hf_value ask)
{
    hf_engine *engine = ctx;
    visitor *from = hf_alloc(sizeof(*from));
    hf_err err = {0};
    hf_status st;

    if (!from) {
        hf_carrier_answer(engine->carrier, number, (hf_slice){0});
        return;
    }
    from->engine = engine;
    from->number = number;
    from->mem = hf_mem_new_small();
    st = from->mem ? visitor_take(from, hf_value_copy(from->mem, ask), tried, &err) : HF_NOMEM;
    if (st == HF_NOMEM)
        visitor_answer(from, NULL);
    else if (st)
        visitor_answer(from, hf_json_(from->mem, "{'status': %d, 'text': %s}", (int)st, err.text));
}

/* ---- at the node that it came to */

/* A thread that waits, for the core or for the carrier. */
typedef struct waiter {
    hf_engine *engine;
    engine_slot *slot;
    size_t done;   /* answers that came */
    size_t wanted; /* of so many; 0: of one */
} waiter;

static bool waiter_served(const waiter *who)
{
    return who->done > 0 && who->done >= who->wanted;
}

static void waiter_tell(waiter *who)
{
    hf_engine *engine = who->engine;

    hf_mutex_lock(&engine->lock);
    who->done++;
    if (waiter_served(who))
        hf_cond_signal(&who->slot->woken);
    hf_mutex_unlock(&engine->lock); /* it may be gone by now */
}

static void waiter_wait(waiter *who)
{
    if (who->engine->mode != ENGINE_THREADS)
        while (!waiter_served(who))
            (void)hf_engine_pump(who->engine);
    hf_mutex_lock(&who->engine->lock);
    while (!waiter_served(who))
        hf_cond_wait(&who->slot->woken, &who->engine->lock);
    hf_mutex_unlock(&who->engine->lock);
}

static void ticket_done(hf_ticket *ticket)
{
    waiter_tell(ticket->ctx);
}

static void carried_done(hf_carried *carried)
{
    waiter_tell(carried->ctx);
}

static hf_status ticket_try(hf_call *c, hf_ticket *ticket)
{
    waiter who = {.engine = c->engine, .slot = c->slot};
    hf_status st;

    ticket->done = ticket_done;
    ticket->ctx = &who;
    ticket->early = 0;
    st = hf_errand_report(c->engine->core, ticket, &ticket->err);
    if (st)
        return st;
    waiter_wait(&who);
    return ticket->status;
}

/* The answer of the node that carried it out. */
static hf_status answer_read(hf_value answer, hf_err *err)
{
    hf_status st = (hf_status)hf_int(answer, "status", HF_ERROR);

    return st ? hf_err_set(err, st, "%s", hf_str(answer, "text", "")) : HF_OK;
}

/* HF_CONFLICT: the run has come to this node. */
static hf_status ticket_carry(hf_call *c, hf_ticket *ticket, hf_buf *text, int64_t for_us)
{
    waiter who = {.engine = c->engine, .slot = c->slot};
    hf_mem *mem = hf_mem_new_small();
    hf_carried carried = {.shard = ticket->shard,
                          .node = HF_NONE,
                          .ask = hf_buf_slice(text),
                          .for_us = for_us,
                          .mem = mem,
                          .done = carried_done,
                          .ctx = &who,
                          .tried = ticket->tried};
    hf_status st = mem ? hf_carrier_ask(c->engine->carrier, &carried, &ticket->err)
                       : hf_err_nomem(&ticket->err, "a report");

    if (!st) {
        waiter_wait(&who);
        st = carried.status;
        ticket->tried = carried.tried;
        if (st == HF_OK)
            st = answer_read(carried.answer, &ticket->err);
        else if (st == HF_RETRY)
            (void)hf_err_set(&ticket->err, HF_RETRY,
                             "no_owner: no server has the run now: say it again");
        else if (st != HF_CONFLICT)
            (void)hf_err_set(&ticket->err, st, "the report could not be carried");
    }
    if (!st && ticket->mem) {
        ticket->instance_id =
            hf_mem_text(ticket->mem, hf_slice_of(hf_str(carried.answer, "id", "")));
        ticket->run_id =
            hf_mem_text(ticket->mem, hf_slice_of(hf_str(carried.answer, "run_id", "")));
        ticket->until_us = hf_int(carried.answer, "until", 0);
    }
    hf_mem_free(mem);
    return st;
}

static int64_t report_patience_us(const hf_engine *engine)
{
    return LEASES * hf_shards_lease_us(hf_node_shards(engine->node));
}

/* Posts all of them before the first is waited for, so that they share commits. */
static void tickets_try(hf_call *c, hf_ticket *const *tickets, size_t count)
{
    waiter who = {.engine = c->engine, .slot = c->slot, .wanted = count};

    for (size_t i = 0; i < count; i++) {
        hf_ticket *ticket = tickets[i];
        hf_status st;

        ticket->done = ticket_done;
        ticket->ctx = &who;
        ticket->shard = HF_NONE;
        st = hf_errand_report(c->engine->core, ticket, &c->slot->err);
        if (!st)
            continue; /* it is the core's until it is done */
        ticket->status = st;
        ticket->err = c->slot->err;
        waiter_tell(&who);
    }
    if (count > 0)
        waiter_wait(&who);
}

/* Where it is, until it is carried out or the time is over. */
static hf_status ticket_follow(hf_call *c, hf_ticket *ticket, hf_status st)
{
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + report_patience_us(c->engine);

    do {
        int64_t left_us = until_us - hf_clock_mono_us(hf_clock_system());
        hf_buf text = {0};

        report_write(ticket, &text);
        st = hf_buf_ok(&text) ? ticket_carry(c, ticket, &text, left_us > 0 ? left_us : 0)
                              : hf_err_nomem(&ticket->err, "a report");
        hf_buf_fini(&text);
        if (st == HF_CONFLICT)
            st = ticket_try(c, ticket);
        else
            break;
    } while (st == HF_RETRY && ticket->shard != HF_NONE &&
             hf_clock_mono_us(hf_clock_system()) < until_us);
    return st;
}

/* Whether reports can be recorded at all. */
static hf_status reports_check(hf_call *c, bool written)
{
    hf_engine *engine = c->engine;

    if (!engine->matching)
        return hf_err_set(&c->slot->err, HF_MISUSE, "workers are not allowed: hf_workers_allow");
    /* else its worker would wait until there is room */
    return written ? hf_writer_barred(engine->writer, &c->slot->err) : HF_OK;
}

hf_status hf_report_send_all(hf_call *c, hf_ticket *const *tickets, size_t count)
{
    hf_engine *engine = c->engine;
    hf_status st = reports_check(c, true);

    if (st)
        return st;
    tickets_try(c, tickets, count);
    for (size_t i = 0; i < count; i++)
        if (tickets[i]->status == HF_RETRY && engine->carrier && tickets[i]->shard != HF_NONE)
            tickets[i]->status = ticket_follow(c, tickets[i], HF_RETRY);
    return HF_OK;
}

hf_status hf_report_send(hf_call *c, hf_ticket *ticket)
{
    hf_engine *engine = c->engine;
    hf_status st = reports_check(c, ticket->what != HF_TICKET_BEAT);

    if (st)
        return st;
    ticket->shard = HF_NONE;
    st = ticket_try(c, ticket);
    if (st == HF_RETRY && engine->carrier && ticket->shard != HF_NONE)
        st = ticket_follow(c, ticket, st);
    if (st)
        c->slot->err = ticket->err;
    return st;
}

/* ---- without waiting */

typedef struct errand_letter {
    hf_carried carried;
    hf_buf text;
} errand_letter;

static void letter_done(hf_carried *carried)
{
    errand_letter *sent = carried->ctx;

    hf_buf_fini(&sent->text);
    hf_alloc_free(sent);
}

/* `text` is the letter's from now on. */
static hf_status letter_send(hf_engine *engine, int64_t shard, int64_t node, hf_buf *text,
                             hf_err *err)
{
    errand_letter *sent = hf_buf_ok(text) ? hf_alloc(sizeof(*sent)) : NULL;
    hf_status st;

    if (!sent) {
        hf_buf_fini(text);
        return hf_err_nomem(err, "a letter");
    }
    sent->text = *text;
    sent->carried = (hf_carried){.shard = shard,
                                 .node = node,
                                 .ask = hf_buf_slice(&sent->text),
                                 .for_us = report_patience_us(engine),
                                 .done = letter_done,
                                 .ctx = sent};
    st = hf_carrier_ask(engine->carrier, &sent->carried, err);
    if (st)
        letter_done(&sent->carried);
    return st;
}

hf_status hf_report_back(hf_engine *engine, const hf_ticket *ticket, hf_err *err)
{
    hf_buf text = {0};

    report_write(ticket, &text);
    return letter_send(engine, ticket->shard, HF_NONE, &text, err);
}

void hf_report_lost(void *ctx, bool here, const char *task_id, const hf_ticket *ticket)
{
    hf_engine *engine = ctx;
    char worker[HF_MATCHING_WORKER_SIZE] = "";
    const hf_task_claim claim = {
        .size_ = sizeof(claim), .task_id = task_id, .worker = worker, .attempt = ticket->attempt};
    hf_err err;

    if (!here) {
        (void)!hf_report_back(engine, ticket, &err);
    } else if (ticket->kind == HF_TASK_WORKFLOW || ticket->kind == HF_TASK_ACTIVITY) {
        (void)!hf_handback_post(engine->core, ticket, &err);
    } else if (ticket->worker.len < sizeof(worker)) {
        memcpy(worker, ticket->worker.ptr, ticket->worker.len);
        hf_inquiry_give_back(engine->inquiries, ticket->kind, &claim);
    }
}

/* ---- questions */

/* The node whose part of a number this is; HF_NONE: it is gone. */
static int64_t part_node(const hf_engine *engine, int64_t part)
{
    int64_t nodes[HF_CARRIER_NODES];
    size_t count = hf_carrier_nodes(engine->carrier, nodes);

    for (size_t i = 0; i < count; i++)
        if (hf_inquiry_of_node(nodes[i], part))
            return nodes[i];
    return HF_NONE;
}

hf_status hf_report_question(hf_call *c, int64_t part, hf_task_kind kind,
                             const hf_task_claim *claim, const hf_inquiry_ask *said, hf_err *err)
{
    waiter who = {.engine = c->engine, .slot = c->slot};
    hf_mem *mem = hf_mem_new_small();
    hf_buf text = {0};
    hf_carried carried = {.shard = HF_NONE,
                          .node = part_node(c->engine, part),
                          .for_us = report_patience_us(c->engine),
                          .mem = mem,
                          .done = carried_done,
                          .ctx = &who};
    hf_status st = HF_NOMEM;

    if (mem)
        hf_json_write(&text,
                      hf_json_(mem,
                               "{'what': '" QUESTION "', 'namespace': %lld, 'kind': %d, 'task_id': "
                               "%s, 'worker': %s, 'attempt': %lld, 'end': %d, 'value': %p, "
                               "'reason': %s, 'message': %s, 'errors': %p}",
                               (long long)c->in.namespace_key, (int)kind, claim->task_id,
                               claim->worker, (long long)claim->attempt, (int)said->end,
                               (const void *)said->value, said->reason, said->message,
                               (const void *)said->validation_errors));
    carried.ask = hf_buf_slice(&text);
    if (mem && hf_buf_ok(&text))
        st = hf_carrier_ask(c->engine->carrier, &carried, err);
    else
        (void)hf_err_nomem(err, "an answer");
    if (!st) {
        waiter_wait(&who);
        st = carried.status
                 ? hf_err_set(err, HF_REJECTED, "%s_not_found: nobody waits for this answer",
                              kind == HF_TASK_QUERY ? "query_task" : "update_validation_task")
                 : answer_read(carried.answer, err);
    }
    hf_buf_fini(&text);
    hf_mem_free(mem);
    return st;
}

/* ---- a worker that went */

typedef struct own_give_up {
    int64_t namespace_key;
    hf_slice worker;
    bool unheard;
    int64_t count;
} own_give_up;

static void own_give_up_run(hf_core *core, void *ctx)
{
    own_give_up *up = ctx;

    if (core)
        up->count = hf_errand_give_up(core, up->namespace_key, up->worker, up->unheard);
}

static void give_up_write(const hf_call *c, hf_slice worker, bool unheard, hf_buf *text)
{
    hf_buf_add_format(text, "{\"what\":\"" GIVE_UP "\",\"namespace\":%lld,\"unheard\":%s",
                      (long long)c->in.namespace_key, unheard ? "true" : "false");
    text_add(text, "worker", worker);
    hf_buf_add_byte(text, '}');
}

/* What one other node says to this, which is freed; NULL: nothing, for as long as between two
   renewals. */
static hf_value node_ask(hf_call *c, int64_t node, hf_buf *text, hf_mem *mem)
{
    waiter who = {.engine = c->engine, .slot = c->slot};
    hf_carried carried = {.shard = HF_NONE,
                          .node = node,
                          .for_us = hf_shards_renew_us(hf_node_shards(c->engine->node)),
                          .mem = mem,
                          .done = carried_done,
                          .ctx = &who};
    hf_value answer = NULL;

    carried.ask = hf_buf_slice(text);
    if (mem && hf_buf_ok(text) && !hf_carrier_ask(c->engine->carrier, &carried, NULL)) {
        waiter_wait(&who);
        answer = carried.status ? NULL : carried.answer;
    }
    hf_buf_fini(text);
    return answer;
}

/* What it holds at one other node. */
static int64_t give_up_ask(hf_call *c, int64_t node, hf_slice worker)
{
    hf_mem *mem = hf_mem_new_small();
    hf_buf text = {0};
    int64_t count;

    give_up_write(c, worker, false, &text);
    count = hf_int(node_ask(c, node, &text, mem), "count", 0);
    hf_mem_free(mem);
    return count;
}

hf_status hf_report_heard(hf_call *c, hf_slice worker, int64_t within_us, bool *out_heard)
{
    int64_t nodes[HF_CARRIER_NODES];
    size_t count = c->engine->carrier ? hf_carrier_nodes(c->engine->carrier, nodes) : 0;
    const char *space = hf_engine_space_name(c->engine, c->in.namespace_key);
    hf_status st = HF_OK;

    *out_heard = false;
    for (size_t i = 0; !st && !*out_heard && i < count; i++) {
        hf_mem *mem = hf_mem_new_small();
        hf_buf text = {0};
        hf_value answer;

        hf_buf_add_format(&text, "{\"what\":\"" HEARD "\",\"within_us\":%lld",
                          (long long)within_us);
        text_add(&text, "space", hf_slice_of(space ? space : HF_SPACE_DEFAULT));
        text_add(&text, "worker", worker);
        hf_buf_add_byte(&text, '}');
        answer = node_ask(c, nodes[i], &text, mem);
        *out_heard = hf_bool(answer, "heard", false);
        if (!answer)
            st = hf_err_set(&c->slot->err, HF_RETRY, "node %lld does not say whether it hears %.*s",
                            (long long)nodes[i], (int)worker.len, worker.ptr);
        hf_mem_free(mem);
    }
    return st;
}

int64_t hf_report_give_up(hf_call *c, hf_slice worker, bool unheard)
{
    own_give_up up = {.namespace_key = c->in.namespace_key, .worker = worker, .unheard = unheard};
    int64_t nodes[HF_CARRIER_NODES];
    size_t count = c->engine->carrier ? hf_carrier_nodes(c->engine->carrier, nodes) : 0;

    if (hf_call_core(c, own_give_up_run, &up))
        return 0;
    for (size_t i = 0; i < count; i++) {
        hf_buf text = {0};

        if (!unheard) {
            up.count += give_up_ask(c, nodes[i], worker);
            continue;
        }
        give_up_write(c, worker, true, &text);
        (void)!letter_send(c->engine, HF_NONE, nodes[i], &text, NULL);
    }
    return up.count;
}
