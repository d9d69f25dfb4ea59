/* lending.c: see lending.h. */
#include "engine/lending.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/list.h"
#include "base/thread.h"
#include "base/value.h"
#include "engine/errand.h"

enum {
    WANTED_MAX = 256, /* lines of what polls here wait for */
    TELL_US = 20000,  /* between two looks at what polls here wait for */
    OFFER_PART = 5,   /* of the lease: an offer that nobody took is over */
    GOT_MAX = 1024,   /* tasks that polls here got from others, for those that ask again */
    TASK_ID_SIZE = 64
};

/* Offered to another node, or by one; oldest first. */
typedef struct loan {
    hf_list place;
    hf_task_key key;
    int64_t node;
    int64_t until_us;
} loan;

/* A poll here claimed a task of another node: that one was told, and has not answered. */
typedef struct claim {
    hf_list place;
    hf_task_abroad task;
    char *text; /* of the letter */
    int64_t next_us;
    int64_t until_us;
} claim;

/* A poll at another node claimed a task of this one. */
typedef struct guest {
    hf_list place;
    hf_lending *lending;
    hf_task_key key;
    int64_t node;
    int64_t namespace_key;
    char worker[HF_MATCHING_WORKER_SIZE];
    char task_id[TASK_ID_SIZE];
    hf_poll *poll;
    char *text; /* of the letter with the task; NULL: its owner has not confirmed it */
    int64_t next_us;
    int64_t until_us;
} guest;

struct hf_lending {
    hf_lending_options o;
    hf_mem *mem; /* of one step */
    hf_list lent;
    hf_list borrowed;
    hf_list claims;
    hf_task_key got[GOT_MAX];
    size_t got_next;
    int64_t nodes[64];
    size_t node_count;
    /* what the others were told */
    hf_mem *told_mem;
    hf_task_demand *told;
    size_t told_count;
    bool renewed;    /* they are told again */
    bool fresh;      /* a node came */
    int64_t look_us; /* when what waits here was looked at */
    /* under the lock */
    hf_mutex lock;
    hf_list guests;
    bool waits; /* a poll does */
};

static int64_t now_us(void)
{
    return hf_clock_mono_us(hf_clock_system());
}

/* ---- letters */

static void key_add(hf_buf *text, const hf_task_key *key)
{
    hf_buf_add_format(text, "{\"kind\":%d,\"subject\":%lld,\"attempt\":%lld,\"epoch\":%lld",
                      (int)key->kind, (long long)key->subject, (long long)key->attempt,
                      (long long)key->epoch);
}

static void text_add(hf_buf *text, const char *name, hf_slice value)
{
    if (!value.ptr)
        return;
    hf_buf_add_format(text, ",\"%s\":\"", name);
    hf_json_add_escaped(text, value);
    hf_buf_add_byte(text, '"');
}

static void int_add(hf_buf *text, const char *name, int64_t number)
{
    hf_buf_add_format(text, ",\"%s\":%lld", name, (long long)number);
}

static bool key_read(hf_value said, hf_task_key *out_key)
{
    int64_t kind = hf_int(said, "kind", -1);

    *out_key = (hf_task_key){.kind = (hf_task_kind)kind,
                             .subject = hf_int(said, "subject", 0),
                             .attempt = hf_int(said, "attempt", 0),
                             .epoch = hf_int(said, "epoch", 0)};
    return kind >= 0 && kind < HF_TASK_KINDS;
}

static hf_slice text_read(hf_value said, const char *name)
{
    const char *text = hf_str(said, name, NULL);

    return text ? hf_slice_of(text) : (hf_slice){0};
}

static void letter_send(hf_lending *lending, int64_t to, hf_letter_kind kind, hf_buf *text)
{
    hf_buf_add_byte(text, '}');
    if (hf_buf_ok(text))
        lending->o.post(lending->o.ctx, to, kind, hf_buf_slice(text));
    hf_buf_fini(text);
}

static void key_send(hf_lending *lending, int64_t to, hf_letter_kind kind, const hf_task_key *key,
                     bool back)
{
    hf_buf text = {0};

    key_add(&text, key);
    if (back)
        hf_buf_add_text(&text, ",\"back\":true");
    letter_send(lending, to, kind, &text);
}

