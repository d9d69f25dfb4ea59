/* carrier.c: see carrier.h. Questions and their answers; the thread that everything goes through.
 */
#include "engine/carrier.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/map.h"
#include "base/thread.h"
#include "base/value.h"
#include "commit/mail.h"
#include "engine/lending.h"

enum {
    OUT_MAX = 20000,      /* letters that wait to be sent */
    SERVED_MAX = 2048,    /* answers that are kept, for whoever did not get them */
    SERVED_BYTES = 65536, /* no longer ones */
    NODE_BITS = 23,       /* of its key, in the numbers of its questions */
    NUMBER_BITS = 40,
    EXPIRE_ROUNDS = 10, /* renewals between two looks at letters that nobody fetches */
    RETRY_PART = 20,    /* of the lease: until a shard without an owner is looked at again */
    SOON_PART = 100,    /* of the lease: until a node that did not have the shard is followed */
    RECONNECT_US = 500000
};

/* A letter that waits to be sent. */
typedef struct letter {
    struct letter *next;
    int64_t to;
    hf_letter_kind kind;
    size_t len;
    char body[];
} letter;

/* A question of another node, and what it was told. */
typedef struct served {
    hf_list place; /* answered ones, oldest first */
    int64_t number;
    int64_t from;
    bool answered;
    size_t len;
    char *answer;
} served;

struct hf_carrier {
    hf_carrier_options o;
    int64_t node;
    int64_t lease_us;
    int64_t renew_us;
    hf_db *db; /* the thread's, as the next */
    hf_mem *mem;
    hf_lending *lending; /* NULL: no workers */
    int64_t lending_us;  /* when it is to be looked at */
    bool lost;           /* the connection is to be made again */
    int rounds;
    hf_thread thread;
    /* under the lock */
    hf_mutex lock;
    hf_cond work;
    bool shut;
    bool closing;
    bool stopped;
    bool look;    /* letters may be there */
    bool renewed; /* the lease was, since */
    bool stale;   /* owners are to be read again */
    bool woken;   /* by the lending */
    bool rests;   /* the thread waits */
    int64_t owners[HF_SHARDS];
    int64_t nodes[HF_CARRIER_NODES];
    size_t node_count;
    letter *out;
    letter **out_last;
    size_t out_count;
    hf_list asks;
    int64_t numbers;
    hf_map_int *served; /* by number */
    hf_list answered;
    size_t answered_count;
};

static int64_t now_us(void)
{
    return hf_clock_mono_us(hf_clock_system());
}

/* ---- letters */

/* With the lock held. A letter that cannot be kept is lost like any other. */
static void letter_post(hf_carrier *carrier, int64_t to, hf_letter_kind kind, hf_slice body)
{
    letter *made = NULL;

    if (!carrier->stopped && carrier->out_count < OUT_MAX)
        made = hf_alloc(sizeof(*made) + body.len);
    if (!made)
        return;
    made->next = NULL;
    made->to = to;
    made->kind = kind;
    made->len = body.len;
    memcpy(made->body, body.ptr, body.len);
    *carrier->out_last = made;
    carrier->out_last = &made->next;
    carrier->out_count++;
    hf_cond_signal(&carrier->work);
}

static void letters_free(letter *first)
{
    while (first) {
        letter *next = first->next;

        hf_alloc_free(first);
        first = next;
    }
}

/* Once for each addressee. */
static void letters_hint(const hf_carrier *carrier, const hf_letter *letters, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (i == 0 || letters[i].to != letters[i - 1].to)
            hf_node_mail(carrier->o.node, letters[i].to);
}

static hf_status letters_send(hf_carrier *carrier, letter *first, size_t count, hf_err *err)
{
    hf_letter *letters = hf_alloc_array(count, sizeof(*letters));
    size_t at = 0;
    hf_status st;

    if (!letters)
        return hf_err_nomem(err, "letters");
    for (const letter *one = first; one; one = one->next)
        letters[at++] = (hf_letter){.to = one->to,
                                    .from = carrier->node,
                                    .kind = one->kind,
                                    .body = hf_slice_from(one->body, one->len)};
    st = hf_mail_send(carrier->db, letters, count, err);
    if (!st)
        letters_hint(carrier, letters, count);
    hf_alloc_free(letters);
    return st;
}

/* ---- who owns what */

