/* watch.c: hosts that follow a run without asking again and again. A watch hears of every commit of
   the run, and of a run that another node owns with every sweep as well, since hints may be lost;
   what happened, its host reads for itself. */
#include "base/alloc.h"
#include "engine/call.h"
#include "engine/watch.h"
#include "holdfast/host.h"

struct hf_watch {
    hf_list link; /* in the engine's list, under its lock */
    hf_engine *engine;
    int64_t run; /* 0: it aims */
    int64_t shard;
    bool ends; /* it hears of the end alone */
    void (*changed)(void *arg);
    void *arg;
};

/* Aims until the run that it follows is the newest one still: what ends between the reading and the
   following is not told, and another run may go on from there. */
static hf_status watch_aim(hf_watch *watch, hf_call *c, const hf_watch_opts *opts)
{
    hf_intake_target target;
    bool moved = true;
    hf_status st = HF_OK;

    while (moved) {
        st = hf_call_aim(c, hf_slice_of(opts->id), hf_slice_of(opts->run_id), &target,
                         &c->slot->err);
        if (!st && target.base.run == HF_NONE)
            st = hf_err_set(&c->slot->err, HF_NOTFOUND, "%s was never started", opts->id);
        if (st)
            return st;
        hf_mutex_lock(&watch->engine->lock);
        moved = watch->run != target.base.run;
        watch->run = target.base.run;
        watch->shard = target.base.shard;
        hf_mutex_unlock(&watch->engine->lock);
        if (moved && watch->engine->node)
            hf_node_await(watch->engine->node, watch->shard, watch->run);
    }
    return HF_OK;
}

hf_status hf_watch_begin(hf_engine *engine, const hf_watch_opts *o, hf_watch **out_watch)
{
    hf_watch_opts opts = {0};
    hf_watch *watch;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st)
        st = hf_options_take(&opts, sizeof(opts), o, &c.slot->err);
    if (st)
        return st;
    if (!opts.id || !opts.changed || !out_watch)
        return hf_err_set(&c.slot->err, HF_MISUSE, "a watch needs an id and a function");
    watch = hf_alloc(sizeof(*watch));
    if (!watch)
        return hf_err_nomem(&c.slot->err, "a watch");
    *watch =
        (hf_watch){.engine = engine, .ends = opts.ends, .changed = opts.changed, .arg = opts.arg};
    *out_watch = watch; /* before it is called for the first time */
    hf_mutex_lock(&engine->lock);
    hf_list_add_last(&engine->watches, &watch->link);
    hf_mutex_unlock(&engine->lock);
    st = watch_aim(watch, &c, &opts);
    if (st) {
        hf_watch_end(watch);
        *out_watch = NULL;
    }
    return st;
}

void hf_watch_end(hf_watch *watch)
{
    if (!watch)
        return;
    hf_mutex_lock(&watch->engine->lock);
    hf_list_remove(&watch->link);
    hf_mutex_unlock(&watch->engine->lock);
    hf_alloc_free(watch);
}

void hf_watches_tell(hf_engine *engine, int64_t run, bool closed)
{
    for (hf_list *link = hf_list_first(&engine->watches); link;
         link = hf_list_next(&engine->watches, link)) {
        hf_watch *watch = HF_LIST_ENTRY(link, hf_watch, link);

        if (!run || (watch->run == run && (closed || !watch->ends)))
            watch->changed(watch->arg);
    }
}

void hf_watches_sweep(hf_engine *engine)
{
    hf_mutex_lock(&engine->lock);
    for (hf_list *link = hf_list_first(&engine->watches); link;
         link = hf_list_next(&engine->watches, link)) {
        hf_watch *watch = HF_LIST_ENTRY(link, hf_watch, link);

        if (!watch->run || hf_node_owns(engine->node, watch->shard))
            continue;
        hf_node_await(engine->node, watch->shard, watch->run);
        watch->changed(watch->arg);
    }
    hf_mutex_unlock(&engine->lock);
}