/* A letter that may be sent again. NULL: no memory. */
static char *letter_keep(hf_buf *text)
{
    char *kept;

    hf_buf_add_byte(text, '}');
    kept = hf_buf_ok(text) ? hf_alloc_text(hf_buf_text(text), text->len) : NULL;
    hf_buf_fini(text);
    return kept;
}

/* ---- what waits here */

static bool demand_is(const hf_task_demand *a, const hf_task_demand *b)
{
    return a->kind == b->kind && a->any_queue == b->any_queue &&
           a->namespace_key == b->namespace_key && hf_slice_equal(a->queue, b->queue) &&
           !a->type.ptr == !b->type.ptr && hf_slice_equal(a->type, b->type) &&
           !a->build.ptr == !b->build.ptr && hf_slice_equal(a->build, b->build);
}

/* Whether the others know that there are as many, or about as many. */
static bool demand_told(const hf_lending *lending, const hf_task_demand *demand)
{
    for (size_t i = 0; i < lending->told_count; i++)
        if (demand_is(&lending->told[i], demand))
            return demand->polls <= 2 * lending->told[i].polls;
    return false;
}

static void demand_send(hf_lending *lending)
{
    for (size_t n = 0; n < lending->node_count; n++) {
        hf_buf text = {0};

        hf_buf_add_text(&text, "{\"demand\":[");
        for (size_t i = 0; i < lending->told_count; i++) {
            const hf_task_demand *demand = &lending->told[i];

            hf_buf_add_format(&text, "%s{\"kind\":%d,\"namespace\":%lld,\"polls\":%lld",
                              i ? "," : "", (int)demand->kind, (long long)demand->namespace_key,
                              (long long)demand->polls);
            text_add(&text, "queue", demand->queue);
            text_add(&text, "type", demand->type);
            text_add(&text, "build", demand->build);
            hf_buf_add_byte(&text, '}');
        }
        hf_buf_add_byte(&text, ']');
        letter_send(lending, lending->nodes[n], HF_LETTER_DEMAND, &text);
    }
}

/* What waits now is told: all of it when the lease was renewed, else what the others do not know
   of, beside what they were told. */
static void demand_step(hf_lending *lending)
{
    hf_mem *mem;
    hf_task_demand *wanted;
    size_t count = 0;
    bool news = lending->renewed || lending->fresh;
    bool empty = lending->told_count == 0;

    lending->look_us = now_us();
    hf_mutex_lock(&lending->lock);
    lending->waits = false;
    hf_mutex_unlock(&lending->lock);
    mem = hf_mem_new_small();
    wanted = mem ? hf_matching_wanted(lending->o.matching, mem, WANTED_MAX, &count) : NULL;
    for (size_t i = 0; wanted && i < count && !news; i++)
        news = !demand_told(lending, &wanted[i]);
    if (!wanted || !news || (empty && count == 0)) {
        hf_mem_free(mem);
        lending->renewed = false;
        return;
    }
    if (!lending->renewed && !empty) /* the rest may wait again in a moment */
        for (size_t i = 0; i < lending->told_count && count < WANTED_MAX; i++) {
            bool there = false;

            for (size_t k = 0; k < count && !there; k++)
                there = demand_is(&lending->told[i], &wanted[k]);
            if (there)
                continue;
            wanted[count] = lending->told[i];
            if (wanted[count].queue.ptr)
                wanted[count].queue = hf_slice_of(hf_mem_text(mem, lending->told[i].queue));
            if (wanted[count].type.ptr)
                wanted[count].type = hf_slice_of(hf_mem_text(mem, lending->told[i].type));
            if (wanted[count].build.ptr)
                wanted[count].build = hf_slice_of(hf_mem_text(mem, lending->told[i].build));
            count++;
        }
    hf_mem_free(lending->told_mem);
    lending->told_mem = mem;
    lending->told = wanted;
    lending->told_count = count;
    lending->renewed = false;
    lending->fresh = false;
    demand_send(lending);
}