static hf_status owners_read(hf_carrier *carrier, hf_err *err)
{
    int64_t owners[HF_SHARDS];
    int64_t nodes[HF_CARRIER_NODES];
    size_t node_count = 0;
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(carrier->db, HF_STMT_SHARD_OWNERS, NULL, 0, &cursor, err);

    for (size_t i = 0; i < HF_SHARDS; i++)
        owners[i] = HF_NONE;
    while (!st && row) {
        int64_t node;
        int64_t number;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        node = hf_db_column_int(cursor, 0);
        number = hf_db_column_null(cursor, 1) ? (int64_t)HF_NONE : hf_db_column_int(cursor, 1);
        if (number >= 0 && number < HF_SHARDS)
            owners[number] = node;
        if (node != carrier->node && node_count < HF_CARRIER_NODES &&
            (node_count == 0 || nodes[node_count - 1] != node))
            nodes[node_count++] = node;
    }
    hf_db_end(cursor);
    if (st)
        return st;
    hf_mutex_lock(&carrier->lock);
    memcpy(carrier->owners, owners, sizeof(owners));
    memcpy(carrier->nodes, nodes, sizeof(nodes));
    carrier->node_count = node_count;
    hf_mutex_unlock(&carrier->lock);
    return HF_OK;
}

/* The node that the question is for; HF_NONE: there is none now. With the lock held. */
static int64_t ask_target(const hf_carrier *carrier, const hf_carried *ask)
{
    if (ask->shard == HF_NONE) {
        for (size_t i = 0; i < carrier->node_count; i++)
            if (carrier->nodes[i] == ask->node)
                return ask->node;
        return HF_NONE;
    }
    if (hf_node_owns(carrier->o.node, ask->shard))
        return carrier->node;
    return carrier->owners[ask->shard] == carrier->node ? (int64_t)HF_NONE
                                                        : carrier->owners[ask->shard];
}

/* ---- questions */

static void ask_send(hf_carrier *carrier, hf_carried *ask)
{
    hf_buf text = {0};

    hf_buf_add_format(&text, "{\"number\":%lld,\"tried\":%s,\"ask\":", (long long)ask->number,
                      ask->tried ? "true" : "false");
    hf_buf_add_slice(&text, ask->ask);
    hf_buf_add_byte(&text, '}');
    if (hf_buf_ok(&text))
        letter_post(carrier, ask->to, HF_LETTER_ASK, hf_buf_slice(&text));
    hf_buf_fini(&text);
}

/* Off the list, and on another for whoever calls `done`. With the lock held. */
static void ask_end(hf_carried *ask, hf_status st, hf_list *ended)
{
    hf_list_remove(&ask->place);
    ask->status = st;
    hf_list_add_last(ended, &ask->place);
}

static void asks_tell(hf_list *ended)
{
    hf_list *link;

    while ((link = hf_list_take_first(ended))) {
        hf_carried *ask = HF_LIST_ENTRY(link, hf_carried, place);

        ask->done(ask);
    }
}

/* With the lock held. */
static void ask_step(hf_carrier *carrier, hf_carried *ask, int64_t at_us, hf_list *ended)
{
    int64_t to = ask_target(carrier, ask);

    ask->tried |= ask->to != HF_NONE && ask->to != to;
    if (to == carrier->node) {
        ask_end(ask, HF_CONFLICT, ended);
        return;
    }
    if (to == HF_NONE && ask->shard == HF_NONE) {
        ask_end(ask, HF_RETRY, ended); /* that node is gone */
        return;
    }
    if (to == HF_NONE) {
        carrier->stale = true;
        ask->next_us = at_us + carrier->lease_us / RETRY_PART;
        return;
    }
    ask->to = to;
    ask->next_us = at_us + carrier->renew_us;
    ask_send(carrier, ask);
}

/* Questions that are due, and those whose time is over. */
static void asks_step(hf_carrier *carrier)
{
    int64_t at_us = now_us();
    hf_list *next;
    hf_list ended;

    hf_list_init(&ended);
    hf_mutex_lock(&carrier->lock);
    for (hf_list *link = hf_list_first(&carrier->asks); link; link = next) {
        hf_carried *ask = HF_LIST_ENTRY(link, hf_carried, place);

        next = hf_list_next(&carrier->asks, link);
        if (carrier->shut)
            ask_end(ask, HF_STOPPED, &ended);
        else if (at_us >= ask->until_us)
            ask_end(ask, HF_RETRY, &ended);
        else if (at_us >= ask->next_us)
            ask_step(carrier, ask, at_us, &ended);
    }
    hf_mutex_unlock(&carrier->lock);
    asks_tell(&ended);
}

