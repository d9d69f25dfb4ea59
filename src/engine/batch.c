/* batch.c: see batch.h. The rule: what became of an item is recorded after the command that did it
   was answered, and the place in the list moves with it in one transaction. */
#include "engine/batch.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/value.h"
#include "decide/decide.h"
#include "engine/batch_filter.h"
#include "engine/call.h"
#include "engine/command.h"
#include "model/name.h"

enum {
    STEP_ITEMS = 16,
    ITEMS_MAX = 10000,
    RATE_MAX = 1000000, /* items a second: beyond, it is no bound */
    IDLE_US = 1000000,
    LEASE_US = 10000000,
    LIST_ROWS = 50,
    LIST_MAX = 1000
};

struct hf_batcher {
    hf_engine *engine;
    hf_mem *mem;
    bool threaded;
    hf_thread thread;
    int64_t owner; /* this engine among those that share the store */
    int64_t held;  /* the batch that is claimed, HF_NONE: none; under which epoch, until when */
    int64_t held_epoch;
    int64_t held_until_us;
    int64_t wait_us; /* until a batch is due, by the engine's clock; 0: nothing is open */
    bool looked;     /* stepped: `wait_us` is known, and nobody has asked for more since */
    /* under the lock */
    hf_mutex lock;
    hf_cond work;
    bool poked;
    bool stopping;
};

/* A batch that is worked on. */
typedef struct batch {
    int64_t key;
    int64_t at;
    int64_t epoch;
    int64_t created_us;
    int64_t namespace_key;
    hf_value body;
    const char *command;
    hf_command_type type;
    hf_value ids;
    int64_t rate;
    bool dry;
    char id[HF_ULID_TEXT_SIZE];
} batch;

static void id_print(int64_t created_us, int64_t key, char out_text[HF_ULID_TEXT_SIZE])
{
    hf_ulid id = hf_ulid_form(created_us, key, 0);

    hf_ulid_print(&id, out_text);
}

/* Reads what there is to do next. *out_found: something is due. */
static hf_status batch_next(hf_batcher *batcher, batch *out_batch, bool *out_found, hf_err *err)
{
    hf_engine *engine = batcher->engine;
    const hf_db_value params[] = {hf_db_int(HF_BATCH_STATUS_RUNNING), hf_db_int(batcher->owner),
                                  hf_db_int(hf_clock_wall_us(engine->clock))};
    hf_db *db = hf_engine_read_begin(engine);
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(db, HF_STMT_BATCH_NEXT, params, 3, &cursor, err);

    *out_found = false;
    batcher->wait_us = 0;
    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row) {
        int64_t next_us = hf_db_column_int(cursor, 2);

        *out_found = next_us <= hf_clock_wall_us(engine->clock);
        batcher->wait_us = *out_found ? 0 : next_us;
        *out_batch = (batch){.key = hf_db_column_int(cursor, 0),
                             .at = hf_db_column_int(cursor, 1),
                             .epoch = hf_db_column_int(cursor, 6),
                             .created_us = hf_db_column_int(cursor, 3),
                             .namespace_key = hf_db_column_int(cursor, 5)};
        if (*out_found)
            st = hf_json_read(batcher->mem, hf_db_column_bytes(cursor, 4), NULL, &out_batch->body,
                              err);
    }
    hf_db_end(cursor);
    hf_engine_read_end(engine);
    if (st || !*out_found)
        return st;
    out_batch->command = hf_str(out_batch->body, "command", "");
    (void)hf_command_type_parse(hf_slice_of(out_batch->command), &out_batch->type);
    out_batch->ids = hf_get(out_batch->body, "workflow_ids");
    out_batch->rate = hf_int(out_batch->body, "rate", 0);
    out_batch->dry = hf_bool(out_batch->body, "dry_run", false);
    id_print(out_batch->created_us, out_batch->key, out_batch->id);
    return HF_OK;
}