static void demand_came(hf_lending *lending, int64_t from, hf_value said)
{
    hf_value list = hf_get(said, "demand");
    size_t count = hf_len(list) < WANTED_MAX ? hf_len(list) : WANTED_MAX;
    hf_task_demand *demands = hf_mem_array(lending->mem, count + 1, sizeof(*demands));
    size_t read = 0;

    for (size_t i = 0; demands && i < count; i++) {
        hf_value one = hf_at(list, i);
        int64_t kind = hf_int(one, "kind", -1);

        if (kind < 0 || kind >= HF_TASK_KINDS)
            continue;
        demands[read] = (hf_task_demand){.kind = (hf_task_kind)kind,
                                         .namespace_key = hf_int(one, "namespace", 0),
                                         .queue = text_read(one, "queue"),
                                         .type = text_read(one, "type"),
                                         .build = text_read(one, "build"),
                                         .polls = hf_int(one, "polls", 0)};
        demands[read].any_queue = !demands[read].queue.ptr;
        if (demands[read].queue.ptr || demands[read].type.ptr)
            read++;
    }
    if (demands)
        (void)!hf_matching_demand(lending->o.matching, from, demands, read, NULL);
}

/* ---- tasks of this node */

static bool loan_add(hf_list *list, const hf_task_key *key, int64_t node, int64_t for_us)
{
    loan *made = hf_alloc(sizeof(*made));

    if (!made)
        return false;
    *made = (loan){.key = *key, .node = node, .until_us = now_us() + for_us};
    hf_list_init(&made->place);
    hf_list_add_last(list, &made->place);
    return true;
}

static void offer_send(hf_lending *lending, int64_t to, const hf_task_offer *offer)
{
    hf_buf text = {0};

    key_add(&text, &offer->key);
    int_add(&text, "run", offer->run);
    int_add(&text, "shard", offer->shard);
    int_add(&text, "namespace", offer->namespace_key);
    text_add(&text, "queue", offer->queue);
    text_add(&text, "type", offer->type);
    text_add(&text, "workflow_id", offer->workflow_id);
    text_add(&text, "run_id", offer->run_id);
    text_add(&text, "task_id", offer->task_id);
    text_add(&text, "build", offer->build);
    letter_send(lending, to, HF_LETTER_OFFER, &text);
}

/* Tasks that other nodes have room for; and those that they need not think of any more. */
static void lend_step(hf_lending *lending)
{
    hf_task_offer offer;
    hf_task_key key;
    int64_t node;

    while (hf_matching_recall(lending->o.matching, &node, &key))
        key_send(lending, node, HF_LETTER_WITHDRAW, &key, false);
    while (hf_matching_lend(lending->o.matching, lending->mem, &node, &offer)) {
        if (!loan_add(&lending->lent, &offer.key, node, lending->o.lease_us / OFFER_PART)) {
            hf_matching_unlent(lending->o.matching, &offer.key, node);
            return;
        }
        offer_send(lending, node, &offer);
    }
}

static guest *guest_find(const hf_lending *lending, const hf_task_key *key)
{
    for (hf_list *link = hf_list_first(&lending->guests); link;
         link = hf_list_next(&lending->guests, link))
        if (hf_task_key_equal(&HF_LIST_ENTRY(link, guest, place)->key, key))
            return HF_LIST_ENTRY(link, guest, place);
    return NULL;
}

static void guest_free(guest *from)
{
    hf_list_remove(&from->place);
    hf_alloc_free(from->text);
    hf_alloc_free(from);
}

/* hf_poll_spec.got: the task is confirmed, and goes on its way. */
static bool guest_got(void *arg, hf_value task)
{
    guest *from = arg;
    hf_lending *lending = from->lending;
    hf_buf text = {0};
    char *kept = NULL;

    if (task) {
        (void)snprintf(from->task_id, sizeof(from->task_id), "%s", hf_str(task, "task_id", ""));
        key_add(&text, &from->key);
        hf_buf_add_text(&text, ",\"task\":");
        hf_json_write(&text, task);
        kept = letter_keep(&text);
    }
    (void)hf_poll_end(from->poll);
    hf_mutex_lock(&lending->lock);
    from->poll = NULL;
    from->text = kept;
    from->next_us = now_us() + lending->o.renew_us;
    from->until_us = now_us() + lending->o.lease_us;
    if (kept)
        lending->o.post(lending->o.ctx, from->node, HF_LETTER_TASK, hf_slice_of(kept));
    else
        key_send(lending, from->node, HF_LETTER_WITHDRAW, &from->key, false);
    if (!kept)
        guest_free(from);
    hf_mutex_unlock(&lending->lock);
    return kept != NULL;
}