hf_status hf_carrier_ask(hf_carrier *carrier, hf_carried *carried, hf_err *err)
{
    bool shut;

    hf_list_init(&carried->place);
    hf_mutex_lock(&carrier->lock);
    shut = carrier->shut;
    if (!shut) {
        carried->number =
            (carrier->node & ((INT64_C(1) << NODE_BITS) - 1)) << NUMBER_BITS | ++carrier->numbers;
        carried->until_us = now_us() + carried->for_us;
        carried->next_us = 0;
        carried->to = HF_NONE;
        hf_list_add_last(&carrier->asks, &carried->place);
        carrier->stale |= carried->shard == HF_NONE || carrier->owners[carried->shard] == HF_NONE;
        hf_cond_signal(&carrier->work);
    }
    hf_mutex_unlock(&carrier->lock);
    return shut ? hf_err_set(err, HF_STOPPED, "the engine is closing") : HF_OK;
}

/* With the lock held. */
static hf_carried *ask_find(const hf_carrier *carrier, int64_t number)
{
    for (hf_list *link = hf_list_first(&carrier->asks); link;
         link = hf_list_next(&carrier->asks, link))
        if (HF_LIST_ENTRY(link, hf_carried, place)->number == number)
            return HF_LIST_ENTRY(link, hf_carried, place);
    return NULL;
}

static void answer_came(hf_carrier *carrier, hf_value said)
{
    hf_value answer = hf_get(said, "answer");
    hf_list ended;
    hf_carried *ask;

    hf_list_init(&ended);
    hf_mutex_lock(&carrier->lock);
    ask = ask_find(carrier, hf_int(said, "number", 0));
    if (ask && answer) {
        ask->answer = ask->mem ? hf_value_copy(ask->mem, answer) : NULL;
        ask_end(ask, !ask->mem || ask->answer ? HF_OK : HF_NOMEM, &ended);
    } else if (ask) { /* that node does not have the shard: it has done nothing */
        ask->to = HF_NONE;
        ask->next_us = now_us() + carrier->lease_us / SOON_PART;
        carrier->stale = true;
    }
    hf_mutex_unlock(&carrier->lock);
    asks_tell(&ended);
}

/* ---- questions of others */

static void served_drop(hf_carrier *carrier, served *one)
{
    carrier->answered_count -= hf_list_linked(&one->place);
    hf_list_remove(&one->place);
    (void)hf_map_int_remove(carrier->served, (uint64_t)one->number);
    hf_alloc_free(one->answer);
    hf_alloc_free(one);
}

static void served_send(hf_carrier *carrier, const served *one)
{
    hf_buf text = {0};

    hf_buf_add_format(&text, "{\"number\":%lld", (long long)one->number);
    if (one->len) {
        hf_buf_add_text(&text, ",\"answer\":");
        hf_buf_add_slice(&text, hf_slice_from(one->answer, one->len));
    }
    hf_buf_add_byte(&text, '}');
    if (hf_buf_ok(&text))
        letter_post(carrier, one->from, HF_LETTER_ANSWER, hf_buf_slice(&text));
    hf_buf_fini(&text);
}

/* A question that came before is not asked again: its answer is on its way, or is sent again. */
static void ask_came(hf_carrier *carrier, int64_t from, hf_value said)
{
    int64_t number = hf_int(said, "number", 0);
    served *made = NULL;
    served *one;

    hf_mutex_lock(&carrier->lock);
    one = hf_map_int_get(carrier->served, (uint64_t)number);
    if (one && one->answered) {
        served_send(carrier, one);
    } else if (!one && !carrier->shut) {
        made = hf_alloc(sizeof(*made));
        if (made) {
            hf_list_init(&made->place);
            made->number = number;
            made->from = from;
        }
        if (made && hf_map_int_put(carrier->served, (uint64_t)number, made, NULL, NULL)) {
            hf_alloc_free(made);
            made = NULL;
        }
    }
    hf_mutex_unlock(&carrier->lock);
    if (made)
        carrier->o.asked(carrier->o.ctx, number, hf_bool(said, "tried", false),
                         hf_get(said, "ask"));
}