/* The request of one item: the batch's, with its target and a name of its own. */
static hf_value item_request(hf_mem *mem, const batch *b, int64_t number, const char *id)
{
    hf_value_list *object = hf_value_object(mem);
    hf_value common = hf_get(b->body, "request");
    char name[64];
    hf_slice key;
    hf_value value;

    for (size_t i = 0; hf_value_member(common, i, &key, &value); i++)
        if (!hf_slice_equal(key, HF_SLICE("workflow_id")) &&
            !hf_slice_equal(key, HF_SLICE("request_id")))
            hf_value_set(object, key, value);
    (void)snprintf(name, sizeof(name), "batch-%s-%lld", b->id, (long long)number);
    hf_value_set(object, HF_SLICE("workflow_id"), hf_value_string(mem, hf_slice_of(id)));
    hf_value_set(object, HF_SLICE("request_id"), hf_value_string(mem, hf_slice_of(name)));
    return hf_value_finish(object);
}

/* A status that says nothing of the item: the step is tried again later. */
static bool passing(hf_status st)
{
    return hf_writer_passes(st) || st == HF_UNREACHABLE || st == HF_UNKNOWN || st == HF_STOPPED ||
           st == HF_CONFLICT;
}

/* One item; its row goes into the unit. False: not now. */
static bool item_do(hf_batcher *batcher, const batch *b, int64_t number, hf_unit *unit)
{
    hf_engine *engine = batcher->engine;
    const char *id = hf_str(hf_at(b->ids, (size_t)number), "", "");
    hf_batch_item_row row = {
        .batch = b->key, .epoch = b->epoch, .number = number, .id = hf_slice_of(id)};
    hf_command_result result = {0};
    hf_status st;

    st = (b->dry ? hf_command_dry : hf_command)(
        engine, b->command, item_request(batcher->mem, b, number, id), batcher->mem, &result);
    if (passing(st))
        return false;
    if (!st)
        row.status = !result.accepted ? HF_BATCH_ITEM_REJECTED
                     : b->dry         ? HF_BATCH_ITEM_WOULD_APPLY
                                      : HF_BATCH_ITEM_ACCEPTED;
    else
        row.status = st == HF_NOTFOUND ? HF_BATCH_ITEM_NOT_FOUND : HF_BATCH_ITEM_FAILED;
    row.outcome = hf_slice_of(result.outcome);
    row.reason = hf_slice_of(result.reason);
    if (st)
        row.message = hf_slice_of(hf_errmsg(engine));
    hf_unit_row(unit, 0, hf_row_batch_item_new(hf_unit_mem(unit), &row));
    return true;
}

static hf_status batch_commit(hf_engine *engine, hf_unit *unit, hf_err *err)
{
    engine_slot *slot = hf_engine_slot_get(engine);
    hf_status st = slot ? hf_unit_seal(unit, &slot->stager, err) : hf_err_nomem(err, "a batch");

    return st ? st : hf_engine_commit(engine, unit, err);
}

/* HF_BUSY: another engine was faster. */
static hf_status batch_claim(hf_batcher *batcher, batch *b, hf_err *err)
{
    int64_t now_us = hf_clock_wall_us(batcher->engine->clock);
    hf_unit *unit;
    hf_status st;

    if (batcher->held == b->key && batcher->held_epoch == b->epoch &&
        batcher->held_until_us - LEASE_US / 2 > now_us)
        return HF_OK;
    unit = hf_unit_new(NULL, NULL);
    if (!unit)
        return hf_err_nomem(err, "a batch");
    hf_unit_row(unit, 0,
                hf_row_batch_claim(hf_unit_mem(unit), b->key, b->epoch, batcher->owner,
                                   now_us + LEASE_US, now_us));
    st = batch_commit(batcher->engine, unit, err);
    if (!st && !hf_unit_row_applied(unit, 0))
        st = hf_err_set(err, HF_BUSY, "another engine works on the batch");
    hf_unit_free(unit);
    batcher->held = st ? HF_NONE : b->key;
    if (st)
        return st;
    batcher->held_epoch = ++b->epoch;
    batcher->held_until_us = now_us + LEASE_US;
    return HF_OK;
}