static void guest_begin(hf_lending *lending, int64_t node, const hf_task_key *key, hf_value said)
{
    const hf_slice worker = text_read(said, "worker");
    hf_poll_spec spec = {.kinds = 1U << key->kind,
                         .worker = worker,
                         .build = text_read(said, "build"),
                         .lease_us = hf_int(said, "lease_us", 0),
                         .got = guest_got};
    guest *from =
        worker.ptr && worker.len < HF_MATCHING_WORKER_SIZE ? hf_alloc(sizeof(*from)) : NULL;
    hf_err err;

    if (from) {
        *from = (guest){.lending = lending,
                        .key = *key,
                        .node = node,
                        .namespace_key = hf_int(said, "namespace", 0),
                        .next_us = INT64_MAX,
                        .until_us = INT64_MAX};
        memcpy(from->worker, worker.ptr, worker.len);
        hf_list_init(&from->place);
        spec.arg = from;
        hf_mutex_lock(&lending->lock);
        hf_list_add_last(&lending->guests, &from->place);
        hf_mutex_unlock(&lending->lock);
    }
    if (from && !hf_matching_poll_key(lending->o.matching, &spec, key, &from->poll, &err))
        return;
    key_send(lending, node, HF_LETTER_WITHDRAW, key, false);
    if (from) {
        hf_mutex_lock(&lending->lock);
        guest_free(from);
        hf_mutex_unlock(&lending->lock);
    }
}

/* A claim that comes again gets the task again, once it is confirmed. */
static void claim_came(hf_lending *lending, int64_t node, hf_value said)
{
    hf_task_key key;
    const guest *from;
    bool ours;

    if (!key_read(said, &key))
        return;
    hf_mutex_lock(&lending->lock);
    from = guest_find(lending, &key);
    ours = from && from->node == node;
    if (ours && from->text)
        lending->o.post(lending->o.ctx, node, HF_LETTER_TASK, hf_slice_of(from->text));
    hf_mutex_unlock(&lending->lock);
    if (!from)
        guest_begin(lending, node, &key, said);
    else if (!ours)
        key_send(lending, node, HF_LETTER_WITHDRAW, &key, false);
}

/* It did not get there. */
static void guest_back(hf_lending *lending, const guest *from)
{
    const hf_ticket ticket = {.kind = from->key.kind,
                              .what = HF_TICKET_BACK,
                              .key = from->key.subject,
                              .attempt = from->key.attempt,
                              .namespace_key = from->namespace_key,
                              .shard = HF_NONE,
                              .worker = hf_slice_of(from->worker)};

    lending->o.back(lending->o.ctx, true, from->task_id, &ticket);
}

static void taken_came(hf_lending *lending, int64_t node, hf_value said)
{
    bool back = hf_bool(said, "back", false);
    hf_task_key key;
    guest *from;

    if (!key_read(said, &key))
        return;
    hf_mutex_lock(&lending->lock);
    from = guest_find(lending, &key);
    if (from && from->node == node && from->text) {
        if (back)
            guest_back(lending, from);
        guest_free(from);
    }
    hf_mutex_unlock(&lending->lock);
}

/* ---- tasks of other nodes */