void hf_carrier_answer(hf_carrier *carrier, int64_t number, hf_slice answer)
{
    served *one;
    char *copy = answer.len ? hf_alloc(answer.len) : NULL;

    if (copy)
        memcpy(copy, answer.ptr, answer.len);
    hf_mutex_lock(&carrier->lock);
    one = hf_map_int_get(carrier->served, (uint64_t)number);
    if (one && !one->answered && (copy || !answer.len)) {
        one->answered = true;
        one->answer = copy;
        one->len = answer.len;
        copy = NULL;
        served_send(carrier, one);
    }
    if (one && (!one->answered || !one->len || one->len > SERVED_BYTES)) {
        served_drop(carrier, one); /* it was not carried out, or is too much to keep */
    } else if (one && !hf_list_linked(&one->place)) {
        hf_list_add_last(&carrier->answered, &one->place);
        if (++carrier->answered_count > SERVED_MAX)
            served_drop(carrier, HF_LIST_ENTRY(hf_list_first(&carrier->answered), served, place));
    }
    hf_mutex_unlock(&carrier->lock);
    hf_alloc_free(copy);
}

/* ---- the thread */

static void letter_came(void *ctx, const hf_letter *came)
{
    hf_carrier *carrier = ctx;
    const hf_json_limits limits = {.bytes_max = SIZE_MAX}; /* another node's, with whole payloads */
    hf_value said = NULL;

    hf_mem_reset(carrier->mem);
    if (hf_json_read(carrier->mem, came->body, &limits, &said, NULL))
        return;
    switch (came->kind) {
    case HF_LETTER_ASK:
        ask_came(carrier, came->from, said);
        break;
    case HF_LETTER_ANSWER:
        answer_came(carrier, said);
        break;
    case HF_LETTER_DEMAND:
    case HF_LETTER_OFFER:
    case HF_LETTER_WITHDRAW:
    case HF_LETTER_CLAIM:
    case HF_LETTER_TASK:
    case HF_LETTER_TAKEN:
        if (carrier->lending)
            hf_lending_came(carrier->lending, came->from, came->kind, said);
        break;
    }
}

static hf_status mail_take(hf_carrier *carrier, hf_err *err)
{
    size_t count = HF_MAIL_MOST;
    hf_status st = HF_OK;

    while (!st && count == HF_MAIL_MOST)
        st = hf_mail_take(carrier->db, carrier->node, letter_came, carrier, &count, err);
    return st;
}

/* What waits is sent; what could not be is tried again. */
static hf_status mail_send(hf_carrier *carrier, hf_err *err)
{
    letter *first;
    letter *last = NULL;
    size_t count;
    hf_status st;

    hf_mutex_lock(&carrier->lock);
    first = carrier->out;
    count = carrier->out_count;
    carrier->out = NULL;
    carrier->out_last = &carrier->out;
    carrier->out_count = 0;
    hf_mutex_unlock(&carrier->lock);
    if (!first)
        return HF_OK;
    st = letters_send(carrier, first, count, err);
    if (!st) {
        letters_free(first);
        return HF_OK;
    }
    for (letter *one = first; one; one = one->next)
        last = one;
    hf_mutex_lock(&carrier->lock);
    last->next = carrier->out;
    if (!carrier->out)
        carrier->out_last = &last->next;
    carrier->out = first;
    carrier->out_count += count;
    hf_mutex_unlock(&carrier->lock);
    return st;
}

static void lending_step(hf_carrier *carrier, bool renewed)
{
    hf_lending_nodes(carrier->lending, carrier->nodes, carrier->node_count);
    if (renewed)
        hf_lending_renewed(carrier->lending);
    carrier->lending_us = hf_lending_step(carrier->lending);
}

/* One round. Who loses the connection goes on when it is back. */
static hf_status carrier_round(hf_carrier *carrier, bool look, bool renewed, bool stale,
                               hf_err *err)
{
    hf_status st = carrier->lost ? hf_db_reconnect(carrier->db, err) : HF_OK;
    bool alone = carrier->node_count == 0;

    if (!st && look)
        st = mail_take(carrier, err);
    if (!st && renewed && ++carrier->rounds % EXPIRE_ROUNDS == 0)
        st = hf_mail_expire(carrier->db, EXPIRE_ROUNDS * carrier->lease_us, err);
    if (!st && (stale || renewed))
        st = owners_read(carrier, err);
    if (alone && carrier->node_count > 0)
        carrier->o.met(carrier->o.ctx);
    if (!st && carrier->lending)
        lending_step(carrier, renewed);
    asks_step(carrier);
    if (!st)
        st = mail_send(carrier, err);
    carrier->lost = st == HF_UNREACHABLE || st == HF_UNKNOWN || st == HF_READONLY;
    return st;
}

