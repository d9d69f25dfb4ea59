/* turnstile.c: see turnstile.h. */
#include "engine/turnstile.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/machine.h"
#include "engine/step.h"

#define LEASE_US INT64_C(10000000)
#define RENEW_US INT64_C(3000000)
#define AGAIN_US INT64_C(100000) /* other processes have the slots: ask again */
#define ORDER_US INT64_C(4000000000000000)

enum {
    RENEW_KEY = 1, /* gates are numbered behind it */
    NAME_HEAD = 1 + sizeof(int64_t),
    LOOK_GATES = 1000, /* that are told of, and runs that are asked for their queues */
    LOOK_RUNS = 10000
};

struct hf_turnstile {
    hf_slice name; /* "c" or "r", the namespace's key, and the key */
    int64_t namespace_key;
    int64_t number;
    hf_limit_def limit; /* as it was declared when it was last asked for */
    bool limited;       /* false: a key of its own, one at once; a rate that nobody declared yet */
    hf_deadlines *waiting;
    int64_t held; /* slots of this process */
    bool asking;
    int64_t asker; /* run */
};

static bool gate_is_rate(const hf_turnstile *gate)
{
    return gate->name.ptr[0] == 'r';
}

static hf_slice gate_key(const hf_turnstile *gate)
{
    return hf_slice_from(gate->name.ptr + NAME_HEAD, gate->name.len - NAME_HEAD);
}

static int64_t alarm_key(int64_t number)
{
    return INT64_MIN + number;
}

static void gate_free(hf_core *core, hf_turnstile *gate)
{
    hf_core_disarm(core, alarm_key(gate->number));
    (void)hf_map_remove(core->gates, gate->name);
    (void)hf_map_int_remove(core->gate_numbers, (uint64_t)gate->number);
    hf_deadlines_free(gate->waiting);
    hf_alloc_free((void *)(uintptr_t)gate->name.ptr);
    hf_alloc_free(gate);
}

/* Nobody is in front of it or behind it: the store knows all there is to know. */
static void gate_settle(hf_core *core, hf_turnstile *gate)
{
    if (!gate->asking && gate->held == 0 && hf_deadlines_count(gate->waiting) == 0)
        gate_free(core, gate);
}

static hf_turnstile *gate_get(hf_core *core, char kind, int64_t namespace_key, hf_slice key)
{
    char *name = hf_alloc(NAME_HEAD + key.len + 1);
    hf_turnstile *gate = NULL;

    if (!name)
        return NULL;
    name[0] = kind;
    memcpy(name + 1, &namespace_key, sizeof(namespace_key));
    memcpy(name + NAME_HEAD, key.ptr, key.len);
    gate = hf_map_get(core->gates, hf_slice_from(name, NAME_HEAD + key.len));
    if (gate) {
        hf_alloc_free(name);
        return gate;
    }
    gate = hf_alloc(sizeof(*gate));
    if (gate) {
        gate->name = hf_slice_from(name, NAME_HEAD + key.len);
        gate->namespace_key = namespace_key;
        gate->number = ++core->gates_made + RENEW_KEY;
        gate->waiting = hf_deadlines_new();
    }
    if (!gate || !gate->waiting || hf_map_put(core->gates, gate->name, gate, NULL, NULL) ||
        hf_map_int_put(core->gate_numbers, (uint64_t)gate->number, gate, NULL, NULL)) {
        if (gate)
            (void)hf_map_remove(core->gates, gate->name);
        hf_alloc_free(name);
        if (gate)
            hf_deadlines_free(gate->waiting);
        hf_alloc_free(gate);
        return NULL;
    }
    return gate;
}

int64_t hf_turnstile_place(const hf_core *core, int64_t priority)
{
    return priority * ORDER_US + hf_core_now(core);
}

int64_t hf_turnstile_order(const hf_core *core, const hf_step_work *work)
{
    return hf_turnstile_place(core, work->priority);
}

bool hf_turnstile_before(int64_t place, int64_t other)
{
    return place / ORDER_US < other / ORDER_US;
}

/* ---- asking the store */

static void unit_done(hf_unit *unit, void *ctx)
{
    core_message *message = ctx;

    message->unit = unit;
    hf_core_put(message->core, message);
}