static void offer_came(hf_lending *lending, int64_t node, hf_value said)
{
    hf_task_offer offer = {.run = hf_int(said, "run", 0),
                           .shard = hf_int(said, "shard", HF_NONE),
                           .namespace_key = hf_int(said, "namespace", 0),
                           .queue = text_read(said, "queue"),
                           .type = text_read(said, "type"),
                           .workflow_id = text_read(said, "workflow_id"),
                           .run_id = text_read(said, "run_id"),
                           .task_id = text_read(said, "task_id"),
                           .build = text_read(said, "build")};

    if (!key_read(said, &offer.key) || !offer.queue.ptr || !offer.type.ptr ||
        hf_matching_borrow(lending->o.matching, &offer, node, NULL))
        return;
    if (!loan_add(&lending->borrowed, &offer.key, node, lending->o.lease_us / OFFER_PART))
        hf_matching_return(lending->o.matching, &offer.key);
}

static void claim_free(claim *mine)
{
    hf_list_remove(&mine->place);
    hf_alloc_free(mine->text);
    hf_alloc_free(mine);
}

static void claim_send(hf_lending *lending, const hf_task_abroad *task)
{
    claim *mine = hf_alloc(sizeof(*mine));
    hf_buf text = {0};

    key_add(&text, &task->key);
    int_add(&text, "namespace", task->namespace_key);
    int_add(&text, "lease_us", task->holder.lease_us);
    text_add(&text, "worker", hf_slice_of(task->holder.worker));
    text_add(&text, "build", task->build);
    if (mine) {
        *mine = (claim){.task = *task,
                        .text = letter_keep(&text),
                        .next_us = now_us() + lending->o.renew_us,
                        .until_us = now_us() + lending->o.lease_us};
        mine->task.build = (hf_slice){0};
        hf_list_init(&mine->place);
    }
    if (!mine || !mine->text) { /* no memory: the poll goes on waiting */
        hf_buf_fini(&text);
        hf_alloc_free(mine);
        hf_matching_withdraw(lending->o.matching, &task->key);
        return;
    }
    hf_list_add_last(&lending->claims, &mine->place);
    lending->o.post(lending->o.ctx, task->owner, HF_LETTER_CLAIM, hf_slice_of(mine->text));
}

static claim *claim_find(const hf_lending *lending, const hf_task_key *key)
{
    for (hf_list *link = hf_list_first(&lending->claims); link;
         link = hf_list_next(&lending->claims, link))
        if (hf_task_key_equal(&HF_LIST_ENTRY(link, claim, place)->task.key, key))
            return HF_LIST_ENTRY(link, claim, place);
    return NULL;
}

static bool was_got(const hf_lending *lending, const hf_task_key *key)
{
    bool got = false;

    for (size_t i = 0; i < GOT_MAX && !got; i++)
        got = hf_task_key_equal(&lending->got[i], key);
    return got;
}

/* True: the poll has it. */
static bool task_deliver(hf_lending *lending, const claim *mine, hf_value said)
{
    hf_mem *mem = hf_mem_new_small();
    hf_value task = mem ? hf_value_copy(mem, hf_get(said, "task")) : NULL;

    if (task && mine->task.any_queue) /* a program asks whose it is */
        task = hf_value_merge(
            mem, task,
            hf_json_(mem, "{'namespace_key': %lld}", (long long)mine->task.namespace_key));

    if (!hf_matching_deliver(lending->o.matching, &mine->task.key, mine->task.holder.lease_us,
                             hf_int(task, "lease_expires_at", 0), mem, task))
        return false;
    lending->got[lending->got_next++ % GOT_MAX] = mine->task.key;
    hf_matching_end(lending->o.matching, &mine->task.key, HF_TASK_WITHDRAW); /* its owner's now */
    return true;
}

static void task_came(hf_lending *lending, int64_t node, hf_value said)
{
    hf_task_key key;
    claim *mine;
    bool got;

    if (!key_read(said, &key))
        return;
    mine = claim_find(lending, &key);
    got = mine ? task_deliver(lending, mine, said) : was_got(lending, &key);
    if (mine)
        claim_free(mine);
    key_send(lending, node, HF_LETTER_TAKEN, &key, !got);
}

static void withdraw_came(hf_lending *lending, hf_value said)
{
    hf_task_key key;
    claim *mine;

    if (!key_read(said, &key))
        return;
    mine = claim_find(lending, &key);
    if (mine)
        claim_free(mine);
    hf_matching_withdraw(lending->o.matching, &key);
}