/* Leaves it to others before the lease is over. */
static void batch_free(hf_batcher *batcher)
{
    hf_unit *unit = batcher->held == HF_NONE ? NULL : hf_unit_new(NULL, NULL);

    if (!unit)
        return;
    hf_unit_row(unit, 0, hf_row_batch_free(hf_unit_mem(unit), batcher->held, batcher->held_epoch));
    (void)!batch_commit(batcher->engine, unit, NULL); /* else the lease ends by itself */
    hf_unit_free(unit);
    batcher->held = HF_NONE;
}

/* Some items, then where the batch stands. */
static hf_status batch_work(hf_batcher *batcher, batch *b, hf_err *err)
{
    hf_engine *engine = batcher->engine;
    hf_unit *unit = hf_unit_new(NULL, NULL);
    int64_t total = (int64_t)hf_len(b->ids);
    int64_t most = b->rate > 0 && b->rate < STEP_ITEMS ? b->rate : STEP_ITEMS;
    int64_t at = b->at;
    int64_t now_us;
    int64_t next_us;
    hf_status st = unit ? batch_claim(batcher, b, err) : hf_err_nomem(err, "a batch");

    if (st || engine->crash_due) {
        hf_unit_free(unit);
        return st;
    }
    while (at < total && at < b->at + most && item_do(batcher, b, at, unit)) {
        at++;
        if (engine->crash_due) { /* the test ends here: nothing more is written */
            hf_unit_free(unit);
            return HF_OK;
        }
    }
    now_us = next_us = hf_clock_wall_us(engine->clock);
    if (b->rate > 0)
        next_us += (at - b->at) * 1000000 / b->rate;
    batcher->held_until_us = next_us + LEASE_US;
    hf_unit_row(unit, 0,
                hf_row_batch_move(hf_unit_mem(unit),
                                  &(hf_batch_move){.key = b->key,
                                                   .epoch = b->epoch,
                                                   .from = b->at,
                                                   .to = at,
                                                   .next_us = next_us,
                                                   .lease_until_us = batcher->held_until_us,
                                                   .now_us = now_us}));
    if (at > b->at || at >= total)
        st = batch_commit(engine, unit, err);
    else
        st = HF_BUSY;
    if (st || at >= total)
        batcher->held = HF_NONE; /* it is done, or has to be looked at anew */
    hf_unit_free(unit);
    return st;
}

/* The items' commands work where the batch was asked for, whatever the thread did before. */
static hf_status batch_work_there(hf_batcher *batcher, batch *b, hf_err *err)
{
    engine_slot *slot = hf_engine_slot_get(batcher->engine);
    int64_t before;
    hf_status st;

    if (!slot)
        return hf_err_nomem(err, "a batch");
    before = slot->namespace_key;
    slot->namespace_key = b->namespace_key;
    st = batch_work(batcher, b, err);
    slot->namespace_key = before;
    return st;
}

bool hf_batch_step(hf_batcher *batcher)
{
    bool found = false;
    batch b;
    hf_err err;
    hf_status st;

    if (batcher->looked &&
        (!batcher->wait_us || batcher->wait_us > hf_clock_wall_us(batcher->engine->clock)))
        return false; /* nothing is asked of the store while nothing is due */
    hf_mem_reset(batcher->mem);
    st = batch_next(batcher, &b, &found, &err);
    if (!st && found)
        st = batch_work_there(batcher, &b, &err);
    if (st)
        batcher->wait_us = hf_clock_wall_us(batcher->engine->clock) + IDLE_US;
    batcher->looked = !batcher->threaded && !(!st && found);
    return !st && found;
}

