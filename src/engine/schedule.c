/* schedule.c: see schedule.h. What a firing does is in intake/schedule.c; this file only decides
   when it is time to look. It never polls a store that it owns alone; of one that is shared it
   looks at the schedules of other nodes every SWEEP_US. */
#include "engine/schedule.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/value.h"
#include "engine/fleet.h"
#include "store/snapshot.h"

enum { SCAN_ROWS = 1000, TRIES_MAX = 32 };

#define RETRY_US INT64_C(1000000)  /* the store could not be asked */
#define SWEEP_US INT64_C(10000000) /* of a shared store: how late another node's may be seen */
#define WAIT_US  INT64_C(3000000)  /* of a shared store: a run may close elsewhere */

typedef struct core_schedule {
    int64_t key;
    int64_t waits;      /* for this instance to close, 0: for none */
    bool flying;        /* a unit is under way */
    bool again;         /* look again when it is done */
    bool refused;       /* the last one was; */
    int64_t refused_at; /* at this revision: when it is still the same, the id is taken */
    int tries;
} core_schedule;

struct core_firing {
    core_message message;
    core_schedule *schedule;
    hf_fired fired;
    int64_t expected; /* revision */
};

/* ---- drafting */

/* The word to the run that the schedule started before, in the same unit. */
static hf_status stop_add(const hf_intake *in, const hf_fired *fired, hf_unit *unit, hf_err *err)
{
    bool terminate = fired->verdict.effective == HF_OVERLAP_POLICY_TERMINATE_OTHER;
    hf_slice body = terminate
                        ? HF_SLICE("{\"policy\":\"terminate\",\"reason\":\"overlap_policy\"}")
                        : HF_SLICE("{\"policy\":\"request_cancel\",\"reason\":\"overlap_policy\"}");
    hf_mem *mem = hf_unit_mem(unit);
    int64_t first = 0; /* inbox row, task */
    hf_status st = hf_keys_take(in->keys, 2, &first, err);

    if (st)
        return st;
    hf_unit_row(unit, 0,
                hf_row_inbox_tell(mem, first, HF_NONE, fired->stops, HF_INBOX_STOP,
                                  fired->run.base.run, in->now_us, body));
    hf_unit_row(
        unit, 0,
        hf_row_task_tell(mem, first + 1, HF_NONE, fired->stops, HF_NONE, HF_NONE, in->now_us));
    return HF_OK;
}

/* The start as the program, or a worker that declared the type, defines it. */
static hf_status start_define(const hf_intake *in, const hf_schedule_program *program, hf_mem *mem,
                              hf_intake_start *start, hf_err *err)
{
    hf_status st;

    if (!program->far || hf_registry_find_workflow(program->registry, start->type))
        return hf_registry_define(program->registry, mem, start, err);
    st = hf_build_chosen(in, start->queue, mem, &start->compatibility, err);
    return st ? st
              : hf_snapshot_of_type(in->db, mem, start->type, &start->definition,
                                    &start->fingerprint, err);
}

/* Whether the start would wait for a worker although others are there, where that is not wanted.
   What the program has itself it can always run. */
static hf_status start_gate(const hf_intake *in, const hf_schedule_program *program, hf_mem *mem,
                            const hf_intake_start *start, bool *out_blocked, hf_err *err)
{
    const char *why = NULL;
    hf_status st = HF_OK;

    if (program->fleet_fails && start->compatibility.ptr &&
        !hf_registry_find_workflow(program->registry, start->type))
        st = hf_fleet_gate(program->app, in->db, mem, start->queue, start->compatibility,
                           in->now_us, &why, err);
    *out_blocked = why != NULL;
    return st;
}

