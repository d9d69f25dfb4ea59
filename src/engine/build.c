/* build.c: the fleet as operators and servers see it: workers that are there, what waits at the
   queues, and builds that are drained. */
#include <string.h>
#include <unistd.h>

#include "base/value.h"
#include "engine/call.h"
#include "engine/desk.h"
#include "engine/fleet.h"
#include "holdfast/worker.h"

enum { BUILD_BYTES_MAX = 191 };

hf_status hf_workers_beat(hf_engine *engine, const char *worker, const char *queue,
                          const char *build)
{
    char host[64] = "";
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!worker || !*worker || !queue || !*queue)
        return hf_err_set(&c.slot->err, HF_INVALID, "a worker and a queue are needed");
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

hf_status hf_workers_queues(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!engine->desk)
        return hf_err_set(&c.slot->err, HF_MISUSE, "workers are not allowed: hf_workers_allow");
    *out = hf_desk_show(engine->desk, c.in.namespace_key, mem);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "queues");
}

hf_status hf_builds_drain(hf_engine *engine, const char *queue, const char *build, bool drain)
{
    hf_db_value cells[4];
    bool applied;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!queue || !*queue || (build && strlen(build) > BUILD_BYTES_MAX))
        return hf_err_set(&c.slot->err, HF_INVALID, "a queue and a build of at most %d bytes",
                          BUILD_BYTES_MAX);
    cells[0] = hf_db_int(c.in.namespace_key);
    cells[1] = hf_db_text(hf_slice_of(queue));
    cells[2] = hf_db_text(hf_slice_of(build ? build : ""));
    cells[3] = drain ? hf_db_int(c.in.now_us) : hf_db_null(HF_DB_INT);
    return hf_call_row(&c, HF_OP_BUILD_SET, cells, 4, &applied, &c.slot->err);
}

static hf_value build_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_value_list *build = hf_value_object(mem);
    hf_slice id = hf_db_column_bytes(row, 1);

    (void)ctx;
    hf_value_set(build, HF_SLICE("task_queue"), hf_value_string(mem, hf_db_column_bytes(row, 0)));
    hf_value_set(build, HF_SLICE("build_id"), id.len ? hf_value_string(mem, id) : hf_value_null());
    hf_value_set(build, HF_SLICE("drained_at"), hf_value_int(mem, hf_db_column_int(row, 2)));
    return hf_value_finish(build);
}

hf_status hf_builds_drained(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    hf_db_value space;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    space = hf_db_int(c.in.namespace_key);
    return hf_call_rows(&c, HF_STMT_BUILD_LIST, &space, 1, mem, build_value, NULL, out);
}
