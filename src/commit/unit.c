/* unit.c: drafting and sealing. History rows are made here and nowhere else. Must never touch a
 * database. */
#include "commit/unit.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "commit/unit_impl.h"
#include "model/event_codec.h"
#include "store/payload.h"

hf_status hf_stager_init(hf_stager *stager, hf_err *err)
{
    hf_buf_init(&stager->body);
    return hf_sha256_new(&stager->sha, err);
}

void hf_stager_fini(hf_stager *stager)
{
    hf_sha256_free(stager->sha);
    hf_buf_fini(&stager->body);
    stager->sha = NULL;
}

hf_unit *hf_unit_new(hf_unit_done *done, void *ctx)
{
    hf_mem *mem = hf_mem_new();
    hf_unit *unit = mem ? hf_mem_alloc(mem, sizeof(*unit)) : NULL;

    if (!unit) {
        hf_mem_free(mem);
        return NULL;
    }
    unit->mem = mem;
    unit->done = done;
    unit->done_ctx = ctx;
    unit->epoch = HF_NONE;
    hf_event_builder_init(&unit->nowhere.events, mem);
    return unit;
}

void hf_unit_free(hf_unit *unit)
{
    if (unit)
        hf_mem_free(unit->mem); /* the unit itself lives in its arena */
}

void hf_unit_on_done(hf_unit *unit, hf_unit_done *done, void *ctx)
{
    unit->done = done;
    unit->done_ctx = ctx;
}

void hf_unit_fix(hf_unit *unit)
{
    unit->rebase = HF_REBASE_NEVER;
}

void hf_unit_claim(hf_unit *unit, int64_t epoch)
{
    HF_ASSERT(!unit->sealed && unit->epoch == HF_NONE);
    unit->epoch = epoch;
    hf_unit_fix(unit);
}

hf_mem *hf_unit_mem(hf_unit *unit)
{
    return unit->mem;
}

static void unit_fail(hf_unit *unit, hf_status status, const char *text)
{
    if (!unit->failure.status)
        (void)hf_err_set(&unit->failure, status, "%s", text);
}

static hf_unit_part *part_at(const hf_unit *unit, size_t number)
{
    HF_ASSERT(number < unit->part_count);
    return unit->parts[number];
}

static bool parts_grow(hf_unit *unit)
{
    size_t room = unit->part_room ? unit->part_room * 2 : 2;
    hf_unit_part **parts = hf_mem_array(unit->mem, room, sizeof(*parts));

    if (!parts)
        return false;
    if (unit->part_count)
        memcpy(parts, unit->parts, unit->part_count * sizeof(*parts));
    unit->parts = parts;
    unit->part_room = room;
    return true;
}

/* NULL when memory ran out; the unit remembers. */
static hf_unit_part *part_add(hf_unit *unit, const hf_run_base *before)
{
    hf_unit_part *part = hf_mem_alloc(unit->mem, sizeof(*part));

    if (!part || (unit->part_count == unit->part_room && !parts_grow(unit))) {
        unit_fail(unit, HF_NOMEM, "no memory for a unit");
        return NULL;
    }
    part->before = *before;
    part->status = HF_NONE;
    part->closed_us = HF_NONE;
    part->cursor = HF_NONE;
    hf_event_builder_init(&part->events, unit->mem);
    unit->parts[unit->part_count++] = part;
    return part;
}

/* A part that could not be made takes changes too, so that drafting code need not look at each
 * step. */
static hf_unit_part *part_or_nowhere(hf_unit *unit, size_t number)
{
    return number < unit->part_count ? unit->parts[number] : &unit->nowhere;
}

/* The unit's own row of a command that another one closes; NULL: it came before. Rows behind the
   last new command are not looked at. */
static hf_row *command_find(const hf_unit *unit, const hf_row *close)
{
    size_t left = unit->command_count;

    for (hf_row *row = unit->rows; row && left; row = row->next) {
        if (row->op != HF_OP_COMMAND_NEW)
            continue;
        if (row->cells[0].number == close->cells[0].number)
            return row;
        left--;
    }
    return NULL;
}

