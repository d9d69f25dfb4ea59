/* inquiry.c: see inquiry.h. The asker's frame holds the question while it waits; workers find it by
   its key, under the lock, and write their answer into the asker's arena. */
#include "engine/inquiry.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/id.h"
#include "base/json.h"
#include "base/options.h"
#include "base/rng.h"
#include "base/map.h"
#include "base/thread.h"
#include "base/value.h"
#include "engine/report.h"
#include "model/envelope.h"
#include "model/limit.h"

#define CLAIM_US INT64_C(10000000) /* until a worker takes it */
#define LOOK_US  INT64_C(10000)    /* how often a host without threads goes on */

/* The key of a question has 48 bits: of the node that asks, and of a counter. */
enum { NODE_BITS = 23, COUNT_BITS = 24 };
#define NODE_MASK  ((INT64_C(1) << NODE_BITS) - 1)
#define COUNT_MASK ((INT64_C(1) << COUNT_BITS) - 1)

typedef struct inquiry {
    hf_inquiry_ask *ask;
    int64_t namespace_key;
    int64_t key;
    char id[HF_ULID_TEXT_SIZE];
    char owner[256];  /* empty: nobody has it */
    int64_t attempt;  /* the last one that a worker got */
    int64_t until_us; /* the asker leaves */
    bool done;
    bool stopped;
    hf_cond changed;
} inquiry;

struct hf_inquiries {
    const hf_clock *clock;
    hf_matching *matching;
    hf_mutex lock;
    hf_map_int *open; /* by key */
    size_t count;
    int64_t keys;
    int64_t node; /* a part of keys, in its place */
    hf_rng rng;   /* ids are not to be guessed from others */
    bool shut;
};

enum { KINDS = 1 << HF_TASK_QUERY | 1 << HF_TASK_VALIDATION };

static void inquiry_claimed(void *ctx);

hf_status hf_inquiries_open(const hf_clock *clock, hf_matching *matching,
                            hf_inquiries **out_inquiries, hf_err *err)
{
    hf_inquiries *inquiries = hf_alloc(sizeof(*inquiries));
    hf_status st;

    if (!inquiries)
        return hf_err_nomem(err, "questions");
    inquiries->clock = clock;
    inquiries->matching = matching;
    st = hf_mutex_init(&inquiries->lock, err);
    if (st) {
        hf_alloc_free(inquiries);
        return st;
    }
    st = hf_rng_init_system(&inquiries->rng, err);
    if (!st) {
        inquiries->open = hf_map_int_new((hf_map_seed){0});
        st = inquiries->open ? HF_OK : hf_err_nomem(err, "questions");
    }
    if (st) {
        hf_inquiries_close(inquiries);
        return st;
    }
    hf_matching_listen(matching, KINDS, inquiry_claimed, inquiries);
    *out_inquiries = inquiries;
    return HF_OK;
}

void hf_inquiries_close(hf_inquiries *inquiries)
{
    if (!inquiries)
        return;
    hf_matching_forget(inquiries->matching, KINDS);
    hf_map_int_free(inquiries->open);
    hf_mutex_fini(&inquiries->lock);
    hf_alloc_free(inquiries);
}

void hf_inquiries_shut(hf_inquiries *inquiries, bool shut)
{
    size_t at = 0;
    uint64_t key;
    void *item;

    if (!inquiries)
        return;
    hf_mutex_lock(&inquiries->lock);
    inquiries->shut = shut;
    while (shut && hf_map_int_next(inquiries->open, &at, &key, &item)) {
        inquiry *q = item;

        q->stopped = true;
        hf_cond_broadcast(&q->changed);
    }
    hf_mutex_unlock(&inquiries->lock);
}

void hf_inquiries_number(hf_inquiries *inquiries, int64_t node)
{
    hf_mutex_lock(&inquiries->lock);
    inquiries->node = node & NODE_MASK;
    hf_mutex_unlock(&inquiries->lock);
}

