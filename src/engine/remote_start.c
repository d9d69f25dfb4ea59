/* remote_start.c: starts that become requests to a server, one by one or many at once. What a start
   says is checked here as an engine in this process would, before anything is sent. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/remote_impl.h"
#include "engine/start.h"

enum { BATCH_MOST = 512, BATCH_BYTES = 1 << 20 }; /* starts in one request */

/* Times travel in seconds. */
static hf_status times_check(const hf_start_opts *o, hf_err *err)
{
    const struct {
        const char *name;
        hf_ms ms;
        hf_ms least;
    } times[] = {{"delay", o->delay, 0},
                 {"execution_timeout", o->execution_timeout, 1000},
                 {"run_timeout", o->run_timeout, 1000}};

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        if (times[i].ms > 0 && times[i].ms < times[i].least)
            return hf_err_set(err, HF_INVALID, "a workflow timeout must be at least 1 second");
        if (times[i].ms < 0 || times[i].ms > hf_years(100))
            return hf_err_set(err, HF_INVALID, "hf_start: %s cannot be %lld ms", times[i].name,
                              (long long)times[i].ms);
        if (times[i].ms % 1000)
            return hf_err_set(err, HF_UNSUPPORTED,
                              "hf_start: %s of %lld ms cannot be sent to a server: whole seconds "
                              "can",
                              times[i].name, (long long)times[i].ms);
    }
    return HF_OK;
}

static hf_status object_of(hf_mem *mem, const char *name, const char *json, hf_value *out_object,
                           hf_err *err)
{
    hf_status st = HF_OK;

    *out_object = hf_value_null();
    if (json)
        st = hf_json_read(mem, hf_slice_of(json), NULL, out_object, err);
    if (st == HF_NOMEM)
        return st;
    if (st || (json && hf_value_kind_of(*out_object) != HF_VALUE_OBJECT))
        return hf_err_set(err, HF_INVALID, "hf_start: %s must be a JSON object", name);
    return HF_OK;
}

static hf_value seconds_of(hf_mem *mem, hf_ms given, hf_ms declared)
{
    hf_ms ms = given ? given : declared;

    return ms > 0 ? hf_value_int(mem, (ms + 999) / 1000) : hf_value_null();
}

static hf_value number_of(hf_mem *mem, int64_t number)
{
    return number ? hf_value_int(mem, number) : hf_value_null();
}

static hf_status start_check(const char *type, const hf_start_opts *o, hf_err *err)
{
    const char *const texts[] = {type,
                                 o->id,
                                 o->queue,
                                 o->business_key,
                                 o->request_id,
                                 o->correlation_key,
                                 o->correlation_scope,
                                 o->concurrency_key,
                                 o->rate_limit};
    hf_start_keys keys = hf_start_keys_of(o);
    hf_intake_start ignored = {0};
    hf_status st;

    if (o->duplicate != HF_DUP_REJECT && o->duplicate != HF_DUP_RETURN_EXISTING)
        return hf_err_set(err, HF_INVALID, "there is no way %d to take a duplicate",
                          (int)o->duplicate);
    st = times_check(o, err);
    if (!st)
        st = hf_start_keys_read(&keys, &ignored, err);
    return st ? st : hf_remote_texts_check(texts, sizeof(texts) / sizeof(texts[0]), err);
}

/* What is said of what the run shows: labels, memo and search attributes. */
static hf_status shown_read(hf_mem *mem, const hf_start_opts *o, hf_value *out_shown, hf_err *err)
{
    hf_value objects[3];
    hf_status st = object_of(mem, "labels", o->labels, &objects[0], err);

    if (!st)
        st = object_of(mem, "memo", o->memo, &objects[1], err);
    if (!st)
        st = object_of(mem, "search_attributes", o->search_attributes, &objects[2], err);
    if (st)
        return st;
    *out_shown =
        hf_json_(mem, "{'business_key': %s, 'labels': %p, 'memo': %p, 'search_attributes': %p}",
                 o->business_key, (const void *)objects[0], (const void *)objects[1],
                 (const void *)objects[2]);
    return *out_shown ? HF_OK : hf_err_nomem(err, "a start");
}

/* A start by the names of the wire; what is null is not said. */
static hf_status start_request(hf_remote *remote, const char *type, const hf_start_opts *given,
                               hf_mem *mem, hf_value *out_request, hf_err *err)
{
    const hf_registry_workflow *here =
        hf_registry_find_workflow(remote->registry, hf_slice_of(type));
    const hf_workflow_def *def = here ? here->definition : NULL;
    hf_start_opts o = {0};
    hf_value shown = NULL;
    hf_value what;
    hf_value how;
    hf_status st = given ? hf_options_take(&o, sizeof(o), given, err)
                         : hf_err_set(err, HF_MISUSE, "a type and options are needed");

    if (!st)
        st = start_check(type, &o, err);
    if (!st)
        st = shown_read(mem, &o, &shown, err);
    if (st)
        return st;
    what = hf_json_(
        mem,
        "{'workflow_type': %s, 'workflow_id': %s, 'task_queue': %s, 'input': %p, "
        "'request_id': %s, 'execution_timeout_seconds': %p, 'run_timeout_seconds': %p, "
        "'delay_seconds': %p}",
        def ? def->type : type, o.id,
        o.queue                                    ? o.queue
        : remote->app && remote->app->queue && def ? remote->app->queue
                                                   : "default",
        o.in ? (const void *)o.in : (const void *)hf_value_null(), o.request_id,
        (const void *)seconds_of(mem, o.execution_timeout, def ? def->execution_timeout : 0),
        (const void *)seconds_of(mem, o.run_timeout, def ? def->run_timeout : 0),
        (const void *)seconds_of(mem, o.delay, 0));
    how = hf_json_(mem,
                   "{'duplicate_policy': %s, 'correlation_key': %s, 'correlation_scope': %s, "
                   "'priority': %p, 'concurrency_key': %s, 'rate_limit': %s, 'weight': %p}",
                   o.duplicate == HF_DUP_RETURN_EXISTING ? "use-existing" : NULL, o.correlation_key,
                   o.correlation_scope, (const void *)number_of(mem, o.priority), o.concurrency_key,
                   o.rate_limit, (const void *)number_of(mem, o.weight));
    what = what && how ? hf_value_merge(mem, what, how) : NULL;
    *out_request = what ? hf_value_merge(mem, what, shown) : NULL;
    return *out_request ? HF_OK : hf_err_nomem(err, "a start");
}