static hf_status fire_try(const hf_intake *in, const hf_schedule_program *program,
                          const hf_schedule *schedule, const hf_fire *fire, bool latest_open,
                          const char *fails, hf_unit *unit, hf_fired *out_fired, hf_err *err)
{
    hf_mem *mem = hf_unit_mem(unit);
    hf_schedule after = *schedule;
    hf_fire judged = *fire;
    hf_intake own = *in;
    hf_intake_start start = hf_schedule_start(mem, schedule);
    hf_status st = HF_OK;

    start.compatibility = program->compatibility;
    if (!fails)
        st = start_define(in, program, mem, &start, err);
    own.namespace_key = schedule->namespace_key;
    judged.fails = fails;
    if (!st && !fails)
        st = start_gate(in, program, mem, &start, &judged.blocked, err);
    if (!st)
        st = hf_schedule_fire_draft(&own, &after, &judged, latest_open, fails ? NULL : &start, unit,
                                    out_fired, err);
    if (!st && out_fired->stops)
        st = stop_add(&own, out_fired, unit, err);
    return st;
}

hf_status hf_schedule_fire(const hf_intake *in, const hf_schedule_program *program,
                           const hf_schedule *schedule, const hf_fire *fire, bool latest_open,
                           bool failed, hf_unit **out_unit, hf_fired *out_fired, hf_err *err)
{
    const char *fails = failed ? "an instance of that id exists already" : NULL;
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_err why = {0};
    hf_status st = unit ? HF_OK : hf_err_nomem(err, "a schedule");

    if (!st)
        st = fire_try(in, program, schedule, fire, latest_open, fails, unit, out_fired, err);
    if ((st == HF_INVALID || st == HF_TOOBIG) && !failed) {
        why = *err;
        hf_unit_free(unit);
        unit = hf_unit_new(NULL, NULL);
        st = unit ? HF_OK : hf_err_nomem(err, "a schedule");
        if (!st)
            st = fire_try(in, program, schedule, fire, latest_open, why.text, unit, out_fired, err);
    }
    *out_unit = unit;
    return st;
}

/* ---- what the core knows of a schedule */

static core_schedule *schedule_at(hf_core *core, int64_t key)
{
    core_schedule *known = hf_map_int_get(core->schedules, (uint64_t)key);
    hf_err err;

    if (known)
        return known;
    known = hf_alloc(sizeof(*known));
    if (known && hf_map_int_put(core->schedules, (uint64_t)key, known, NULL, &err)) {
        hf_alloc_free(known);
        known = NULL;
    }
    if (known)
        known->key = key;
    return known;
}

static void wait_end(hf_core *core, core_schedule *known)
{
    if (known->waits)
        (void)hf_map_int_remove(core->schedule_waits, (uint64_t)known->waits);
    known->waits = 0;
}

/* It does nothing by itself any more. */
static void schedule_forget(hf_core *core, core_schedule *known)
{
    hf_core_disarm(core, known->key);
    wait_end(core, known);
    (void)hf_map_int_remove(core->schedules, (uint64_t)known->key);
    hf_alloc_free(known);
}

static void alarm_at(hf_core *core, int64_t key, int64_t due_us)
{
    const core_alarm alarm = {.kind = CORE_ALARM_SCHEDULE, .key = key};

    (void)hf_core_alarm_move(core, &alarm, due_us);
}

static bool store_is_shared(const hf_core *core)
{
    return core->o.shards != NULL;
}

/* Nothing is to be done now: when is something? */
static void schedule_park(hf_core *core, core_schedule *known, const hf_schedule *s)
{
    int64_t due_us = s->next_us ? s->next_us - hf_core_wall_ahead(core) : INT64_MAX;
    hf_err err;

    wait_end(core, known);
    known->tries = 0;
    if (s->buffered_count &&
        !hf_map_int_put(core->schedule_waits, (uint64_t)s->latest_instance, known, NULL, &err))
        known->waits = s->latest_instance;
    if (s->buffered_count && (store_is_shared(core) || !known->waits) &&
        due_us > hf_core_now(core) + WAIT_US)
        due_us = hf_core_now(core) + WAIT_US;
    if (due_us == INT64_MAX)
        hf_core_disarm(core, known->key);
    else
        alarm_at(core, known->key, due_us);
}

