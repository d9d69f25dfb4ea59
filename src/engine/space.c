/* space.c: namespaces: ids, lists, queues and schedules that do not see those of others. A thread's
   calls work in one of them, "default" until it says otherwise; running work belongs to the
   namespace of its rows, whoever moves it. Names are never changed, so a key once known is known.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/value.h"
#include "engine/retention.h"
#include "engine/call.h"
#include "engine/look.h"
#include "engine/remote.h"
#include "holdfast/host.h"
#include "model/name.h"
#include "store/stmt.h"

enum { NAME_SIZE = 129, DESCRIPTION_BYTES_MAX = 1000, STORAGE_BYTES_MAX = 4096 };

typedef struct engine_space {
    struct engine_space *next;
    int64_t key;
    char name[NAME_SIZE];
} engine_space;

/* ---- names that are known */

/* With the lock held. */
static engine_space *space_known(const hf_engine *engine, hf_slice name)
{
    engine_space *space = engine->spaces;

    while (space && !hf_slice_equal(hf_slice_of(space->name), name))
        space = space->next;
    return space;
}

static engine_space *space_find(hf_engine *engine, hf_slice name)
{
    engine_space *space;

    hf_mutex_lock(&engine->lock);
    space = space_known(engine, name);
    hf_mutex_unlock(&engine->lock);
    return space;
}

/* NULL: no memory. It lives as long as the engine. */
static engine_space *space_keep(hf_engine *engine, hf_slice name, int64_t key)
{
    engine_space *made = hf_alloc(sizeof(*made));
    engine_space *space;

    if (!made || name.len >= sizeof(made->name)) {
        hf_alloc_free(made);
        return NULL;
    }
    made->key = key;
    memcpy(made->name, name.ptr, name.len);
    made->name[name.len] = '\0';
    hf_mutex_lock(&engine->lock);
    space = space_known(engine, name);
    if (!space) {
        made->next = engine->spaces;
        engine->spaces = made;
    }
    hf_mutex_unlock(&engine->lock);
    if (space)
        hf_alloc_free(made);
    return space ? space : made;
}

const char *hf_engine_space_name(hf_engine *engine, int64_t key)
{
    const engine_space *space;

    hf_mutex_lock(&engine->lock);
    space = engine->spaces;
    while (space && space->key != key)
        space = space->next;
    hf_mutex_unlock(&engine->lock);
    return space ? space->name : NULL;
}

void hf_engine_spaces_free(hf_engine *engine)
{
    while (engine->spaces) {
        engine_space *space = engine->spaces;

        engine->spaces = space->next;
        hf_alloc_free(space);
    }
}

/* ---- what is recorded of one */

static hf_status opts_read(const hf_namespace_opts *given, hf_namespace_opts *o, hf_err *err)
{
    hf_status st = given ? hf_options_take(o, sizeof(*o), given, err)
                         : hf_err_set(err, HF_MISUSE, "the options of a namespace are needed");

    if (st)
        return st;
    if (o->retention_days < HF_NAMESPACE_FOR_EVER || o->retention_days > HF_NAMESPACE_DAYS_MAX)
        return hf_err_set(err, HF_INVALID, "the retention is 1 to %d days", HF_NAMESPACE_DAYS_MAX);
    if (o->description && (strlen(o->description) > DESCRIPTION_BYTES_MAX ||
                           !hf_utf8_valid(hf_slice_of(o->description))))
        return hf_err_set(err, HF_INVALID, "the description is not UTF-8 of at most %d bytes",
                          DESCRIPTION_BYTES_MAX);
    if (o->storage && strlen(o->storage) > STORAGE_BYTES_MAX)
        return hf_err_set(err, HF_INVALID, "the storage policy has more than %d bytes",
                          STORAGE_BYTES_MAX);
    return HF_OK;
}

static hf_db_value text_or_null(const char *text)
{
    return text ? hf_db_text(hf_slice_of(text)) : hf_db_null(HF_DB_TEXT);
}

static hf_value time_value(hf_mem *mem, int64_t wall_us)
{
    char text[HF_CLOCK_TEXT_SIZE];

    return hf_clock_print(wall_us, text) ? hf_value_string(mem, hf_slice_of(text)) : NULL;
}

static hf_value space_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_slice name = hf_db_column_bytes(row, 1);
    hf_slice storage = hf_db_column_bytes(row, 5);
    hf_value_list *object = hf_value_object(mem);
    hf_value policy = hf_value_null();
    hf_err err;

    if (ctx && !space_keep(ctx, name, hf_db_column_int(row, 0)))
        return NULL;
    if (storage.len && hf_json_read(mem, storage, NULL, &policy, &err))
        policy = hf_value_null();
    hf_value_set(object, HF_SLICE("name"), hf_value_string(mem, name));
    hf_value_set(object, HF_SLICE("description"), hf_value_string(mem, hf_db_column_bytes(row, 4)));
    hf_value_set(object, HF_SLICE("retention_days"), hf_value_int(mem, hf_db_column_int(row, 3)));
    hf_value_set(object, HF_SLICE("created_at"), time_value(mem, hf_db_column_int(row, 2)));
    hf_value_set(object, HF_SLICE("external_payload_storage"), policy);
    return hf_value_finish(object);
}

/* As the row says it: 0 is for ever. */
static int64_t days_kept(const hf_namespace_opts *o)
{
    return o->retention_days == HF_NAMESPACE_FOR_EVER ? 0 : o->retention_days;
}