bool hf_inquiry_elsewhere(hf_inquiries *inquiries, const char *task_id, int64_t *out_part)
{
    hf_ulid id;
    bool elsewhere = task_id && hf_ulid_parse(hf_slice_of(task_id), &id);

    if (!elsewhere)
        return false;
    *out_part = hf_ulid_key(&id) >> COUNT_BITS;
    hf_mutex_lock(&inquiries->lock);
    elsewhere = *out_part != inquiries->node;
    hf_mutex_unlock(&inquiries->lock);
    return elsewhere;
}

bool hf_inquiry_of_node(int64_t node, int64_t part)
{
    return (node & NODE_MASK) == part;
}

/* ---- the worker's side */

/* Of the attempt that a worker has, or of the next. */
static hf_task_key inquiry_key(const inquiry *q)
{
    return (hf_task_key){.kind = q->ask->kind,
                         .subject = q->key,
                         .attempt = q->attempt + !q->owner[0],
                         .epoch = HF_NONE};
}

/* What the worker gets; the rest of the run it reads from history. */
static hf_value inquiry_task(const inquiry *q, hf_mem *mem, int64_t until_us)
{
    bool query = q->ask->kind == HF_TASK_QUERY;
    hf_value_list *task = hf_value_object(mem);
    hf_decision_payload payload = {.codec = HF_PAYLOAD_CODEC_JSON};
    hf_value arguments = NULL;
    hf_buf json = {0};
    hf_err err;

    hf_json_write(&json, q->ask->args ? q->ask->args : hf_value_null());
    payload.bytes = hf_buf_slice(&json);
    if (!hf_buf_ok(&json) ||
        hf_envelope_write(mem, &payload, HF_PAYLOAD_CODEC_AVRO, &arguments, &err))
        arguments = NULL;
    hf_buf_fini(&json);
    hf_value_set_text(task, "kind", query ? HF_SLICE("query") : HF_SLICE("update_validation"));
    hf_value_set_text(task, "task_id", hf_slice_of(q->id));
    hf_value_set_text(task, query ? "query_task_id" : "update_validation_task_id",
                      hf_slice_of(q->id));
    hf_value_set_int(task, query ? "query_task_attempt" : "update_validation_attempt", q->attempt);
    hf_value_set_text(task, query ? "query_name" : "update_name", q->ask->name);
    hf_value_set(task, query ? HF_SLICE("query_arguments") : HF_SLICE("update_arguments"),
                 arguments);
    hf_value_set_text(task, "workflow_id", q->ask->instance_id);
    hf_value_set_text(task, "run_id", q->ask->run_id);
    hf_value_set_text(task, "workflow_type", q->ask->type);
    hf_value_set_text(task, "task_queue", q->ask->queue);
    hf_value_set_text(task, "lease_owner", hf_slice_of(q->owner));
    hf_value_set_int(task, "lease_expires_at", until_us);
    return hf_value_finish(task);
}

/* The question goes to the worker that claimed it, if it still waits for one. */
static void inquiry_hand(hf_inquiries *inquiries, const hf_task_key *key, const char *worker)
{
    hf_mem *mem = hf_mem_new_small();
    hf_task_key now = {0};
    hf_value task = NULL;
    int64_t left_us = 0;
    inquiry *q;

    hf_mutex_lock(&inquiries->lock);
    q = hf_map_int_get(inquiries->open, (uint64_t)key->subject);
    if (q)
        now = inquiry_key(q);
    if (q && hf_task_key_equal(&now, key) && !q->done && !q->stopped && !q->owner[0] && mem) {
        left_us = q->until_us - hf_clock_mono_us(inquiries->clock);
        (void)snprintf(q->owner, sizeof(q->owner), "%s", worker);
        q->attempt++;
        task = inquiry_task(q, mem, hf_clock_wall_us(inquiries->clock) + left_us);
    }
    hf_mutex_unlock(&inquiries->lock);
    if (task && hf_matching_deliver(inquiries->matching, key, left_us,
                                    hf_clock_wall_us(inquiries->clock) + left_us, mem, task))
        return;
    if (!task) { /* no memory: the worker goes on waiting */
        hf_mem_free(mem);
        hf_matching_withdraw(inquiries->matching, key);
    }
    hf_mutex_lock(&inquiries->lock);
    q = hf_map_int_get(inquiries->open, (uint64_t)key->subject);
    if (q && !q->done && q->attempt == key->attempt) {
        q->owner[0] = '\0';
        hf_cond_broadcast(&q->changed); /* the asker offers it again */
    }
    hf_mutex_unlock(&inquiries->lock);
}

