/* build.c: the fleet as operators and servers see it: workers that are there, what waits at the
   queues, and builds that are drained or promoted. */
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/value.h"
#include "engine/call.h"
#include "task/matching.h"
#include "engine/fleet.h"
#include "holdfast/host.h"
#include "holdfast/worker.h"
#include "model/name.h"
#include "project/edge.h"

#define LOOK_US INT64_C(5000000)

enum {
    QUEUES_SEEN = 16, /* of a worker, at which its build is known to be */
    DEPLOYS_MAX = 200 /* that are told */
};

hf_status hf_workers_beat(hf_engine *engine, const char *worker, const char *queue,
                          const char *build)
{
    char host[64] = "";
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    st = hf_name_check(HF_NAME_LEASE_OWNER, hf_slice_of(worker), &c.slot->err);
    if (!st)
        st = hf_name_check(HF_NAME_QUEUE, hf_slice_of(queue), &c.slot->err);
    if (!st && build && *build)
        st = hf_name_check(HF_NAME_BUILD, hf_slice_of(build), &c.slot->err);
    if (st)
        return st;
    (void)gethostname(host, sizeof(host) - 1);
    return hf_engine_worker_beat(engine,
                                 &(hf_worker_row){.name = hf_slice_of(worker),
                                                  .queue = hf_slice_of(queue),
                                                  .scope = hf_engine_app_scope(engine->app),
                                                  .host = hf_slice_of(host),
                                                  .process = (int64_t)getpid(),
                                                  .build_id = hf_slice_of(build),
                                                  .supported = HF_SLICE("*")},
                                 &c.slot->err);
}

/* That a worker of its build is at the queues that it serves. */
static void seen_add(const hf_call *c, hf_unit *unit, hf_value said)
{
    hf_slice build = hf_value_slice(hf_get(said, "build_id"));
    hf_value queues = hf_get(said, "task_queues");
    size_t count = hf_len(queues) < QUEUES_SEEN ? hf_len(queues) : QUEUES_SEEN;

    for (size_t i = 0; build.len && i < (count ? count : 1); i++) {
        const char *queue =
            count ? hf_str(hf_at(queues, i), "", "") : hf_str(said, "task_queue", "default");
        const hf_db_value cells[] = {hf_db_int(c->in.namespace_key), hf_db_text(hf_slice_of(queue)),
                                     hf_db_text(build), hf_db_int(c->in.now_us)};

        hf_unit_row(unit, 0, hf_row_cells(hf_unit_mem(unit), HF_OP_BUILD_SEE, cells, 4));
    }
}

static hf_status registration_put(hf_call *c, const char *worker, hf_value said)
{
    hf_unit *unit = hf_unit_new(NULL, NULL);
    hf_buf body = {0};
    hf_status st;

    if (!unit)
        return hf_err_nomem(&c->slot->err, "a registration");
    hf_json_write(&body, said);
    if (hf_buf_ok(&body)) {
        const hf_db_value cells[] = {hf_db_int(c->in.namespace_key),
                                     hf_db_text(hf_slice_of(worker)),
                                     hf_db_blob(hf_buf_slice(&body)), hf_db_int(c->in.now_us)};

        hf_unit_row(unit, 0, hf_row_cells(hf_unit_mem(unit), HF_OP_REGISTRATION_PUT, cells, 4));
        seen_add(c, unit, said);
        st = hf_unit_seal(unit, &c->slot->stager, &c->slot->err);
    } else {
        st = hf_err_nomem(&c->slot->err, "a registration");
    }
    hf_buf_fini(&body);
    if (!st)
        st = hf_engine_commit(c->engine, unit, &c->slot->err);
    hf_unit_free(unit);
    return st;
}

hf_status hf_workers_keep(hf_engine *engine, const char *worker, hf_value said)
{
    hf_db_value cells[2];
    bool applied;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    st = hf_name_check(HF_NAME_LEASE_OWNER, hf_slice_of(worker), &c.slot->err);
    if (st || said)
        return st ? st : registration_put(&c, worker, said);
    cells[0] = hf_db_int(c.in.namespace_key);
    cells[1] = hf_db_text(hf_slice_of(worker));
    st = hf_call_row(&c, HF_OP_REGISTRATION_DROP, cells, 2, &applied, &c.slot->err);
    cells[0] = cells[1];
    cells[1] = hf_db_int(c.in.now_us);
    return st ? st : hf_call_row(&c, HF_OP_WORKER_GONE, cells, 2, &applied, &c.slot->err);
}