/* A unit of one bare row; its answer goes to the gate of that number, 0: nobody waits for it. */
static bool row_send(hf_core *core, hf_unit *unit, hf_row *row, int64_t number)
{
    core_message *message = hf_mem_alloc(hf_unit_mem(unit), sizeof(*message));
    hf_status st = HF_NOMEM;

    if (message && row) {
        *message = (core_message){.kind = CORE_MESSAGE_GATE, .core = core, .run = number};
        hf_unit_on_done(unit, unit_done, message);
        hf_unit_row(unit, 0, row);
        st = hf_unit_seal(unit, &core->stager, NULL);
        if (!st)
            st = hf_writer_offer(core->o.writer, unit, NULL);
    }
    if (st)
        hf_unit_free(unit);
    return st == HF_OK;
}

static void gate_later(hf_core *core, const hf_turnstile *gate, int64_t due_us)
{
    const core_alarm alarm = {.kind = CORE_ALARM_GATE, .key = alarm_key(gate->number)};

    (void)hf_core_alarm_move(core, &alarm, due_us);
}

static int64_t slots_of(const hf_turnstile *gate)
{
    return gate->limited ? gate->limit.at_once : 1;
}

static hf_row *take_row(hf_core *core, const hf_turnstile *gate, const live_run *run, hf_mem *mem)
{
    int64_t now_us = hf_core_now(core);

    if (gate_is_rate(gate))
        return hf_row_bucket_take(mem, gate->namespace_key, gate_key(gate), run->weight,
                                  gate->limit.burst, gate->limit.allowed, gate->limit.per * 1000,
                                  now_us);
    return hf_row_slot_take(mem, gate->namespace_key, gate_key(gate), slots_of(gate), run->key,
                            hf_slice_of(core->holder), now_us + LEASE_US, now_us);
}

/* Asks for whoever is first, if there may be something to have. */
static void gate_ask(hf_core *core, hf_turnstile *gate)
{
    hf_deadline *first = hf_deadlines_peek(gate->waiting);
    live_run *run = first ? first->ref : NULL;
    hf_unit *unit;

    gate->limited = hf_registry_find_limit(core->o.registry, gate->namespace_key, gate_key(gate),
                                           gate_is_rate(gate), &gate->limit);
    if (!core->pool || !run || gate->asking ||
        (!gate_is_rate(gate) && gate->held >= slots_of(gate)))
        return;
    if (gate_is_rate(gate) && !gate->limited)
        return; /* whoever declares it may come yet */
    unit = hf_unit_new(NULL, NULL);
    if (!unit ||
        !row_send(core, unit, take_row(core, gate, run, hf_unit_mem(unit)), gate->number)) {
        gate_later(core, gate, hf_core_now(core) + AGAIN_US);
        return;
    }
    gate->asking = true;
    gate->asker = run->key;
}

static void slot_free(hf_core *core, const hf_turnstile *gate, int64_t run)
{
    hf_unit *unit = core->pool ? hf_unit_new(NULL, NULL) : NULL;

    /* One that cannot be sent ends with its lease. */
    if (unit)
        (void)row_send(core, unit,
                       hf_row_slot_free(hf_unit_mem(unit), gate->namespace_key, gate_key(gate), run,
                                        hf_slice_of(core->holder)),
                       0);
}

static void renew_arm(hf_core *core)
{
    const core_alarm alarm = {.kind = CORE_ALARM_GATE, .key = alarm_key(RENEW_KEY)};

    (void)hf_core_alarm_set(core, &alarm, hf_core_now(core) + RENEW_US);
}

/* ---- passing */

static bool gate_queue(hf_core *core, hf_turnstile *gate, live_run *run, const hf_step_work *work)
{
    hf_err err;

    if (!gate) {
        hf_core_fail(core, hf_err_nomem(&err, "a gate"), &err);
        return false;
    }
    run->turn = (hf_deadline){
        .due_us = hf_turnstile_order(core, work), .key = (uint64_t)run->key, .ref = run};
    run->waits = gate;
    run->weight = work->weight;
    if (hf_deadlines_push(gate->waiting, &run->turn, &err)) {
        run->waits = NULL;
        hf_core_fail(core, HF_NOMEM, &err);
        return false;
    }
    gate_ask(core, gate);
    return false;
}