void hf_unit_row(hf_unit *unit, size_t part, hf_row *row)
{
    hf_unit_part *owner = part_or_nowhere(unit, part);
    hf_row *command;

    if (!row) {
        unit_fail(unit, HF_NOMEM, "no memory for a row");
        return;
    }
    command = row->op == HF_OP_COMMAND_CLOSE && owner->messages ? command_find(unit, row) : NULL;
    if (command) { /* written once, as it ends */
        hf_row_command_closes(command, row);
        owner->signals += row->signals;
        owner->updates += row->updates;
        return;
    }
    row->part = part;
    unit->command_count += row->op == HF_OP_COMMAND_NEW;
    if (row->command_cell >= 0 && row->command_ahead > owner->commands)
        owner->commands = row->command_ahead;
    if (row->message_cell >= 0 && row->message_ahead > owner->messages)
        owner->messages = row->message_ahead;
    owner->signals += row->signals;
    owner->updates += row->updates;
    if (row->moves) {
        part_or_nowhere(unit, 0)->signals -= row->signals;
        part_or_nowhere(unit, 0)->updates -= row->updates;
    }
    if (unit->last_row)
        unit->last_row->next = row;
    else
        unit->rows = row;
    unit->last_row = row;
    unit->row_count++;
}

void hf_unit_rows_drop(hf_unit *unit, hf_op op)
{
    hf_row **at = &unit->rows;

    unit->last_row = NULL;
    while (*at) {
        if ((*at)->op == op) {
            *at = (*at)->next;
            unit->row_count--;
        } else {
            unit->last_row = *at;
            at = &(*at)->next;
        }
    }
}

bool hf_unit_empty(const hf_unit *unit)
{
    for (size_t i = 0; i < unit->part_count; i++)
        if (unit->parts[i]->events.count)
            return false;
    return !unit->rows && !unit->failure.status;
}

void hf_unit_append(hf_unit *unit, const hf_run_base *base, int64_t epoch, hf_rebase rebase)
{
    HF_ASSERT(unit->part_count == 0);
    unit->epoch = epoch;
    unit->rebase = rebase;
    unit->known_seq = base->last_seq;
    (void)part_add(unit, base);
}

void hf_unit_fires(hf_unit *unit, int64_t schedule, int64_t expected, int64_t revision)
{
    HF_ASSERT(unit->part_count == 0);
    unit->schedule = schedule;
    unit->schedule_expected = expected;
    unit->schedule_revision = revision;
}

void hf_unit_owned(hf_unit *unit, int64_t epoch)
{
    HF_ASSERT(unit->part_count == 0);
    unit->epoch = epoch;
}

static void instance_add(hf_unit *unit, const hf_instance_row *instance)
{
    if (!unit->schedule) {
        hf_unit_row(unit, 0, hf_row_instance_new(unit->mem, instance, unit->epoch));
        return;
    }
    hf_unit_row(unit, 0,
                hf_row_schedule_take(unit->mem, unit->schedule, unit->schedule_expected,
                                     unit->schedule_revision, instance->namespace_key,
                                     instance->id));
    hf_unit_row(
        unit, 0,
        hf_row_schedule_instance(unit->mem, instance, unit->schedule, unit->schedule_revision));
}

size_t hf_unit_create(hf_unit *unit, hf_unit_instance how, const hf_instance_row *instance,
                      const hf_run_base *start, const hf_run_row *run)
{
    hf_unit_part *part = part_add(unit, start);

    HF_ASSERT(start->last_seq == 0);
    if (!part)
        return 0;
    part->creates = true;
    part->run = *run;
    switch (how) {
    case HF_UNIT_INSTANCE_NEW:
        HF_ASSERT(unit->part_count == 1);
        instance_add(unit, instance);
        break;
    case HF_UNIT_INSTANCE_NEXT:
        HF_ASSERT(unit->part_count == 1);
        hf_unit_row(unit, 0, hf_row_instance_advance(unit->mem, instance, instance->run_count - 1));
        break;
    case HF_UNIT_INSTANCE_CHILD:
        hf_unit_row(unit, 0, hf_row_instance_child(unit->mem, instance));
        break;
    case HF_UNIT_INSTANCE_CONTINUE:
        hf_unit_row(unit, 0,
                    hf_row_instance_continue(unit->mem, instance->key, instance->run_count,
                                             instance->current_run));
        break;
    }
    return unit->part_count - 1;
}