static hf_value kept_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_value_list *kept = hf_value_object(mem);
    hf_value said = NULL;
    hf_err err;

    (void)ctx;
    if (hf_json_read(mem, hf_db_column_bytes(row, 2), NULL, &said, &err))
        said = hf_value_null();
    hf_value_set(kept, HF_SLICE("namespace"), hf_value_string(mem, hf_db_column_bytes(row, 0)));
    hf_value_set(kept, HF_SLICE("worker_id"), hf_value_string(mem, hf_db_column_bytes(row, 1)));
    hf_value_set(kept, HF_SLICE("said"), said);
    hf_value_set(kept, HF_SLICE("seen_at"), hf_value_int(mem, hf_db_column_int(row, 3)));
    return hf_value_finish(kept);
}

hf_status hf_workers_kept(hf_engine *engine, int64_t since_us, hf_mem *mem, hf_value *out)
{
    const hf_db_value since = hf_db_int(since_us);
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    return st ? st
              : hf_call_rows(&c, HF_STMT_REGISTRATION_LIST, &since, 1, mem, kept_value, NULL, out);
}

hf_status hf_workers_queues(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!engine->matching)
        return hf_err_set(&c.slot->err, HF_MISUSE, "workers are not allowed: hf_workers_allow");
    if (!mem || !out)
        return hf_err_set(&c.slot->err, HF_MISUSE, "memory and a place for the answer are needed");
    *out = hf_matching_queues(engine->matching, c.in.namespace_key, mem);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "queues");
}

/* Something is said of a build, now or (false) no longer. */
static hf_status build_say(hf_engine *engine, hf_op op, const char *queue, const char *build,
                           bool now)
{
    hf_db_value cells[4];
    bool applied;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    st = hf_name_check(HF_NAME_QUEUE, hf_slice_of(queue), &c.slot->err);
    if (!st && build && *build)
        st = hf_name_check(HF_NAME_BUILD, hf_slice_of(build), &c.slot->err);
    if (st)
        return st;
    cells[0] = hf_db_int(c.in.namespace_key);
    cells[1] = hf_db_text(hf_slice_of(queue));
    cells[2] = hf_db_text(hf_slice_of(build ? build : ""));
    cells[3] = now ? hf_db_int(c.in.now_us) : hf_db_null(HF_DB_INT);
    return hf_call_row(&c, op, cells, 4, &applied, &c.slot->err);
}

hf_status hf_builds_drain(hf_engine *engine, const char *queue, const char *build, bool drain)
{
    return build_say(engine, HF_OP_BUILD_SET, queue, build, drain);
}

/* Whether there ever was such a build: a worker said that it is of it, a run carries it, it was
   promoted before, or it is this program's. HF_NOTFOUND otherwise: what it is promoted for would
   wait for a worker that nobody has. */
static hf_status build_check(hf_engine *engine, const char *build)
{
    int64_t known = 0;
    bool found = false;
    hf_db_value params[2];
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st || !build || !*build ||
        (engine->app && hf_slice_equal(hf_slice_of(engine->app->build_id), hf_slice_of(build))))
        return st;
    params[0] = hf_db_int(c.in.namespace_key);
    params[1] = hf_db_text(hf_slice_of(build));
    st = hf_name_check(HF_NAME_BUILD, hf_slice_of(build), &c.slot->err);
    if (st)
        return st;
    hf_call_read_begin(&c);
    st = hf_db_number(c.in.db, HF_STMT_BUILD_KNOWN, params, 2, &found, &known, &c.slot->err);
    hf_call_read_end(&c);
    if (st || found)
        return st;
    return hf_err_set(
        &c.slot->err, HF_NOTFOUND,
        "build_not_found: no worker of the build %s has registered, and no run carries it", build);
}

hf_status hf_builds_promote(hf_engine *engine, const char *queue, const char *build)
{
    hf_status st = build_check(engine, build);

    if (!st)
        st = build_say(engine, HF_OP_BUILD_PROMOTE, queue, build, true);

    if (!st)
        atomic_store(&engine->promotions, true);
    return st;
}

/* Whether anybody ever promoted a build: what is known of that is looked at now and then, so that
   starts do not pay for what is hardly used. */
static hf_status promotions_look(hf_engine *engine, hf_db *db, int64_t now_us, hf_err *err)
{
    int64_t looked_us = atomic_load(&engine->promotions_us);
    int64_t count = 0;
    bool found;
    hf_status st;

    if (atomic_load(&engine->promotions) || (looked_us && now_us - looked_us < LOOK_US))
        return HF_OK;
    st = hf_db_number(db, HF_STMT_BUILD_PROMOTIONS, NULL, 0, &found, &count, err);
    if (st)
        return st;
    atomic_store(&engine->promotions_us, now_us);
    if (count)
        atomic_store(&engine->promotions, true);
    return HF_OK;
}