hf_status hf_remote_start(hf_remote *remote, const char *type, const hf_start_opts *given,
                          const char *signal, hf_value args, hf_mem *mem, hf_err *err)
{
    hf_command_result result;
    hf_value request = NULL;
    hf_status st = start_request(remote, type, given, mem, &request, err);

    if (!st && signal)
        st = hf_remote_texts_check(&signal, 1, err);
    if (st)
        return st;
    if (signal)
        request = hf_value_merge(
            mem, request,
            hf_json_(mem, "{'duplicate_policy': null, 'name': %s, 'arguments': %p}", signal,
                     args ? (const void *)args : (const void *)hf_value_null()));
    return hf_remote_order(remote, signal ? "signal_with_start" : "start", request, mem, &result,
                           err);
}

/* ---- many */

/* Starts that go in one request. */
typedef struct batch {
    hf_remote *remote;
    hf_mem *mem;
    hf_status *answers;
    hf_value_list *bodies;
    size_t places[BATCH_MOST]; /* in the caller's list */
    size_t count;
    size_t bytes;
} batch;

static hf_status answer_status(hf_value answer, hf_err *err)
{
    const hf_client_reply one = {.status = (int)hf_int(answer, "status", 500), .body = answer};
    hf_status st = hf_client_outcome(&one, err);

    return strcmp(hf_str(answer, "reason", ""), "duplicate_start") == 0 ? HF_EXISTS : st;
}

/* Sends what has come together. */
static hf_status batch_send(batch *b, hf_err *err)
{
    hf_client_request ask = {.method = "POST", .path = "/api/workflows/start-all"};
    hf_client_reply reply;
    hf_value starts = b->bodies ? hf_value_finish(b->bodies) : NULL;
    hf_value answers;
    hf_status st;

    if (b->count == 0)
        return HF_OK;
    ask.body = starts ? hf_json_(b->mem, "{'starts': %p}", (const void *)starts) : NULL;
    if (!ask.body)
        return hf_err_nomem(err, "starts");
    st = hf_remote_ask(b->remote, &ask, REMOTE_PATIENCE_MS, b->mem, &reply, err);
    if (!st)
        st = hf_client_outcome(&reply, err);
    if (st)
        return st;
    answers = hf_get(reply.body, "answers");
    for (size_t i = 0; i < b->count; i++)
        b->answers[b->places[i]] = answer_status(hf_at(answers, i), err);
    b->bodies = NULL;
    b->count = b->bytes = 0;
    return HF_OK;
}

static hf_status batch_add(batch *b, size_t at, hf_value request, hf_err *err)
{
    hf_value body = hf_remote_command_body(b->remote, b->mem, "start", request);
    hf_status st = HF_OK;
    hf_buf text = {0};
    size_t bytes;

    if (!body)
        return hf_err_nomem(err, "a start");
    hf_json_write(&text, body);
    bytes = text.len;
    if (!hf_buf_ok(&text))
        st = hf_err_nomem(err, "a start");
    hf_buf_fini(&text);
    if (!st && (b->count == BATCH_MOST || b->bytes + bytes > BATCH_BYTES))
        st = batch_send(b, err);
    if (st)
        return st;
    if (!b->bodies)
        b->bodies = hf_value_array(b->mem);
    hf_value_append(b->bodies, body);
    b->places[b->count++] = at;
    b->bytes += bytes;
    return HF_OK;
}

static hf_status batches_run(batch *b, const char *type, const hf_start_opts *items, size_t count,
                             hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; !st && i < count; i++) {
        const hf_start_opts *item;
        hf_value request = NULL;

        b->answers[i] = hf_start_item(items, i, &item, err);
        if (!b->answers[i])
            b->answers[i] = start_request(b->remote, type, item, b->mem, &request, err);
        if (b->answers[i] == HF_NOMEM)
            st = HF_NOMEM;
        else if (!b->answers[i])
            st = batch_add(b, i, request, err);
    }
    return st ? st : batch_send(b, err);
}

hf_status hf_remote_start_all(hf_remote *remote, const char *type, const hf_start_opts *items,
                              size_t count, hf_status *out_answers, hf_err *err)
{
    batch b = {.remote = remote, .mem = hf_mem_new(), .answers = out_answers};
    hf_status st = b.mem ? hf_remote_begin(remote, err) : hf_err_nomem(err, "starts");

    if (!st) {
        hf_remote_known(remote);
        st = batches_run(&b, type, items, count, err);
    }
    hf_mem_free(b.mem);
    return st;
}
