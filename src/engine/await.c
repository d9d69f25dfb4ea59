/* await.c: callers that wait for an instance to settle. The truth is always the store: an engine
   that closes meanwhile leaves the caller with "busy", never with a failure. */
#include "engine/answer.h"
#include "engine/call.h"
#include "engine/remote.h"

typedef struct awaiting {
    const char *id;
    bool terminal;
    hf_settled_state state;
} awaiting;

/* Whether code of the run has something to do. */
static hf_status run_wanted(hf_call *c, int64_t run, bool *out_wanted)
{
    const hf_db_value key = hf_db_int(run);
    int64_t task = 0;
    hf_status st;

    hf_call_read_begin(c);
    st = hf_db_number(c->in.db, HF_STMT_TASK_WANTED, &key, 1, out_wanted, &task, &c->slot->err);
    hf_call_read_end(c);
    return st;
}

static hf_status settle_look(hf_call *c, void *ctx)
{
    awaiting *wanted = ctx;
    hf_intake_target target;
    bool busy = false;
    hf_status st = hf_call_find(c, wanted->id, &target);

    if (st == HF_NOTFOUND) {
        wanted->state = HF_SETTLED_NOT_FOUND;
        return HF_OK;
    }
    if (st)
        return st;
    c->awaits = target.base.run;
    c->awaits_shard = target.base.shard;
    c->awaits_end = wanted->terminal;
    if (target.base.closed_us != HF_NONE) {
        wanted->state = HF_SETTLED_DONE;
        return HF_OK;
    }
    wanted->state = HF_SETTLED_BUSY;
    if (wanted->terminal)
        return HF_BUSY;
    st = run_wanted(c, target.base.run, &busy);
    if (st || busy)
        return st ? st : HF_BUSY;
    wanted->state = HF_SETTLED_AWAITING;
    return HF_OK;
}

hf_status hf_await(hf_engine *engine, const char *id_or_key, hf_ms wait, bool terminal,
                   hf_settled *out)
{
    awaiting wanted = {.id = id_or_key, .terminal = terminal, .state = HF_SETTLED_BUSY};
    bool remote;
    hf_call c;
    hf_status st = hf_call_begin_either(&c, engine, &remote);

    if (st)
        return st;
    if (!id_or_key || !out)
        return hf_err_set(&c.slot->err, HF_MISUSE, "an id and a place for the answer are needed");
    *out = (hf_settled){.state = HF_SETTLED_BUSY};
    if (remote)
        return hf_remote_settled(engine->remote, id_or_key, wait, terminal, c.slot->mem, out,
                                 &c.slot->err);
    st = hf_call_await(&c, wait, settle_look, &wanted);
    if (st == HF_TIMEOUT || st == HF_STOPPED || st == HF_UNREACHABLE)
        return HF_OK;
    out->state = wanted.state;
    if (st || wanted.state != HF_SETTLED_DONE)
        return st;
    st = hf_result(engine, id_or_key, 0, &out->result, &out->error);
    if (st == HF_ERROR || st == HF_CANCELLED)
        out->state = HF_SETTLED_FAILED;
    return out->state == HF_SETTLED_FAILED ? HF_OK : st;
}