/* Any thread that polls, or asks. */
static void inquiry_claimed(void *ctx)
{
    hf_inquiries *inquiries = ctx;
    hf_task_holder holder;
    hf_task_key key;
    int64_t run;

    while (hf_matching_claim(inquiries->matching, KINDS, &key, &run, &holder))
        inquiry_hand(inquiries, &key, holder.worker);
}

/* ---- the asker's side */

/* Offers it, and hands it to a worker that waits. */
static hf_status inquiry_offer(hf_inquiries *inquiries, inquiry *q, hf_err *err)
{
    hf_task_offer offer = {.run = q->ask->run,
                           .shard = HF_NONE,
                           .namespace_key = q->namespace_key,
                           .queue = q->ask->queue,
                           .type = q->ask->type,
                           .workflow_id = q->ask->instance_id,
                           .run_id = q->ask->run_id};
    hf_task_holder holder;
    bool claimed = false;
    hf_status st;

    hf_mutex_lock(&inquiries->lock);
    offer.key = inquiry_key(q);
    hf_mutex_unlock(&inquiries->lock);
    st = hf_matching_offer(inquiries->matching, &offer, &claimed, &holder, err);
    if (!st && claimed)
        inquiry_hand(inquiries, &offer.key, holder.worker);
    return st;
}

/* True: it is over, one way or the other. Under the lock. */
static bool inquiry_over(const inquiry *q, int64_t now_us, int64_t claim_us)
{
    return q->done || q->stopped || now_us >= q->until_us || (!q->owner[0] && now_us >= claim_us);
}

static void inquiry_sleep(hf_call *call, inquiry *q, int64_t claim_us)
{
    hf_inquiries *inquiries = call->engine->inquiries;
    int64_t until_us = q->owner[0] ? q->until_us : claim_us;

    if (call->engine->mode == ENGINE_THREADS) {
        (void)!hf_cond_wait_until(&q->changed, &inquiries->lock, until_us);
        return;
    }
    hf_mutex_unlock(&inquiries->lock); /* whoever answers needs the engine to go on */
    (void)hf_engine_pump(call->engine);
    hf_mutex_lock(&inquiries->lock);
    if (!q->done && call->engine->mode == ENGINE_TICK)
        (void)!hf_cond_wait_until(&q->changed, &inquiries->lock,
                                  hf_clock_mono_us(inquiries->clock) + LOOK_US);
    else if (!q->done)
        q->until_us = 0; /* nobody else moves this engine: nothing more will come */
}

/* Waits for its end. It is offered again when a worker went away with it. */
static hf_status inquiry_wait(hf_call *call, inquiry *q, hf_err *err)
{
    hf_inquiries *inquiries = call->engine->inquiries;
    int64_t claim_us = hf_clock_mono_us(inquiries->clock) + CLAIM_US;
    hf_status st = HF_OK;

    for (;;) {
        bool over;
        bool free;

        hf_mutex_lock(&inquiries->lock);
        over = inquiry_over(q, hf_clock_mono_us(inquiries->clock), claim_us);
        if (!over)
            inquiry_sleep(call, q, claim_us);
        free = !q->owner[0] && !q->done;
        hf_mutex_unlock(&inquiries->lock);
        if (over)
            return st;
        if (free)
            st = inquiry_offer(inquiries, q, err);
        if (st)
            return st;
    }
}

static hf_status inquiry_begin(hf_inquiries *inquiries, inquiry *q, hf_err *err)
{
    int64_t most = hf_limit_get(HF_LIMIT_QUERY_PENDING_COUNT)->standard;
    hf_ulid id;
    hf_status st;

    hf_mutex_lock(&inquiries->lock);
    if (inquiries->shut) {
        st = hf_err_set(err, HF_STOPPED, "the engine is closing");
    } else if (hf_limit_trips(HF_LIMIT_QUERY_PENDING_COUNT, most, (int64_t)inquiries->count)) {
        st = hf_err_set(err, HF_BUSY, "%lld questions wait for workers already", (long long)most);
    } else {
        q->key = inquiries->node << COUNT_BITS | (++inquiries->keys & COUNT_MASK);
        id = hf_ulid_form(hf_clock_wall_us(inquiries->clock), q->key,
                          (uint32_t)hf_rng_next(&inquiries->rng));
        hf_ulid_print(&id, q->id);
        st = hf_map_int_put(inquiries->open, (uint64_t)q->key, q, NULL, err);
        inquiries->count += !st;
    }
    hf_mutex_unlock(&inquiries->lock);
    return st;
}