bool hf_turnstile_pass(hf_core *core, live_run *run, const hf_step_work *work)
{
    if (run->slot && !hf_slice_equal(gate_key(run->slot), work->concurrency_key))
        hf_turnstile_leave(core, run);
    if (work->concurrency_key.len && !run->slot)
        return gate_queue(core, gate_get(core, 'c', run->info.namespace_key, work->concurrency_key),
                          run, work);
    if (work->rate_limit.len && run->paid != work->number) {
        hf_limit_def limit;

        if (!core->o.matching && !hf_registry_find_limit(core->o.registry, run->info.namespace_key,
                                                         work->rate_limit, true, &limit))
            return false; /* another build knows the limit */
        return gate_queue(core, gate_get(core, 'r', run->info.namespace_key, work->rate_limit), run,
                          work);
    }
    return true;
}

void hf_turnstile_leave(hf_core *core, live_run *run)
{
    hf_turnstile *gate = run->slot;

    if (!gate)
        return;
    run->slot = NULL;
    slot_free(core, gate, run->key);
    gate->held--;
    core->slots_held--;
    gate_ask(core, gate);
    gate_settle(core, gate);
}

void hf_turnstile_forget(hf_core *core, live_run *run)
{
    hf_turnstile *gate = run->waits;

    if (gate) {
        run->waits = NULL;
        hf_deadlines_remove(gate->waiting, &run->turn);
        gate_settle(core, gate);
    } else if (core->steps) {
        hf_deadlines_remove(core->steps, &run->turn);
    }
    if (run->slot && !run->stepping)
        hf_turnstile_leave(core, run);
    run->slot = NULL;
}

void hf_turnstile_drop(hf_core *core, hf_job *job)
{
    live_run left = {.key = job->run, .slot = job->machine ? job->machine->slot : NULL};

    hf_turnstile_leave(core, &left);
}

/* ---- answers */

static hf_turnstile *gate_find(const hf_core *core, int64_t number)
{
    return hf_map_int_get(core->gate_numbers, (uint64_t)number);
}

/* When there will be tokens enough for whoever is first. */
static int64_t tokens_due(hf_core *core, const hf_turnstile *gate, const live_run *run)
{
    const hf_db_value keys[] = {hf_db_text(gate_key(gate)), hf_db_int(gate->namespace_key)};
    int64_t now_us = hf_core_now(core);
    int64_t due_us = now_us + AGAIN_US;
    hf_db_cursor *cursor = NULL;
    bool found = false;

    if (!hf_db_query(core->db, HF_STMT_BUCKET_GET, keys, 2, &cursor, NULL) &&
        !hf_db_step(cursor, &found, NULL) && found) {
        double missing = (double)run->weight - (double)hf_db_column_int(cursor, 0) / 1e6;
        double wait_us = missing * (double)gate->limit.per * 1000 / (double)gate->limit.allowed;

        due_us = hf_db_column_int(cursor, 1) + (int64_t)wait_us + 1;
    }
    hf_db_end(cursor);
    return due_us > now_us ? due_us : now_us + 1000;
}

/* Let in: the run goes on. */
static void gate_let(hf_core *core, hf_turnstile *gate, live_run *run)
{
    hf_step_work work;

    hf_deadlines_remove(gate->waiting, &run->turn);
    run->waits = NULL;
    if (gate_is_rate(gate)) {
        if (run->replay && hf_replay_work(run->replay, &work))
            run->paid = work.number;
        hf_retention_wanted(core); /* the bucket goes when it is full again */
    } else {
        run->slot = gate;
        gate->held++;
        core->slots_held++;
        renew_arm(core);
    }
    hf_machine_resume(core, run);
}

void hf_turnstile_answer(hf_core *core, core_message *message)
{
    hf_unit *unit = message->unit;
    hf_turnstile *gate = message->run ? gate_find(core, message->run) : NULL;
    hf_status st = hf_unit_outcome(unit, NULL);
    bool had = st == HF_OK && hf_unit_row_applied(unit, 0);
    live_run *run;

    hf_unit_free(unit); /* the message is in its arena */
    if (!gate)
        return;
    gate->asking = false;
    run = hf_map_int_get(core->runs, (uint64_t)gate->asker);
    if (run && run->waits != gate)
        run = NULL; /* it left meanwhile */
    if (had && run) {
        gate_let(core, gate, run);
        gate_ask(core, gate);
    } else if (had && !gate_is_rate(gate)) {
        slot_free(core, gate, gate->asker);
        gate_ask(core, gate);
    } else if (run) {
        gate_later(core, gate,
                   gate_is_rate(gate) && !st ? tokens_due(core, gate, run)
                                             : hf_core_now(core) + AGAIN_US);
    } else {
        gate_ask(core, gate);
    }
    gate_settle(core, gate);
}