int64_t hf_batch_next_us(const hf_batcher *batcher)
{
    return batcher && batcher->wait_us ? batcher->wait_us : INT64_MAX;
}

/* ---- the thread */

static void batch_thread(void *arg)
{
    hf_batcher *batcher = arg;
    bool stopping = false;

    while (!stopping) {
        bool worked = hf_batch_step(batcher);
        int64_t until_us = hf_clock_mono_us(hf_clock_system()) + IDLE_US;

        hf_mutex_lock(&batcher->lock);
        while (!worked && !batcher->poked && !batcher->stopping) {
            if (batcher->wait_us == 0)
                hf_cond_wait(&batcher->work, &batcher->lock);
            else if (hf_cond_wait_until(&batcher->work, &batcher->lock, until_us))
                break;
        }
        batcher->poked = false;
        stopping = batcher->stopping;
        hf_mutex_unlock(&batcher->lock);
    }
}

static void batch_poke(hf_engine *engine)
{
    hf_batcher *batcher = engine->batcher;

    if (!batcher)
        return;
    if (!batcher->threaded) {
        batcher->looked = false;
        return;
    }
    hf_mutex_lock(&batcher->lock);
    batcher->poked = true;
    hf_cond_signal(&batcher->work);
    hf_mutex_unlock(&batcher->lock);
}

hf_status hf_batch_open(hf_engine *engine, bool threaded, hf_batcher **out_batcher, hf_err *err)
{
    hf_batcher *batcher = hf_alloc(sizeof(*batcher));
    hf_status st;

    if (!batcher)
        return hf_err_nomem(err, "batches");
    batcher->engine = engine;
    batcher->held = HF_NONE;
    batcher->mem = hf_mem_new();
    st = batcher->mem ? HF_OK : hf_err_nomem(err, "batches");
    if (!st && strcmp(hf_store_engine(engine->store), "sqlite")) /* which one engine has alone */
        st = hf_keys_take(hf_writer_keys(engine->writer), 1, &batcher->owner, err);
    if (!st)
        st = hf_mutex_init(&batcher->lock, err);
    if (!st) {
        st = hf_cond_init(&batcher->work, err);
        batcher->threaded = threaded; /* before the thread reads it */
        if (!st && threaded)
            st = hf_thread_start(&batcher->thread, "batch", batch_thread, batcher, err);
        if (st)
            hf_mutex_fini(&batcher->lock);
    }
    if (st) {
        hf_mem_free(batcher->mem);
        hf_alloc_free(batcher);
        return st;
    }
    *out_batcher = batcher;
    return HF_OK;
}

void hf_batch_close(hf_batcher *batcher)
{
    if (!batcher)
        return;
    if (batcher->threaded) {
        hf_mutex_lock(&batcher->lock);
        batcher->stopping = true;
        hf_cond_signal(&batcher->work);
        hf_mutex_unlock(&batcher->lock);
        hf_thread_join(&batcher->thread);
        batch_free(batcher);
    }
    hf_cond_fini(&batcher->work);
    hf_mutex_fini(&batcher->lock);
    hf_mem_free(batcher->mem);
    hf_alloc_free(batcher);
}

/* ---- public */