/* ---- firing */

static void firing_done(hf_unit *unit, void *ctx)
{
    struct core_firing *firing = ctx;

    firing->message.unit = unit;
    hf_core_put(firing->message.core, &firing->message);
}

static hf_status schedule_send(hf_core *core, core_schedule *known, const hf_schedule *s,
                               const hf_fire *fire, bool latest_open, hf_err *err)
{
    const hf_intake in = {.db = core->db,
                          .stager = &core->stager,
                          .keys = hf_writer_keys(core->o.writer),
                          .namespace_key = s->namespace_key,
                          .payload_max = hf_limits_get(core->o.limits, HF_LIMIT_PAYLOAD_SIZE_BYTES),
                          .now_us = hf_core_now(core),
                          .wall_ahead_us = hf_core_wall_ahead(core)};
    const hf_schedule_program program = {.registry = core->o.registry,
                                         .compatibility = core->o.compatibility,
                                         .app = core->o.app,
                                         .fleet_fails = core->o.settings->fleet_fails,
                                         .far = core->o.matching != NULL};
    bool failed = known->refused && known->refused_at == s->revision;
    struct core_firing *firing = NULL;
    hf_unit *unit = NULL;
    hf_fired fired;
    hf_status st =
        hf_schedule_fire(&in, &program, s, fire, latest_open, failed, &unit, &fired, err);

    if (!st) {
        firing = hf_mem_alloc(hf_unit_mem(unit), sizeof(*firing));
        st = firing ? HF_OK : hf_err_nomem(err, "a schedule");
    }
    if (!st) {
        *firing = (struct core_firing){
            .message = {.kind = CORE_MESSAGE_FIRED, .core = core, .firing = firing},
            .schedule = known,
            .fired = fired,
            .expected = s->revision};
        hf_unit_on_done(unit, firing_done, firing);
        st = hf_unit_seal(unit, &core->stager, err);
    }
    if (!st)
        st = hf_writer_offer(core->o.writer, unit, err);
    if (st)
        hf_unit_free(unit);
    known->flying = !st;
    return st;
}

/* Reads the schedule and does what is due; *out_idle: it does nothing by itself. */
static hf_status schedule_move(hf_core *core, core_schedule *known, hf_mem *mem, bool *out_idle,
                               hf_err *err)
{
    hf_schedule s;
    hf_fire fire = {.kind = HF_FIRE_TICK};
    int64_t open = 0;
    hf_status st = hf_schedule_read(core->db, mem, known->key, &s, err);

    *out_idle = st == HF_NOTFOUND || (!st && s.status != HF_SCHEDULE_STATUS_ACTIVE);
    if (*out_idle)
        return HF_OK;
    if (!st)
        st = hf_schedule_open_run(core->db, s.latest_instance, &open, err);
    if (st)
        return st;
    fire.occurrence_us = s.slot_us;
    if (s.buffered_count && !open) {
        fire.kind = HF_FIRE_DRAIN;
        fire.occurrence_us = s.buffered[0];
    } else if (!s.next_us || s.next_us > hf_core_now(core) + hf_core_wall_ahead(core)) {
        schedule_park(core, known, &s);
        return HF_OK;
    }
    return schedule_send(core, known, &s, &fire, open != 0, err);
}

void hf_schedule_look(hf_core *core, int64_t key)
{
    core_schedule *known = schedule_at(core, key);
    hf_mem *mem = hf_mem_new();
    bool idle = false;
    hf_err err = {0};
    hf_status st = HF_NOMEM;

    if (known && known->flying) {
        known->again = true;
        hf_mem_free(mem);
        return;
    }
    if (known && mem)
        st = schedule_move(core, known, mem, &idle, &err);
    if (st == HF_UNREACHABLE)
        (void)!hf_db_reconnect(core->db, NULL);
    if (st)
        alarm_at(core, key, hf_core_now(core) + RETRY_US);
    else if (idle)
        schedule_forget(core, known);
    hf_mem_free(mem);
}