size_t hf_unit_runs(const hf_unit *unit)
{
    return unit->part_count;
}

hf_event_builder *hf_unit_events(hf_unit *unit, size_t part)
{
    return &part_or_nowhere(unit, part)->events;
}

hf_payload_value hf_unit_payload(hf_unit *unit, hf_stager *stager, hf_keys *keys, size_t part,
                                 hf_payload_codec codec, hf_slice bytes)
{
    hf_payload_value value = hf_payload_inline(codec, bytes);
    unit_detached *detached;
    hf_row *row = NULL;
    hf_status st;

    if (bytes.len <= HF_PAYLOAD_INLINE_MAX)
        return value;
    st = hf_payload_detach(stager->sha, unit->mem, HF_PAYLOAD_FORM_REFERENCE, &value,
                           &unit->failure);
    if (!st)
        st = hf_payload_row_make(unit->mem, keys, part_or_nowhere(unit, part)->before.run, &value,
                                 bytes, &row, &unit->failure);
    if (!st)
        hf_unit_row(unit, part, row);
    detached = st ? NULL : hf_mem_alloc(unit->mem, sizeof(*detached));
    if (detached) {
        *detached = (unit_detached){.next = unit->detached, .digest = value.digest, .bytes = bytes};
        unit->detached = detached;
    } else if (!st) {
        (void)hf_err_nomem(&unit->failure, "a payload");
    }
    return value;
}

bool hf_unit_detached(const hf_unit *unit, const uint8_t digest[HF_SHA256_BYTES],
                      hf_slice *out_bytes)
{
    for (const unit_detached *at = unit->detached; at; at = at->next) {
        if (memcmp(at->digest, digest, HF_SHA256_BYTES) == 0) {
            *out_bytes = at->bytes;
            return true;
        }
    }
    return false;
}

void hf_unit_status(hf_unit *unit, size_t part, hf_run_status status)
{
    part_or_nowhere(unit, part)->status = status;
}

void hf_unit_close(hf_unit *unit, size_t part, hf_run_status status, hf_closed_reason reason,
                   int64_t closed_us)
{
    hf_unit_part *closed = part_or_nowhere(unit, part);

    HF_ASSERT(closed_us != HF_NONE);
    closed->status = status;
    closed->closed_reason = reason;
    closed->closed_us = closed_us;
}

void hf_unit_cursor(hf_unit *unit, size_t part, int64_t message_cursor)
{
    part_or_nowhere(unit, part)->cursor = message_cursor;
}

/* Rows that a seal makes, before they are sorted among the drafted ones. */
typedef struct seal_rows {
    hf_row *first;
    hf_row *last;
    size_t count;
} seal_rows;

static hf_status seal_add(seal_rows *rows, hf_row *row, hf_err *err)
{
    if (!row)
        return hf_err_nomem(err, "a row");
    if (rows->last)
        rows->last->next = row;
    else
        rows->first = row;
    rows->last = row;
    rows->count++;
    return HF_OK;
}

/* Encodes as many of the events as fit into one chunk. Halving finds the number: chunks are rarely
 * too long. */
static hf_status chunk_encode(hf_stager *stager, const hf_event *events, size_t count,
                              size_t *out_taken, hf_err *err)
{
    size_t taken = count < HF_EVENT_CHUNK_EVENTS_MAX ? count : (size_t)HF_EVENT_CHUNK_EVENTS_MAX;
    hf_status st = hf_event_chunk_encode(events, taken, &stager->body, err);

    while (st == HF_TOOBIG && taken > 1) {
        taken /= 2;
        st = hf_event_chunk_encode(events, taken, &stager->body, err);
    }
    *out_taken = taken;
    return st;
}

