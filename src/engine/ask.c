/* ask.c: hf_query. The question is answered on the core's thread, against what is committed; the
   asker waits. It never changes anything. */
#include "engine/call.h"

/* The asker sleeps until the core's thread has answered. */
typedef struct asker {
    hf_engine *engine;
    bool done;
} asker;

static void asker_done(hf_core_ask *ask)
{
    asker *who = ask->ctx;

    hf_mutex_lock(&who->engine->lock);
    who->done = true;
    hf_cond_broadcast(&who->engine->changed);
    hf_mutex_unlock(&who->engine->lock);
}

hf_status hf_query(hf_engine *engine, const char *id, const char *name, hf_value args,
                   hf_value *out)
{
    asker who = {.engine = engine};
    hf_intake_target target;
    hf_core_ask ask;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!name || !out)
        return hf_err_set(&c.slot->err, HF_MISUSE,
                          "a query needs a name and a place for its answer");
    *out = NULL;
    st = hf_call_find(&c, id, &target);
    ask = (hf_core_ask){.run = st ? 0 : target.base.run,
                        .name = hf_slice_of(name),
                        .args = args,
                        .mem = c.slot->mem,
                        .done = asker_done,
                        .ctx = &who};
    if (!st)
        st = hf_core_query(engine->core, &ask, &c.slot->err);
    if (st)
        return st;
    if (engine->mode != ENGINE_THREADS)
        while (!who.done)
            (void)hf_core_step(engine->core);
    hf_mutex_lock(&engine->lock);
    while (!who.done)
        hf_cond_wait(&engine->changed, &engine->lock);
    hf_mutex_unlock(&engine->lock);
    *out = ask.answer;
    if (ask.status)
        c.slot->err = ask.err;
    return ask.status;
}