void hf_turnstile_alarm(hf_core *core, int64_t key)
{
    int64_t number = key - INT64_MIN;
    hf_turnstile *gate = number > RENEW_KEY ? gate_find(core, number) : NULL;
    hf_unit *unit;

    if (gate) {
        gate_ask(core, gate);
    } else if (number == RENEW_KEY && core->slots_held > 0) {
        unit = hf_unit_new(NULL, NULL);
        if (unit)
            (void)row_send(core, unit,
                           hf_row_slot_renew(hf_unit_mem(unit), hf_slice_of(core->holder),
                                             hf_core_now(core) + LEASE_US),
                           0);
        renew_arm(core);
    }
}

void hf_turnstile_declared(hf_core *core)
{
    size_t at = 0;
    hf_slice name;
    void *gate;

    while (hf_map_next(core->gates, &at, &name, &gate))
        gate_ask(core, gate);
}

/* ---- for those who look */

static hf_status queue_count(hf_turnstile_seen *seen, hf_slice name, hf_mem *mem, hf_err *err)
{
    struct hf_turnstile_queue *queue = seen->queues;

    while (queue && !hf_slice_equal(queue->name, name))
        queue = queue->next;
    if (!queue) {
        queue = hf_mem_alloc(mem, sizeof(*queue));
        if (!queue)
            return hf_err_nomem(err, "a queue");
        queue->name = hf_slice_from(hf_mem_text(mem, name), name.len);
        queue->next = seen->queues;
        seen->queues = queue;
    }
    queue->waiting++;
    return queue->name.ptr ? HF_OK : hf_err_nomem(err, "a queue");
}

static hf_status gate_look(const hf_turnstile *gate, hf_mem *mem, size_t most,
                           hf_turnstile_seen *seen, hf_err *err)
{
    hf_slice key = gate_key(gate);
    size_t waiting = hf_deadlines_count(gate->waiting);
    hf_status st = HF_OK;

    *seen = (hf_turnstile_seen){.next = seen->next,
                                .rate = gate_is_rate(gate),
                                .key = hf_slice_from(hf_mem_text(mem, key), key.len),
                                .waiting = (int64_t)waiting};
    if (!seen->key.ptr)
        return hf_err_nomem(err, "a key");
    for (size_t i = 0; !st && i < waiting && i < most; i++) {
        const live_run *run = hf_deadlines_at(gate->waiting, i)->ref;

        st = queue_count(seen, run->info.queue, mem, err);
    }
    return st;
}

hf_status hf_turnstile_look(const hf_core *core, int64_t namespace_key, hf_mem *mem,
                            hf_turnstile_seen **out_seen, bool *io_exact, hf_err *err)
{
    size_t gates = LOOK_GATES;
    size_t runs = LOOK_RUNS;
    size_t at = 0;
    hf_slice name;
    void *item;
    hf_status st = HF_OK;

    *out_seen = NULL;
    while (!st && hf_map_next(core->gates, &at, &name, &item)) {
        const hf_turnstile *gate = item;
        size_t waiting = hf_deadlines_count(gate->waiting);
        hf_turnstile_seen *seen;

        if (gate->namespace_key != namespace_key || !waiting)
            continue;
        *io_exact = *io_exact && gates && waiting <= runs;
        if (!gates--)
            return HF_OK;
        seen = hf_mem_alloc(mem, sizeof(*seen));
        if (!seen)
            return hf_err_nomem(err, "a key");
        seen->next = *out_seen;
        *out_seen = seen;
        st = gate_look(gate, mem, runs, seen, err);
        runs -= waiting < runs ? waiting : runs;
    }
    return st;
}

hf_unit *hf_turnstile_clear(hf_core *core)
{
    hf_unit *unit = hf_unit_new(NULL, NULL);

    if (unit)
        hf_unit_row(unit, 0, hf_row_slot_clear(hf_unit_mem(unit), hf_slice_of(core->holder)));
    return unit;
}

void hf_turnstile_close(hf_core *core)
{
    size_t at = 0;
    hf_slice name;
    void *item;

    while (core->gates && hf_map_next(core->gates, &at, &name, &item)) {
        hf_turnstile *gate = item;

        hf_deadlines_free(gate->waiting);
        hf_alloc_free((void *)(uintptr_t)gate->name.ptr);
        hf_alloc_free(gate);
    }
    hf_map_free(core->gates);
    hf_map_int_free(core->gate_numbers);
    core->gates = NULL;
    core->gate_numbers = NULL;
}