/* Event times do not decrease within a run, whatever the clock did. */
static void times_raise(hf_event *events, size_t count, int64_t floor_us)
{
    for (size_t i = 0; i < count; i++) {
        if (events[i].time_us < floor_us)
            events[i].time_us = floor_us;
        floor_us = events[i].time_us;
    }
}

/* The history chunks of a part, chained onto the run; leaves `after` as the run stands behind them.
 */
static hf_status part_seal(hf_unit *unit, hf_unit_part *part, hf_stager *stager, seal_rows *rows,
                           hf_err *err)
{
    hf_run_base *after = &part->after;
    hf_event *events = NULL;
    size_t count = 0;
    hf_status st = hf_event_builder_done(&part->events, &events, &count, err);

    if (st)
        return st;
    if (count == 0 && (part->creates || !unit->rows))
        return hf_err_set(err, HF_MISUSE, "a unit must append at least one event to run %lld",
                          (long long)part->before.run);
    *after = part->before;
    times_raise(events, count, part->before.last_us);
    while (count) {
        hf_event_chunk_place place = {.run_key = (uint64_t)after->run,
                                      .first_seq = (uint64_t)after->last_seq + 1};
        size_t taken = 0;

        memcpy(place.previous, after->head, sizeof(place.previous));
        st = chunk_encode(stager, events, count, &taken, err);
        if (!st)
            st = hf_event_chunk_hash(stager->sha, events, taken, &place, after->head, err);
        if (!st)
            st = seal_add(rows,
                          hf_row_history_append(unit->mem, after->run, after->last_seq + 1,
                                                (int64_t)taken, HF_EVENT_CHUNK_FORMAT,
                                                hf_buf_slice(&stager->body), after->head),
                          err);
        if (st)
            return st;
        after->last_seq += (int64_t)taken;
        after->last_us = events[taken - 1].time_us;
        after->history_bytes += (int64_t)stager->body.len;
        events += taken;
        count -= taken;
    }
    if (part->status != HF_NONE)
        after->status = part->status;
    if (part->closed_us != HF_NONE) {
        after->closed_us = part->closed_us;
        after->closed_reason = part->closed_reason;
    }
    if (part->cursor != HF_NONE && part->cursor > after->message_cursor)
        after->message_cursor = part->cursor;
    after->command_seq += part->commands;
    after->message_seq += part->messages;
    after->open_signals += part->signals;
    after->open_updates += part->updates;
    return seal_add(rows,
                    part->creates
                        ? hf_row_run_new(unit->mem, after, &part->run)
                        : hf_row_run_advance(unit->mem, &part->before, after, unit->epoch),
                    err);
}

/* Fills the numbers that rows wait for, now that the run they follow is known. */
static void row_number(const hf_unit *unit, hf_row *row)
{
    if (row->command_cell >= 0)
        row->cells[row->command_cell] =
            hf_db_int(unit->parts[row->part]->before.command_seq + row->command_ahead);
    if (row->message_cell >= 0)
        row->cells[row->message_cell] =
            hf_db_int(unit->parts[row->part]->before.message_seq + row->message_ahead);
}

/* Puts drafted and made rows side by side, by ascending operation; equal ones keep their order. */
static hf_status rows_sort(hf_unit *unit, const seal_rows *made, hf_err *err)
{
    size_t starts[HF_OP_COUNT + 1] = {0};
    size_t total = unit->row_count + made->count;
    hf_row **sorted = hf_mem_array(unit->mem, total, sizeof(hf_row *));
    uint8_t *flags = hf_mem_array(unit->mem, total, 1);
    size_t *places = hf_mem_array(unit->mem, unit->row_count, sizeof(size_t));
    size_t nth = 0;

    if (!sorted || !flags || !places)
        return hf_err_nomem(err, "the rows of a unit");
    for (const hf_row *row = unit->rows; row; row = row->next)
        starts[row->op + 1]++;
    for (const hf_row *row = made->first; row; row = row->next)
        starts[row->op + 1]++;
    for (size_t op = 1; op <= HF_OP_COUNT; op++)
        starts[op] += starts[op - 1];
    for (hf_row *row = unit->rows; row; row = row->next) {
        places[nth++] = starts[row->op];
        sorted[starts[row->op]++] = row;
    }
    for (hf_row *row = made->first; row; row = row->next)
        sorted[starts[row->op]++] = row;
    unit->row_places = places;
    unit->item = (hf_apply_item){.rows = sorted, .count = total, .flags = flags};
    if (unit->part_count) {
        unit->item.guard_run = unit->parts[0]->after.run;
        unit->item.guard_head = unit->parts[0]->after.head;
    }
    return HF_OK;
}