/* When something is to be done next. With the lock held. */
static int64_t next_due(const hf_carrier *carrier)
{
    int64_t next_us =
        carrier->look || carrier->stale || carrier->out || carrier->woken ? 0 : carrier->lending_us;

    for (hf_list *link = hf_list_first(&carrier->asks); link;
         link = hf_list_next(&carrier->asks, link)) {
        const hf_carried *ask = HF_LIST_ENTRY(link, hf_carried, place);
        int64_t due_us = ask->next_us < ask->until_us ? ask->next_us : ask->until_us;

        next_us = due_us < next_us ? due_us : next_us;
        if (carrier->shut)
            next_us = 0;
    }
    return next_us;
}

/* With the lock held: waits until something is due. False: the thread ends. */
static bool carrier_wait(hf_carrier *carrier)
{
    for (;;) {
        int64_t next_us = next_due(carrier);

        if (next_us <= now_us())
            return true;
        if (carrier->closing)
            return false;
        carrier->rests = true;
        if (next_us == INT64_MAX)
            hf_cond_wait(&carrier->work, &carrier->lock);
        else
            (void)!hf_cond_wait_until(&carrier->work, &carrier->lock, next_us);
        carrier->rests = false;
    }
}

static void carrier_pause(hf_carrier *carrier)
{
    int64_t until_us = now_us() + RECONNECT_US;

    while (!carrier->closing && now_us() < until_us)
        (void)!hf_cond_wait_until(&carrier->work, &carrier->lock, until_us);
}

static void trouble_tell(const hf_carrier *carrier, const hf_err *err)
{
    const hf_log_field field = hf_log_text("why", hf_slice_of(err->text));

    hf_log_write(carrier->o.log, HF_LOG_WARN, "letters to other nodes cannot be exchanged", &field,
                 1);
}

static void carrier_run(void *ctx)
{
    hf_carrier *carrier = ctx;
    hf_status st = HF_OK;

    hf_mutex_lock(&carrier->lock);
    while (carrier_wait(carrier)) {
        bool look = carrier->look;
        bool renewed = carrier->renewed;
        bool stale = carrier->stale;
        bool troubled = st != HF_OK;
        hf_err err = {0};

        carrier->look = false;
        carrier->renewed = false;
        carrier->stale = false;
        carrier->woken = false;
        hf_mutex_unlock(&carrier->lock);
        st = carrier_round(carrier, look, renewed, stale, &err);
        if (st && !troubled)
            trouble_tell(carrier, &err);
        hf_mutex_lock(&carrier->lock);
        if (st && carrier->closing)
            break;
        if (st) {
            carrier->look |= look;
            carrier->stale |= stale;
            carrier_pause(carrier);
        }
    }
    hf_mutex_unlock(&carrier->lock);
}

void hf_carrier_look(hf_carrier *carrier)
{
    hf_mutex_lock(&carrier->lock);
    carrier->look = true;
    hf_cond_signal(&carrier->work);
    hf_mutex_unlock(&carrier->lock);
}

void hf_carrier_moved(hf_carrier *carrier)
{
    hf_mutex_lock(&carrier->lock);
    carrier->look = true;
    carrier->stale = true;
    hf_cond_signal(&carrier->work);
    hf_mutex_unlock(&carrier->lock);
}

void hf_carrier_renewed(hf_carrier *carrier)
{
    hf_mutex_lock(&carrier->lock);
    carrier->look = true;
    carrier->renewed = true;
    hf_cond_signal(&carrier->work);
    hf_mutex_unlock(&carrier->lock);
}

bool hf_carrier_idle(hf_carrier *carrier)
{
    bool idle;

    hf_mutex_lock(&carrier->lock);
    idle = carrier->rests && !carrier->look && !carrier->stale && !carrier->woken &&
           !carrier->out && !hf_list_first(&carrier->asks) &&
           (!carrier->lending || hf_lending_idle(carrier->lending));
    hf_mutex_unlock(&carrier->lock);
    return idle;
}

size_t hf_carrier_nodes(hf_carrier *carrier, int64_t out_nodes[HF_CARRIER_NODES])
{
    size_t count;

    hf_mutex_lock(&carrier->lock);
    count = carrier->node_count;
    memcpy(out_nodes, carrier->nodes, count * sizeof(*out_nodes));
    hf_mutex_unlock(&carrier->lock);
    return count;
}

/* ---- opening and closing */

/* hf_lending_options.post */
static void lending_post(void *ctx, int64_t to, hf_letter_kind kind, hf_slice body)
{
    hf_carrier *carrier = ctx;

    hf_mutex_lock(&carrier->lock);
    letter_post(carrier, to, kind, body);
    hf_mutex_unlock(&carrier->lock);
}