/* ---- public */

hf_status hf_namespace_use(hf_engine *engine, const char *name)
{
    hf_slice wanted = hf_slice_of(name ? name : HF_SPACE_DEFAULT);
    engine_space *space;
    int64_t key = 0;
    engine_slot *slot = engine ? hf_engine_slot_get(engine) : NULL;
    hf_call c;
    hf_status st;

    if (slot && !engine->open_error.status &&
        hf_slice_equal(wanted, hf_slice_of(slot->namespace_name)))
        return HF_OK; /* as it mostly is */
    st = hf_call_begin(&c, engine);
    if (st)
        return st;
    space = space_find(engine, wanted);
    if (!space) {
        hf_call_read_begin(&c);
        st = hf_namespace_get(c.in.db, wanted, &key, &c.slot->err);
        hf_call_read_end(&c);
        if (st)
            return st;
        space = space_keep(engine, wanted, key);
        if (!space)
            return hf_err_nomem(&c.slot->err, "a namespace");
    }
    c.slot->namespace_key = space->key;
    c.slot->namespace_name = space->name;
    return HF_OK;
}

hf_status hf_namespace_create(hf_engine *engine, const char *name, const hf_namespace_opts *o)
{
    hf_namespace_opts opts = {0};
    bool applied = false;
    int64_t key = 0;
    hf_err *err;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    err = &c.slot->err;
    st = opts_read(o, &opts, err);
    if (!st)
        st = hf_name_check(HF_NAME_NAMESPACE, hf_slice_of(name), err);
    if (!st)
        st = hf_keys_take(c.in.keys, 1, &key, err);
    if (!st) {
        const hf_db_value cells[] = {
            hf_db_int(key),
            hf_db_text(hf_slice_of(name)),
            hf_db_int(c.in.now_us),
            hf_db_int(opts.retention_days ? days_kept(&opts) : HF_NAMESPACE_DAYS),
            hf_db_text(hf_slice_of(opts.description ? opts.description : "")),
            text_or_null(opts.storage)};

        st = hf_call_row(&c, HF_OP_NAMESPACE_ADD, cells, sizeof(cells) / sizeof(cells[0]), &applied,
                         err);
    }
    if (!st && !applied)
        st = hf_err_set(err, HF_EXISTS, "the namespace %s exists already", name);
    return st;
}

hf_status hf_namespace_set(hf_engine *engine, const char *name, const hf_namespace_opts *o)
{
    hf_namespace_opts opts = {0};
    bool applied = false;
    bool remote;
    hf_err *err;
    hf_call c;
    hf_status st = hf_call_begin_either(&c, engine, &remote);

    if (st)
        return st;
    err = &c.slot->err;
    st = opts_read(o, &opts, err);
    if (!st && !name)
        st = hf_err_set(err, HF_MISUSE, "the name of a namespace is needed");
    if (!st && remote)
        return hf_remote_namespace_set(engine->remote, name, &opts, c.slot->mem, err);
    if (!st) {
        const hf_db_value cells[] = {hf_db_text(hf_slice_of(name)),
                                     opts.retention_days ? hf_db_int(days_kept(&opts))
                                                         : hf_db_null(HF_DB_INT),
                                     text_or_null(opts.description), text_or_null(opts.storage)};

        st = hf_call_row(&c, HF_OP_NAMESPACE_SET, cells, sizeof(cells) / sizeof(cells[0]), &applied,
                         err);
    }
    if (!st && !applied)
        st = hf_err_set(err, HF_NOTFOUND, "there is no namespace called %s", name);
    if (!st)
        hf_retention_changed(engine->core);
    return st;
}

hf_status hf_look_namespaces(hf_db *db, hf_engine *engine, hf_mem *mem, hf_value *out, hf_err *err)
{
    return hf_look_rows(db, HF_STMT_NAMESPACE_LIST, NULL, 0, mem, space_value, engine, out, err);
}

hf_status hf_namespaces(hf_engine *engine, hf_mem *mem, hf_value *out)
{
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    hf_call_read_begin(&c);
    st = hf_look_namespaces(c.in.db, engine, mem, out, &c.slot->err);
    hf_call_read_end(&c);
    return st;
}

/* One number of the thread's namespace. */
static hf_status space_number(hf_engine *engine, hf_stmt stmt, const int64_t *most, int64_t *out)
{
    hf_db_value params[2];
    bool found = false;
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    if (!out || (most && *most < 0))
        return hf_err_set(&c.slot->err, HF_INVALID, "a place for the answer and a bound from 0 on");
    *out = 0;
    params[0] = hf_db_int(c.in.namespace_key);
    params[1] = hf_db_int(most ? *most : 0);
    hf_call_read_begin(&c);
    st = hf_db_number(c.in.db, stmt, params, most ? 2 : 1, &found, out, &c.slot->err);
    hf_call_read_end(&c);
    return st;
}

hf_status hf_namespace_open_runs(hf_engine *engine, int64_t most, int64_t *out_count)
{
    return space_number(engine, HF_STMT_NAMESPACE_OPEN, &most, out_count);
}

hf_status hf_namespace_bytes(hf_engine *engine, int64_t *out_bytes)
{
    return space_number(engine, HF_STMT_NAMESPACE_BYTES, NULL, out_bytes);
}