void hf_schedule_fired(hf_core *core, struct core_firing *firing)
{
    core_schedule *known = firing->schedule;
    hf_unit *unit = firing->message.unit;
    hf_status st = hf_unit_outcome(unit, NULL);
    int64_t stopped = 0;
    int64_t key = known->key;
    hf_err err;

    known->flying = false;
    known->again = false;
    known->refused = st == HF_CONFLICT || st == HF_CONSTRAINT;
    known->refused_at = firing->expected;
    if (!st && firing->fired.made) {
        hf_core_look(core, firing->fired.run.base.run);
        if (!hf_schedule_open_run(core->db, firing->fired.stops, &stopped, &err) && stopped)
            hf_core_look(core, stopped);
    }
    known->tries = st ? known->tries + 1 : 0;
    hf_unit_free(unit);
    if (st == HF_STOPPED)
        return;
    if ((st && !known->refused) || known->tries > TRIES_MAX)
        alarm_at(core, key, hf_core_now(core) + RETRY_US);
    else
        hf_schedule_look(core, key);
}

void hf_schedule_closed(hf_core *core, int64_t instance)
{
    const core_schedule *known = hf_map_int_get(core->schedule_waits, (uint64_t)instance);

    if (known)
        hf_schedule_look(core, known->key);
}

/* Looks at all that fire before a time. */
static hf_status schedules_look(hf_core *core, int64_t before_us, hf_err *err)
{
    int64_t keys[SCAN_ROWS];
    int64_t after = 0;
    size_t seen = SCAN_ROWS;
    hf_status st = HF_OK;

    while (!st && seen == SCAN_ROWS) {
        const hf_db_value params[] = {hf_db_int(after), hf_db_int(before_us), hf_db_int(SCAN_ROWS)};
        hf_db_cursor *cursor = NULL;
        bool row = true;

        seen = 0;
        st = hf_db_query(core->db, HF_STMT_WORK_SCHEDULES, params, 3, &cursor, err);
        while (!st && row && seen < SCAN_ROWS) {
            st = hf_db_step(cursor, &row, err);
            if (!st && row)
                keys[seen++] = after = hf_db_column_int(cursor, 0);
        }
        hf_db_end(cursor);
        for (size_t i = 0; !st && i < seen; i++)
            hf_schedule_look(core, keys[i]);
    }
    return st;
}

hf_status hf_schedule_scan(hf_core *core, hf_err *err)
{
    if (store_is_shared(core))
        alarm_at(core, HF_SCHEDULE_SWEEP, hf_core_now(core) + SWEEP_US);
    return schedules_look(core, INT64_MAX, err);
}

void hf_schedule_due(hf_core *core, int64_t key)
{
    int64_t before_us = store_is_shared(core) ? hf_core_now(core) + 2 * SWEEP_US : INT64_MAX;
    hf_err err;

    if (key != HF_SCHEDULE_SWEEP) {
        hf_schedule_look(core, key);
        return;
    }
    if (schedules_look(core, before_us, &err))
        alarm_at(core, HF_SCHEDULE_SWEEP, hf_core_now(core) + RETRY_US);
    else if (store_is_shared(core))
        alarm_at(core, HF_SCHEDULE_SWEEP, hf_core_now(core) + SWEEP_US);
}

void hf_core_clock_jumped(hf_core *core)
{
    if (!store_is_shared(core) && hf_map_int_count(core->schedules))
        alarm_at(core, HF_SCHEDULE_SWEEP, hf_core_now(core));
}

bool hf_core_clock_watched(const hf_core *core)
{
    return !store_is_shared(core) && hf_map_int_count(core->schedules) > 0;
}

void hf_schedule_forget_all(hf_core *core)
{
    size_t at = 0;
    uint64_t key;
    void *known;

    while (core->schedules && hf_map_int_next(core->schedules, &at, &key, &known))
        hf_alloc_free(known);
    hf_map_int_free(core->schedules);
    hf_map_int_free(core->schedule_waits);
}