static void inquiry_finish(hf_inquiries *inquiries, inquiry *q)
{
    hf_inquiry_ask *ask = q->ask;
    hf_task_key key;

    hf_mutex_lock(&inquiries->lock);
    key = inquiry_key(q);
    (void)hf_map_int_remove(inquiries->open, (uint64_t)q->key);
    inquiries->count--;
    if (!q->done)
        ask->end = q->owner[0] ? HF_INQUIRY_LATE : HF_INQUIRY_UNCLAIMED;
    hf_mutex_unlock(&inquiries->lock);
    hf_matching_withdraw(inquiries->matching, &key);
}

hf_status hf_inquiry_put(hf_call *call, hf_inquiry_ask *ask, hf_err *err)
{
    hf_inquiries *inquiries = call->engine->inquiries;
    inquiry q = {.ask = ask,
                 .namespace_key = call->in.namespace_key,
                 .until_us = hf_clock_mono_us(inquiries->clock) +
                             hf_limit_us(HF_LIMIT_QUERY_TIMEOUT_SECONDS)};
    hf_status st;

    ask->end = HF_INQUIRY_NOBODY;
    if (!hf_matching_served(inquiries->matching, ask->kind, call->in.namespace_key, ask->queue,
                            ask->type, HF_MATCHING_VISIT_US))
        return HF_OK;
    st = hf_cond_init(&q.changed, err);
    if (st)
        return st;
    st = inquiry_begin(inquiries, &q, err);
    if (st) {
        hf_cond_fini(&q.changed);
        ask->end = HF_INQUIRY_FULL;
        return st == HF_BUSY ? HF_OK : st;
    }
    st = inquiry_offer(inquiries, &q, err);
    if (!st)
        st = inquiry_wait(call, &q, err);
    inquiry_finish(inquiries, &q);
    hf_cond_fini(&q.changed);
    if (!st && q.stopped && !q.done)
        st = hf_err_set(err, HF_STOPPED, "the engine is closing");
    return st;
}

/* ---- reports */

static const char *report_wrong(const inquiry *q, const hf_task_claim *claim)
{
    if (!q->owner[0] || q->done)
        return "not_leased";
    if (strcmp(q->owner, claim->worker) != 0 || q->attempt != claim->attempt)
        return "stale";
    return NULL;
}

/* The published reason. */
static hf_status report_refuse(hf_task_kind kind, const char *wrong, hf_err *err)
{
    bool query = kind == HF_TASK_QUERY;

    if (strcmp(wrong, "stale") == 0)
        return hf_err_set(err, HF_REJECTED, "%s: another worker or attempt has it",
                          query ? "lease_owner_mismatch" : "stale_update_validation_completion");
    return hf_err_set(err, HF_REJECTED, "%s_%s: nobody waits for this answer",
                      query ? "query_task" : "update_validation_task", wrong);
}

static inquiry *inquiry_find(hf_inquiries *inquiries, hf_task_kind kind, const char *task_id)
{
    hf_ulid id;
    inquiry *q;

    if (!hf_ulid_parse(hf_slice_of(task_id), &id))
        return NULL;
    q = hf_map_int_get(inquiries->open, (uint64_t)hf_ulid_key(&id));
    return q && q->ask->kind == kind && strcmp(q->id, task_id) == 0 ? q : NULL;
}

void hf_inquiry_give_back(hf_inquiries *inquiries, hf_task_kind kind, const hf_task_claim *claim)
{
    inquiry *q;

    hf_mutex_lock(&inquiries->lock);
    q = inquiry_find(inquiries, kind, claim->task_id);
    if (q && !report_wrong(q, claim)) {
        q->owner[0] = '\0';
        hf_cond_broadcast(&q->changed);
    }
    hf_mutex_unlock(&inquiries->lock);
}