hf_status hf_build_chosen(const hf_intake *in, hf_slice queue, hf_mem *mem, hf_slice *out_build,
                          hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(in->namespace_key), hf_db_text(queue)};
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(in->db, HF_STMT_BUILD_CHOSEN, params, 2, &cursor, err);

    *out_build = (hf_slice){0};
    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row && hf_db_column_bytes(cursor, 0).len) {
        hf_slice build = hf_db_column_bytes(cursor, 0);

        *out_build = hf_slice_from(hf_mem_text(mem, build), build.len);
        st = out_build->ptr ? HF_OK : hf_err_nomem(err, "a build");
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_engine_build_chosen(hf_engine *engine, const hf_intake *in, hf_slice queue,
                                 hf_mem *mem, hf_slice *out_build, hf_err *err)
{
    hf_status st = promotions_look(engine, in->db, in->now_us, err);

    *out_build = (hf_slice){0};
    return st || !atomic_load(&engine->promotions)
               ? st
               : hf_build_chosen(in, queue, mem, out_build, err);
}

static hf_value time_value(hf_mem *mem, hf_db_cursor *row, size_t column)
{
    return hf_db_column_null(row, column) ? hf_value_null()
                                          : hf_value_int(mem, hf_db_column_int(row, column));
}

static hf_value build_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_value_list *build = hf_value_object(mem);
    hf_slice id = hf_db_column_bytes(row, 1);

    (void)ctx;
    hf_value_set(build, HF_SLICE("task_queue"), hf_value_string(mem, hf_db_column_bytes(row, 0)));
    hf_value_set(build, HF_SLICE("build_id"), id.len ? hf_value_string(mem, id) : hf_value_null());
    hf_value_set(build, HF_SLICE("drained_at"), time_value(mem, row, 2));
    hf_value_set(build, HF_SLICE("promoted_at"), time_value(mem, row, 3));
    return hf_value_finish(build);
}

hf_status hf_builds(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    hf_db_value space;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    space = hf_db_int(c.in.namespace_key);
    return hf_call_rows(&c, HF_STMT_BUILD_LIST, &space, 1, mem, build_value, NULL, out);
}

static hf_value deploy_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_slice build = hf_db_column_bytes(row, 1);

    (void)ctx;
    return hf_json_(mem, "{'at': %p, 'kind': %s, 'build_id': %p, 'task_queue': %p}",
                    (const void *)hf_edge_time(mem, hf_db_column_int(row, 0)),
                    hf_db_column_int(row, 3) ? "promoted" : "seen",
                    (const void *)(build.len ? hf_value_string(mem, build) : hf_value_null()),
                    (const void *)hf_value_string(mem, hf_db_column_bytes(row, 2)));
}

hf_status hf_builds_deploys(hf_engine *engine, int64_t from_us, int64_t to_us, hf_mem *mem,
                            hf_value *out)
{
    hf_db_value params[4];
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    params[0] = hf_db_int(c.in.namespace_key);
    params[1] = hf_db_int(from_us);
    params[2] = hf_db_int(to_us);
    params[3] = hf_db_int(DEPLOYS_MAX);
    return hf_call_rows(&c, HF_STMT_BUILD_DEPLOYS, params, 4, mem, deploy_value, NULL, out);
}

enum { OPEN_RUNS_MAX = 10000 };

static hf_value build_open_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_value_list *build = hf_value_object(mem);

    (void)ctx;
    hf_value_set(build, HF_SLICE("build_id"), hf_value_string(mem, hf_db_column_bytes(row, 0)));
    hf_value_set(build, HF_SLICE("open_runs"), hf_value_int(mem, hf_db_column_int(row, 1)));
    hf_value_set(build, HF_SLICE("oldest_open_at"), hf_value_int(mem, hf_db_column_int(row, 2)));
    return hf_value_finish(build);
}

hf_status hf_builds_needed(hf_engine *engine, hf_mem *mem, hf_value *out, bool *out_exact)
{
    hf_db_value params[2];
    int64_t open = 0;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    params[0] = hf_db_int(c.in.namespace_key);
    params[1] = hf_db_int(OPEN_RUNS_MAX);
    st = hf_call_rows(&c, HF_STMT_BUILD_OPEN, params, 2, mem, build_open_value, NULL, out);
    if (!st)
        st = hf_namespace_open_runs(engine, OPEN_RUNS_MAX + 1, &open);
    *out_exact = open <= OPEN_RUNS_MAX;
    return st;
}