/* hf_lending_options.wake */
static void lending_wake(void *ctx)
{
    hf_carrier *carrier = ctx;

    hf_mutex_lock(&carrier->lock);
    carrier->woken = true;
    hf_cond_signal(&carrier->work);
    hf_mutex_unlock(&carrier->lock);
}

/* hf_lending_options.back */
static void lending_back(void *ctx, bool here, const char *task_id, const struct hf_ticket *ticket)
{
    const hf_carrier *carrier = ctx;

    carrier->o.back(carrier->o.ctx, here, task_id, ticket);
}

static hf_status lending_open(hf_carrier *carrier, hf_err *err)
{
    const hf_lending_options options = {.matching = carrier->o.matching,
                                        .lease_us = carrier->lease_us,
                                        .renew_us = carrier->renew_us,
                                        .post = lending_post,
                                        .wake = lending_wake,
                                        .back = lending_back,
                                        .ctx = carrier};

    return carrier->o.matching ? hf_lending_open(&options, &carrier->lending, err) : HF_OK;
}

hf_status hf_carrier_open(const hf_carrier_options *options, hf_carrier **out_carrier, hf_err *err)
{
    hf_carrier *carrier = hf_alloc(sizeof(*carrier));
    hf_status st;

    if (!carrier)
        return hf_err_nomem(err, "a carrier");
    carrier->o = *options;
    carrier->node = hf_node_key(options->node);
    carrier->lease_us = hf_shards_lease_us(hf_node_shards(options->node));
    carrier->renew_us = hf_shards_renew_us(hf_node_shards(options->node));
    carrier->out_last = &carrier->out;
    hf_list_init(&carrier->asks);
    hf_list_init(&carrier->answered);
    for (size_t i = 0; i < HF_SHARDS; i++)
        carrier->owners[i] = HF_NONE;
    st = hf_mutex_init(&carrier->lock, err);
    if (st) {
        hf_alloc_free(carrier);
        return st;
    }
    st = hf_cond_init(&carrier->work, err);
    if (st) {
        hf_mutex_fini(&carrier->lock);
        hf_alloc_free(carrier);
        return st;
    }
    carrier->mem = hf_mem_new();
    carrier->served = hf_map_int_new((hf_map_seed){0});
    if (!carrier->mem || !carrier->served)
        st = hf_err_nomem(err, "a carrier");
    carrier->lending_us = INT64_MAX;
    if (!st)
        st = lending_open(carrier, err);
    if (!st)
        st = hf_store_connect(options->store, HF_DB_WRITE, &carrier->db, err);
    if (st)
        hf_carrier_close(carrier);
    else
        *out_carrier = carrier;
    return hf_err_because(err, st, "letters between nodes");
}

hf_status hf_carrier_start(hf_carrier *carrier, hf_err *err)
{
    carrier->stale = true;
    return hf_thread_start(&carrier->thread, "hf-carrier", carrier_run, carrier, err);
}

void hf_carrier_shut(hf_carrier *carrier)
{
    if (!carrier)
        return;
    hf_mutex_lock(&carrier->lock);
    carrier->shut = true;
    hf_cond_signal(&carrier->work);
    hf_mutex_unlock(&carrier->lock);
}

void hf_carrier_stop(hf_carrier *carrier)
{
    if (!carrier)
        return;
    hf_mutex_lock(&carrier->lock);
    carrier->shut = true;
    carrier->closing = true;
    hf_cond_signal(&carrier->work);
    hf_mutex_unlock(&carrier->lock);
    hf_thread_join(&carrier->thread);
    hf_mutex_lock(&carrier->lock);
    carrier->stopped = true;
    hf_mutex_unlock(&carrier->lock);
    asks_step(carrier); /* those that the thread did not come to: the database is away */
}

void hf_carrier_close(hf_carrier *carrier)
{
    size_t at = 0;
    uint64_t number;
    void *item;

    if (!carrier)
        return;
    hf_carrier_stop(carrier);
    hf_lending_close(carrier->lending);
    while (carrier->served && hf_map_int_next(carrier->served, &at, &number, &item)) {
        hf_alloc_free(((served *)item)->answer);
        hf_alloc_free(item);
    }
    hf_map_int_free(carrier->served);
    letters_free(carrier->out);
    hf_db_close(carrier->db);
    hf_mem_free(carrier->mem);
    hf_cond_fini(&carrier->work);
    hf_mutex_fini(&carrier->lock);
    hf_alloc_free(carrier);
}