/* What the worker says, in the asker's arena. False: no memory. */
static bool report_keep(hf_inquiry_ask *ask, const hf_inquiry_ask *said)
{
    ask->end = said->end;
    if (said->value) {
        ask->value = hf_value_copy(ask->mem, said->value);
        return ask->value != NULL;
    }
    if (said->end == HF_INQUIRY_ANSWERED)
        return true;
    ask->reason = hf_mem_text(ask->mem, hf_slice_of(said->reason));
    ask->message = hf_mem_text(ask->mem, hf_slice_of(said->message));
    if (said->validation_errors)
        ask->validation_errors = hf_value_copy(ask->mem, said->validation_errors);
    return ask->reason && ask->message && (!said->validation_errors || ask->validation_errors);
}

hf_status hf_inquiry_said(hf_inquiries *inquiries, int64_t namespace_key, hf_task_kind kind,
                          const hf_task_claim *claim, const hf_inquiry_ask *said, hf_err *err)
{
    hf_status st = HF_OK;
    const char *wrong;
    inquiry *q;

    hf_mutex_lock(&inquiries->lock);
    q = inquiry_find(inquiries, kind, claim->task_id);
    wrong = q && q->namespace_key == namespace_key ? report_wrong(q, claim) : "not_found";
    if (wrong) {
        st = report_refuse(kind, wrong, err);
    } else if (!report_keep(q->ask, said)) {
        st = hf_err_nomem(err, "an answer");
    } else {
        q->done = true;
        hf_cond_broadcast(&q->changed);
    }
    hf_mutex_unlock(&inquiries->lock);
    return st;
}

static hf_status inquiry_report(hf_call *call, hf_task_kind kind, const hf_task_claim *claim,
                                const hf_inquiry_ask *said, hf_err *err)
{
    hf_inquiries *inquiries = call->engine->inquiries;
    hf_task_claim known = {0};
    int64_t part = 0;
    hf_status st;

    if (!inquiries)
        return hf_err_set(err, HF_MISUSE, "workers are not allowed: hf_workers_allow");
    st = hf_options_take(&known, sizeof(known), claim, err);
    if (st)
        return st;
    if (!known.task_id || !known.worker)
        return hf_err_set(err, HF_INVALID, "a report needs a task and a worker");
    if (call->engine->carrier && hf_inquiry_elsewhere(inquiries, known.task_id, &part))
        return hf_report_question(call, part, kind, &known, said, err);
    return hf_inquiry_said(inquiries, call->in.namespace_key, kind, &known, said, err);
}

hf_status hf_question_answer(hf_engine *engine, hf_task_kind kind, const hf_task_claim *claim,
                             hf_value answer)
{
    hf_inquiry_ask said = {.end = HF_INQUIRY_ANSWERED};
    hf_decision_payload payload = {0};
    hf_mem *mem = NULL; /* not the thread's scratch: whoever asks may be on this thread */
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    mem = hf_mem_new();
    st = mem ? hf_envelope_read(mem, answer, (hf_slice){0}, &payload, &c.slot->err)
             : hf_err_nomem(&c.slot->err, "an answer");
    if (!st)
        st = hf_envelope_value(mem, &payload, &said.value, &c.slot->err);
    if (!st)
        st = inquiry_report(&c, kind, claim, &said, &c.slot->err);
    hf_mem_free(mem);
    return st;
}

hf_status hf_question_refuse(hf_engine *engine, hf_task_kind kind, const hf_task_claim *claim,
                             const char *reason, const char *message, hf_value validation_errors)
{
    const hf_inquiry_ask said = {
        .end = HF_INQUIRY_REFUSED,
        .reason = reason && *reason ? reason : "query_rejected",
        .message = message && *message ? message : "the worker could not answer",
        .validation_errors =
            hf_value_kind_of(validation_errors) == HF_VALUE_OBJECT ? validation_errors : NULL};
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    return st ? st : inquiry_report(&c, kind, claim, &said, &c.slot->err);
}