static hf_status request_check(hf_value request, hf_err *err)
{
    hf_value ids = hf_get(request, "workflow_ids");
    hf_value rate = hf_get(request, "rate");
    hf_value dry_run = hf_get(request, "dry_run");
    hf_value name = hf_get(request, "request.name");
    hf_command_type type;

    if (!hf_command_type_parse(hf_slice_of(hf_str(request, "command", "")), &type))
        return hf_err_set(err, HF_INVALID, "command must name a command");
    if (name && hf_name_check(type == HF_COMMAND_TYPE_UPDATE ? HF_NAME_UPDATE : HF_NAME_SIGNAL,
                              hf_value_slice(name), err))
        return HF_INVALID;
    if (hf_value_kind_of(ids) != HF_VALUE_ARRAY || !hf_len(ids) || hf_len(ids) > ITEMS_MAX)
        return hf_err_set(err, HF_INVALID, "workflow_ids must be a list of 1 to %d ids", ITEMS_MAX);
    for (size_t i = 0; i < hf_len(ids); i++)
        if (hf_value_kind_of(hf_at(ids, i)) != HF_VALUE_STRING)
            return hf_err_set(err, HF_INVALID, "workflow_ids must hold texts");
    if (hf_value_kind_of(rate) != HF_VALUE_NULL &&
        (hf_int(rate, "", -1) < 0 || hf_int(rate, "", -1) > RATE_MAX))
        return hf_err_set(err, HF_INVALID, "rate must be a whole number from 0 to %d", RATE_MAX);
    if (hf_value_kind_of(dry_run) != HF_VALUE_NULL &&
        hf_bool(dry_run, "", true) != hf_bool(dry_run, "", false))
        return hf_err_set(err, HF_INVALID, "dry_run must be true or false");
    return HF_OK;
}

static void put_text(hf_value_list *object, hf_mem *mem, const char *key, hf_slice text)
{
    hf_value_set(object, hf_slice_of(key), text.len ? hf_value_string(mem, text) : hf_value_null());
}

static hf_status items_read(hf_db *db, hf_mem *mem, int64_t key, hf_value *out_items,
                            int64_t counts[], hf_err *err)
{
    const hf_db_value param = hf_db_int(key);
    hf_value_list *list = hf_value_array(mem);
    hf_db_cursor *cursor = NULL;
    bool row = true;
    hf_status st = hf_db_query(db, HF_STMT_BATCH_ITEMS, &param, 1, &cursor, err);

    while (!st && row) {
        hf_value_list *item;
        int64_t status;

        st = hf_db_step(cursor, &row, err);
        if (st || !row)
            break;
        status = hf_db_column_int(cursor, 1);
        if (status > 0 && status <= HF_BATCH_ITEM_WOULD_APPLY)
            counts[status]++;
        item = hf_value_object(mem);
        put_text(item, mem, "workflow_id", hf_db_column_bytes(cursor, 2));
        put_text(item, mem, "status",
                 hf_slice_of(hf_batch_item_status_text((hf_batch_item_status)status)));
        put_text(item, mem, "outcome", hf_db_column_bytes(cursor, 3));
        put_text(item, mem, "rejection_reason", hf_db_column_bytes(cursor, 4));
        put_text(item, mem, "message", hf_db_column_bytes(cursor, 5));
        hf_value_append(list, hf_value_finish(item));
    }
    hf_db_end(cursor);
    *out_items = hf_value_finish(list);
    return st || *out_items ? st : hf_err_nomem(err, "a batch");
}