/* Bare rows guard themselves; every other row needs the run that proves the unit's guard. */
static hf_status rows_check(const hf_unit *unit, hf_err *err)
{
    for (const hf_row *row = unit->rows; row; row = row->next) {
        bool bare = hf_op_infos[row->op].guard == HF_OP_GUARD_BARE;

        if (bare != (unit->part_count == 0))
            return hf_err_set(err, HF_MISUSE,
                              "a unit holds either bare rows or the rows of a run, not both");
    }
    return HF_OK;
}

static hf_status unit_seal(hf_unit *unit, hf_stager *stager, hf_err *err)
{
    seal_rows made = {0};
    hf_status st = rows_check(unit, err);

    for (size_t i = 0; !st && i < unit->part_count; i++)
        st = part_seal(unit, unit->parts[i], stager, &made, err);
    if (st)
        return st;
    for (hf_row *row = unit->rows; row; row = row->next)
        row_number(unit, row);
    return rows_sort(unit, &made, err);
}

hf_status hf_unit_seal(hf_unit *unit, hf_stager *stager, hf_err *err)
{
    hf_status st;

    HF_ASSERT(!unit->sealed);
    if (unit->failure.status)
        return hf_err_set(err, unit->failure.status, "%s", unit->failure.text);
    if (!unit->part_count && !unit->rows)
        return hf_err_set(err, HF_MISUSE, "an empty unit has nothing to commit");
    st = unit_seal(unit, stager, err);
    unit->sealed = st == HF_OK;
    return hf_err_because(err, st, "seal a unit");
}

bool hf_unit_rebase_over(const hf_unit *unit, hf_event_type type)
{
    switch (unit->rebase) {
    case HF_REBASE_NEVER:
        return false;
    case HF_REBASE_COMMANDS:
        return hf_event_command_fact(type);
    case HF_REBASE_WHILE_OPEN: /* whether the run is open is read from its row */
    case HF_REBASE_ALWAYS:
        return true;
    case HF_REBASE_BUT_SIGNALS:
        return type != HF_EVENT_SIGNAL_RECEIVED;
    }
    return false;
}

int64_t hf_unit_shard(const hf_unit *unit)
{
    return unit->epoch == HF_NONE ? (int64_t)HF_NONE : unit->parts[0]->before.shard;
}

hf_unit_part *hf_unit_appends(const hf_unit *unit)
{
    return unit->part_count && !unit->parts[0]->creates ? unit->parts[0] : NULL;
}

hf_status hf_unit_rebase(hf_unit *unit, const hf_run_base *base, hf_stager *stager, hf_err *err)
{
    hf_unit_part *part = hf_unit_appends(unit);

    HF_ASSERT(unit->sealed && part && base->run == part->before.run);
    part->before = *base;
    unit->rebased++;
    return hf_err_because(err, unit_seal(unit, stager, err), "base a unit anew");
}

hf_status hf_unit_outcome(const hf_unit *unit, const char **out_text)
{
    if (out_text)
        *out_text = unit->err.text;
    return unit->status;
}

const hf_run_base *hf_unit_after(const hf_unit *unit, size_t part)
{
    return &part_at(unit, part)->after;
}

bool hf_unit_row_applied(const hf_unit *unit, size_t nth)
{
    HF_ASSERT(nth < unit->row_count);
    return unit->item.flags[unit->row_places[nth]] == HF_DB_APPLIED;
}