void hf_lending_came(hf_lending *lending, int64_t from, hf_letter_kind kind, hf_value said)
{
    hf_mem_reset(lending->mem);
    switch (kind) {
    case HF_LETTER_DEMAND:
        demand_came(lending, from, said);
        break;
    case HF_LETTER_OFFER:
        offer_came(lending, from, said);
        break;
    case HF_LETTER_WITHDRAW:
        withdraw_came(lending, said);
        break;
    case HF_LETTER_CLAIM:
        claim_came(lending, from, said);
        break;
    case HF_LETTER_TASK:
        task_came(lending, from, said);
        break;
    case HF_LETTER_TAKEN:
        taken_came(lending, from, said);
        break;
    case HF_LETTER_ASK:
    case HF_LETTER_ANSWER:
        break;
    }
}

/* ---- time */

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Offers that nobody took in time. */
static int64_t loans_step(hf_lending *lending, hf_list *list)
{
    hf_list *link;

    while ((link = hf_list_first(list))) {
        loan *first = HF_LIST_ENTRY(link, loan, place);

        if (first->until_us > now_us())
            return first->until_us;
        hf_list_remove(link);
        if (list == &lending->lent)
            hf_matching_unlent(lending->o.matching, &first->key, first->node);
        else
            hf_matching_return(lending->o.matching, &first->key);
        hf_alloc_free(first);
    }
    return INT64_MAX;
}

/* Its owner did not answer: the poll goes on waiting, and should the task be this worker's already,
   whoever has the run now gives it to another. */
static void claim_over(hf_lending *lending, const hf_task_abroad *task)
{
    const hf_ticket ticket = {.kind = task->key.kind,
                              .what = HF_TICKET_BACK,
                              .key = task->key.subject,
                              .attempt = task->key.attempt,
                              .namespace_key = task->namespace_key,
                              .shard = task->shard,
                              .worker = hf_slice_of(task->holder.worker)};

    hf_matching_withdraw(lending->o.matching, &task->key);
    if (task->shard != HF_NONE)
        lending->o.back(lending->o.ctx, false, NULL, &ticket);
}

static int64_t claims_step(hf_lending *lending)
{
    int64_t next_us = INT64_MAX;
    hf_list *next;

    for (hf_list *link = hf_list_first(&lending->claims); link; link = next) {
        claim *mine = HF_LIST_ENTRY(link, claim, place);

        next = hf_list_next(&lending->claims, link);
        if (mine->until_us <= now_us()) {
            claim_over(lending, &mine->task);
            claim_free(mine);
            continue;
        }
        if (mine->next_us <= now_us()) {
            mine->next_us = now_us() + lending->o.renew_us;
            lending->o.post(lending->o.ctx, mine->task.owner, HF_LETTER_CLAIM,
                            hf_slice_of(mine->text));
        }
        next_us = sooner(next_us, sooner(mine->next_us, mine->until_us));
    }
    return next_us;
}

static int64_t guests_step(hf_lending *lending)
{
    int64_t next_us = INT64_MAX;
    hf_list *next;

    hf_mutex_lock(&lending->lock);
    for (hf_list *link = hf_list_first(&lending->guests); link; link = next) {
        guest *from = HF_LIST_ENTRY(link, guest, place);

        next = hf_list_next(&lending->guests, link);
        if (from->until_us <= now_us()) {
            guest_back(lending, from);
            guest_free(from);
            continue;
        }
        if (from->next_us <= now_us()) {
            from->next_us = now_us() + lending->o.renew_us;
            lending->o.post(lending->o.ctx, from->node, HF_LETTER_TASK, hf_slice_of(from->text));
        }
        next_us = sooner(next_us, sooner(from->next_us, from->until_us));
    }
    hf_mutex_unlock(&lending->lock);
    return next_us;
}