static hf_status batch_write(hf_db *db, hf_mem *mem, int64_t key, int64_t namespace_key,
                             hf_value *out, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(key), hf_db_int(namespace_key)};
    int64_t counts[HF_BATCH_ITEM_WOULD_APPLY + 1] = {0};
    hf_value_list *object = hf_value_object(mem);
    hf_db_cursor *cursor = NULL;
    hf_value body = NULL;
    hf_value items = NULL;
    char id[HF_ULID_TEXT_SIZE];
    bool found = false;
    hf_status st = hf_db_query(db, HF_STMT_BATCH_GET, params, 2, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && !found)
        st = hf_err_set(err, HF_NOTFOUND, "there is no such batch");
    if (!st) {
        id_print(hf_db_column_int(cursor, 3), key, id);
        put_text(object, mem, "batch_id", hf_slice_of(id));
        put_text(object, mem, "status",
                 hf_slice_of(hf_batch_status_text((hf_batch_status)hf_db_column_int(cursor, 0))));
        hf_value_set(object, HF_SLICE("done"), hf_value_int(mem, hf_db_column_int(cursor, 1)));
        hf_value_set(object, HF_SLICE("total"), hf_value_int(mem, hf_db_column_int(cursor, 2)));
        st = hf_json_read(mem, hf_db_column_bytes(cursor, 5), NULL, &body, err);
    }
    hf_db_end(cursor);
    if (!st)
        st = items_read(db, mem, key, &items, counts, err);
    if (st)
        return st;
    put_text(object, mem, "command", hf_slice_of(hf_str(body, "command", "")));
    hf_value_set(object, HF_SLICE("dry_run"), hf_value_bool(hf_bool(body, "dry_run", false)));
    hf_value_set(object, HF_SLICE("rate"), hf_value_int(mem, hf_int(body, "rate", 0)));
    for (int status = 1; status <= HF_BATCH_ITEM_WOULD_APPLY; status++)
        hf_value_set(object, hf_slice_of(hf_batch_item_status_text((hf_batch_item_status)status)),
                     hf_value_int(mem, counts[status]));
    hf_value_set(object, HF_SLICE("items"), items);
    *out = hf_value_finish(object);
    return *out ? HF_OK : hf_err_nomem(err, "a batch");
}

static hf_status batch_find(hf_call *c, const char *id, int64_t *out_key)
{
    hf_ulid ulid;

    if (!id || !hf_ulid_parse(hf_slice_of(id), &ulid))
        return hf_err_set(&c->slot->err, HF_NOTFOUND, "there is no such batch");
    *out_key = hf_ulid_key(&ulid);
    return HF_OK;
}

static hf_status batch_show(hf_call *c, int64_t key, hf_mem *mem, hf_value *out)
{
    hf_status st;

    hf_call_read_begin(c);
    st = batch_write(c->in.db, mem, key, c->in.namespace_key, out, &c->slot->err);
    hf_call_read_end(c);
    return st;
}

hf_status hf_batch_start(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    hf_unit *unit = NULL;
    hf_buf text = {0};
    int64_t key = 0;
    hf_err *err;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    err = &c.slot->err;
    if (!mem || !out)
        return hf_err_set(err, HF_MISUSE, "a batch needs an arena and a place for its answer");
    if (hf_batch_filtered(request))
        st = hf_batch_expand(&c, request, ITEMS_MAX, mem, &request, err);
    if (!st)
        st = request_check(request, err);
    if (!st)
        st = hf_keys_take(c.in.keys, 1, &key, err);
    if (st)
        return st;
    unit = hf_unit_new(NULL, NULL);
    hf_json_write_canonical(&text, request);
    st = unit && hf_buf_ok(&text) ? HF_OK : hf_err_nomem(err, "a batch");
    if (!st) {
        hf_unit_row(unit, 0,
                    hf_row_batch_new(hf_unit_mem(unit), key, c.in.namespace_key,
                                     (int64_t)hf_len(hf_get(request, "workflow_ids")), c.in.now_us,
                                     hf_buf_slice(&text)));
        st = batch_commit(engine, unit, err);
    }
    hf_buf_fini(&text);
    hf_unit_free(unit);
    if (st)
        return st;
    batch_poke(engine);
    return batch_show(&c, key, mem, out);
}

hf_status hf_batch_show(hf_engine *engine, const char *id, hf_mem *mem, hf_value *out)
{
    int64_t key = 0;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = batch_find(&c, id, &key);
    return st ? st : batch_show(&c, key, mem, out);
}

static void put_time(hf_value_list *object, hf_mem *mem, const char *key, int64_t us)
{
    char text[HF_CLOCK_TEXT_SIZE] = "";

    if (us != HF_NONE)
        (void)hf_clock_print(us, text);
    put_text(object, mem, key, hf_slice_of(text));
}