int64_t hf_lending_step(hf_lending *lending)
{
    hf_task_abroad task;
    int64_t next_us;
    bool waits;

    hf_mem_reset(lending->mem);
    while (hf_matching_claim_abroad(lending->o.matching, lending->mem, &task))
        claim_send(lending, &task);
    next_us = sooner(loans_step(lending, &lending->lent), loans_step(lending, &lending->borrowed));
    lend_step(lending);
    next_us = sooner(next_us, sooner(claims_step(lending), guests_step(lending)));
    hf_mutex_lock(&lending->lock);
    waits = lending->waits;
    hf_mutex_unlock(&lending->lock);
    if (lending->node_count == 0)
        return next_us;
    if (lending->renewed || lending->fresh || (waits && now_us() >= lending->look_us + TELL_US))
        demand_step(lending);
    else if (waits)
        next_us = sooner(next_us, lending->look_us + TELL_US);
    return next_us;
}

bool hf_lending_idle(hf_lending *lending)
{
    bool idle;

    hf_mutex_lock(&lending->lock);
    idle = !hf_list_first(&lending->claims) && !hf_list_first(&lending->guests);
    hf_mutex_unlock(&lending->lock);
    return idle;
}

void hf_lending_renewed(hf_lending *lending)
{
    lending->renewed = true;
}

/* hf_matching_share */
static void lending_shared(void *ctx, bool waits)
{
    hf_lending *lending = ctx;
    bool known;

    hf_mutex_lock(&lending->lock);
    known = waits && lending->waits;
    lending->waits |= waits;
    hf_mutex_unlock(&lending->lock);
    if (!known)
        lending->o.wake(lending->o.ctx);
}

static bool node_in(const int64_t *nodes, size_t count, int64_t node)
{
    bool in = false;

    for (size_t i = 0; i < count && !in; i++)
        in = nodes[i] == node;
    return in;
}

void hf_lending_nodes(hf_lending *lending, const int64_t *nodes, size_t count)
{
    size_t room = sizeof(lending->nodes) / sizeof(lending->nodes[0]);

    count = count < room ? count : room;
    for (size_t i = 0; i < lending->node_count; i++)
        if (!node_in(nodes, count, lending->nodes[i]))
            (void)!hf_matching_demand(lending->o.matching, lending->nodes[i], NULL, 0, NULL);
    for (size_t i = 0; i < count; i++)
        lending->fresh |= !node_in(lending->nodes, lending->node_count, nodes[i]);
    if (count == 0 || lending->node_count == 0)
        hf_matching_share(lending->o.matching, count ? lending_shared : NULL, lending);
    memcpy(lending->nodes, nodes, count * sizeof(*nodes));
    lending->node_count = count;
}

/* ---- opening and closing */

hf_status hf_lending_open(const hf_lending_options *options, hf_lending **out_lending, hf_err *err)
{
    hf_lending *lending = hf_alloc(sizeof(*lending));
    hf_status st;

    if (!lending)
        return hf_err_nomem(err, "tasks of other nodes");
    lending->o = *options;
    hf_list_init(&lending->lent);
    hf_list_init(&lending->borrowed);
    hf_list_init(&lending->claims);
    hf_list_init(&lending->guests);
    st = hf_mutex_init(&lending->lock, err);
    if (st) {
        hf_alloc_free(lending);
        return st;
    }
    lending->mem = hf_mem_new();
    if (!lending->mem) {
        hf_lending_close(lending);
        return hf_err_nomem(err, "tasks of other nodes");
    }
    *out_lending = lending;
    return HF_OK;
}

static void loans_free(hf_list *list)
{
    hf_list *link;

    while ((link = hf_list_take_first(list)))
        hf_alloc_free(HF_LIST_ENTRY(link, loan, place));
}

void hf_lending_close(hf_lending *lending)
{
    hf_list *link;

    if (!lending)
        return;
    hf_matching_share(lending->o.matching, NULL, NULL);
    loans_free(&lending->lent);
    loans_free(&lending->borrowed);
    while ((link = hf_list_first(&lending->claims)))
        claim_free(HF_LIST_ENTRY(link, claim, place));
    while ((link = hf_list_first(&lending->guests)))
        guest_free(HF_LIST_ENTRY(link, guest, place));
    hf_mem_free(lending->told_mem);
    hf_mem_free(lending->mem);
    hf_mutex_fini(&lending->lock);
    hf_alloc_free(lending);
}