static hf_value batch_row(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_value_list *object = hf_value_object(mem);
    int64_t created_us = hf_db_column_int(row, 4);
    hf_value body = NULL;
    char id[HF_ULID_TEXT_SIZE];

    (void)ctx;
    if (hf_json_read(mem, hf_db_column_bytes(row, 6), NULL, &body, NULL))
        return NULL;
    id_print(created_us, hf_db_column_int(row, 0), id);
    put_text(object, mem, "batch_id", hf_slice_of(id));
    put_text(object, mem, "status",
             hf_slice_of(hf_batch_status_text((hf_batch_status)hf_db_column_int(row, 1))));
    put_text(object, mem, "command", hf_slice_of(hf_str(body, "command", "")));
    hf_value_set(object, HF_SLICE("dry_run"), hf_value_bool(hf_bool(body, "dry_run", false)));
    hf_value_set(object, HF_SLICE("done"), hf_value_int(mem, hf_db_column_int(row, 2)));
    hf_value_set(object, HF_SLICE("total"), hf_value_int(mem, hf_db_column_int(row, 3)));
    put_time(object, mem, "created_at", created_us);
    put_time(object, mem, "closed_at",
             hf_db_column_null(row, 5) ? HF_NONE : hf_db_column_int(row, 5));
    return hf_value_finish(object);
}

hf_status hf_batch_list(hf_engine *engine, int64_t limit, hf_mem *mem, hf_value *out)
{
    hf_db_value params[3];
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!mem || !out || limit < 0 || limit > LIST_MAX)
        return hf_err_set(&c.slot->err, HF_INVALID, "a list has at most %d batches", LIST_MAX);
    params[0] = hf_db_int(c.in.namespace_key);
    params[1] = hf_db_int(INT64_MAX);
    params[2] = hf_db_int(limit ? limit : LIST_ROWS);
    return hf_call_rows(&c, HF_STMT_BATCH_LIST, params, 3, mem, batch_row, NULL, out);
}

/* From one status to another; one that is elsewhere stays there and is shown. */
static hf_status batch_turn(hf_engine *engine, const char *id, const hf_batch_status *from,
                            size_t count, hf_batch_status to, hf_mem *mem, hf_value *out)
{
    int64_t key = 0;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = batch_find(&c, id, &key);
    if (!st) /* it is there, and not in another namespace */
        st = batch_show(&c, key, mem, out);
    for (size_t i = 0; !st && i < count; i++) {
        hf_unit *unit = hf_unit_new(NULL, NULL);

        if (!unit)
            return hf_err_nomem(&c.slot->err, "a batch");
        hf_unit_row(unit, 0,
                    hf_row_batch_status(hf_unit_mem(unit), key, from[i], to,
                                        to == HF_BATCH_STATUS_ABORTED ? c.in.now_us : HF_NONE));
        st = batch_commit(engine, unit, &c.slot->err);
        hf_unit_free(unit);
    }
    if (st)
        return st;
    batch_poke(engine);
    return batch_show(&c, key, mem, out);
}

hf_status hf_batch_pause(hf_engine *engine, const char *id, hf_mem *mem, hf_value *out)
{
    static const hf_batch_status from[] = {HF_BATCH_STATUS_RUNNING};

    return batch_turn(engine, id, from, 1, HF_BATCH_STATUS_PAUSED, mem, out);
}

hf_status hf_batch_resume(hf_engine *engine, const char *id, hf_mem *mem, hf_value *out)
{
    static const hf_batch_status from[] = {HF_BATCH_STATUS_PAUSED};

    return batch_turn(engine, id, from, 1, HF_BATCH_STATUS_RUNNING, mem, out);
}

hf_status hf_batch_abort(hf_engine *engine, const char *id, hf_mem *mem, hf_value *out)
{
    static const hf_batch_status from[] = {HF_BATCH_STATUS_RUNNING, HF_BATCH_STATUS_PAUSED};

    return batch_turn(engine, id, from, 2, HF_BATCH_STATUS_ABORTED, mem, out);
}
