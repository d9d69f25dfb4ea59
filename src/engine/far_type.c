/* far_type.c: what workers of other processes declare. The names of a type's signals, updates and
   queries are recorded like those of a definition of this program, so that a run carries them from
   its start; what their arguments must be, the worker knows and checks. */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/value.h"
#include "engine/call.h"
#include "engine/turnstile.h"
#include "holdfast/worker.h"
#include "model/contract.h"
#include "model/name.h"

enum { TELL_ROWS = 1000 };

/* Lists of names or nothing under the names of lists. A PHP program says [] for {}. */
static hf_status declared_check(const char *type, hf_value declared, hf_err *err)
{
    static const char *const lists[] = {"signals", "updates", "queries", "update_validators"};
    hf_value_kind kind = hf_value_kind_of(declared);

    if (kind != HF_VALUE_OBJECT && kind != HF_VALUE_NULL &&
        (kind != HF_VALUE_ARRAY || hf_len(declared)))
        return hf_err_set(err, HF_INVALID, "what %s declares is no object of lists", type);
    for (size_t i = 0; kind == HF_VALUE_OBJECT && i < sizeof(lists) / sizeof(lists[0]); i++) {
        hf_value names = hf_get(declared, lists[i]);
        hf_status st = HF_OK;

        if (hf_value_kind_of(names) == HF_VALUE_NULL)
            continue;
        if (hf_value_kind_of(names) != HF_VALUE_ARRAY || hf_len(names) > HF_DEFINITION_TARGETS_MAX)
            return hf_err_set(err, HF_INVALID, "%s of %s must be a list of at most %d names",
                              lists[i], type, HF_DEFINITION_TARGETS_MAX);
        for (size_t k = 0; !st && k < hf_len(names); k++)
            st = hf_name_check(HF_NAME_SIGNAL, hf_value_slice(hf_at(names, k)), err);
        if (st)
            return hf_err_because(err, st, "%s of %s", lists[i], type);
    }
    return HF_OK;
}

static void names_write(hf_buf *body, hf_value names)
{
    hf_buf_add_text(body, "[");
    for (size_t i = 0; i < hf_len(names); i++) {
        hf_buf_add_text(body, i ? ",\"" : "\"");
        hf_json_add_escaped(body, hf_value_slice(hf_at(names, i)));
        hf_buf_add_text(body, "\"");
    }
    hf_buf_add_text(body, "]");
}

/* "signals": {"contracts": [], "names": [...]} */
static void targets_write(hf_buf *body, const char *kind, hf_value names)
{
    hf_buf_add_format(body, ",\"%s\":{\"contracts\":[],\"names\":", kind);
    names_write(body, names);
    hf_buf_add_text(body, "}");
}

/* Over the type, what is declared and the worker's own fingerprint of its code. */
static hf_status fingerprint_make(hf_call *c, hf_slice type, hf_slice body, const char *code,
                                  char out[HF_DEFINITION_FINGERPRINT_SIZE], hf_err *err)
{
    uint8_t digest[HF_SHA256_BYTES];
    hf_buf text = {0};
    hf_status st;

    hf_buf_add_slice(&text, type);
    hf_buf_add_byte(&text, '\n');
    hf_buf_add_slice(&text, body);
    hf_buf_add_byte(&text, '\n');
    hf_buf_add_text(&text, code ? code : "");
    st = hf_buf_ok(&text) ? hf_sha256_digest(c->slot->stager.sha, hf_buf_slice(&text), digest, err)
                          : hf_err_nomem(err, "a definition");
    hf_buf_fini(&text);
    if (st)
        return st;
    memcpy(out, "sha256:", 7);
    hf_hex_print(hf_slice_from(digest, sizeof(digest)), out + 7);
    return HF_OK;
}

/* Runs that were started before anybody had their type, and wait for somebody who does, are told
   that it is known now, at whatever node they are. */
static hf_status waiting_tell(hf_call *c, hf_slice type, hf_err *err)
{
    int64_t after = 0;
    int64_t seen = TELL_ROWS;
    hf_status st = HF_OK;

    while (!st && seen == TELL_ROWS) {
        const hf_db_value params[] = {hf_db_text(type), hf_db_int(after), hf_db_int(TELL_ROWS)};
        hf_db_cursor *cursor = NULL;
        bool row = true;

        seen = 0;
        hf_call_read_begin(c);
        st = hf_db_query(c->in.db, HF_STMT_WORK_UNDECLARED, params, 3, &cursor, err);
        while (!st && row) {
            st = hf_db_step(cursor, &row, err);
            if (st || !row)
                break;
            seen++;
            after = hf_db_column_int(cursor, 0);
            hf_core_notify(c->engine->core, after);
        }
        hf_db_end(cursor);
        hf_call_read_end(c);
    }
    return st;
}

/* The type is known for the first time. Which runs wait for that may be unreadable: then the core
   looks at all that have work. */
static void type_tell(hf_call *c, hf_slice type)
{
    bool shards[HF_SHARDS];
    hf_err err;

    if (!waiting_tell(c, type, &err))
        return;
    for (size_t i = 0; i < HF_SHARDS; i++)
        shards[i] = true;
    hf_core_sweep(c->engine->core, shards, true);
}

static hf_status type_known(hf_call *c, hf_slice type, bool *out_known, hf_err *err)
{
    const hf_db_value name = hf_db_text(type);
    int64_t key;
    hf_status st;

    hf_call_read_begin(c);
    st = hf_db_number(c->in.db, HF_STMT_DEFINITION_OF_TYPE, &name, 1, out_known, &key, err);
    hf_call_read_end(c);
    return st;
}

static hf_status definition_commit(hf_call *c, hf_slice type, hf_slice body,
                                   const char *fingerprint, hf_err *err)
{
    hf_unit *unit = hf_unit_new(NULL, NULL);
    int64_t key = 0;
    bool known = false;
    hf_status st =
        unit ? hf_keys_take(c->in.keys, 1, &key, err) : hf_err_nomem(err, "a definition");

    if (!st)
        st = type_known(c, type, &known, err);
    if (!st) {
        hf_unit_row(
            unit, 0,
            hf_row_definition_add(hf_unit_mem(unit), key, hf_slice_of(fingerprint), type, body));
        st = hf_unit_seal(unit, &c->slot->stager, err);
    }
    if (!st)
        st = hf_engine_commit(c->engine, unit, err);
    hf_unit_free(unit);
    if (!st && !known)
        type_tell(c, type);
    return st;
}

hf_status hf_workers_type(hf_engine *engine, const char *type, hf_value declared,
                          const char *fingerprint)
{
    char print[HF_DEFINITION_FINGERPRINT_SIZE];
    hf_buf body = {0};
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    st = hf_name_check(HF_NAME_TYPE, hf_slice_of(type), &c.slot->err);
    if (!st)
        st = declared_check(type, declared, &c.slot->err);
    if (st)
        return st;
    hf_buf_add_text(&body, "{\"params\":null");
    targets_write(&body, "queries", hf_get(declared, "queries"));
    targets_write(&body, "signals", hf_get(declared, "signals"));
    targets_write(&body, "updates", hf_get(declared, "updates"));
    if (hf_len(hf_get(declared, "update_validators"))) {
        hf_buf_add_text(&body, ",\"validators\":");
        names_write(&body, hf_get(declared, "update_validators"));
    }
    hf_buf_add_text(&body, "}");
    st = hf_buf_ok(&body) ? HF_OK : hf_err_nomem(&c.slot->err, "a definition");
    if (!st)
        st = fingerprint_make(&c, hf_slice_of(type), hf_buf_slice(&body), fingerprint, print,
                              &c.slot->err);
    if (!st)
        st = definition_commit(&c, hf_slice_of(type), hf_buf_slice(&body), print, &c.slot->err);
    hf_buf_fini(&body);
    return st;
}

/* {"names": [texts], "contracts": [objects]} */
static bool targets_fit(hf_value targets)
{
    hf_value names = hf_get(targets, "names");
    hf_value contracts = hf_get(targets, "contracts");
    hf_err err;
    bool fit = hf_value_kind_of(names) == HF_VALUE_ARRAY &&
               hf_value_kind_of(contracts) == HF_VALUE_ARRAY &&
               hf_len(names) <= HF_DEFINITION_TARGETS_MAX &&
               hf_len(contracts) <= HF_DEFINITION_TARGETS_MAX;

    for (size_t i = 0; fit && i < hf_len(names); i++)
        fit = !hf_name_check(HF_NAME_SIGNAL, hf_value_slice(hf_at(names, i)), &err);
    for (size_t i = 0; fit && i < hf_len(contracts); i++)
        fit = hf_value_kind_of(hf_at(contracts, i)) == HF_VALUE_OBJECT;
    return fit;
}

static bool fingerprint_fits(const char *text)
{
    return text && strlen(text) == HF_DEFINITION_FINGERPRINT_SIZE - 1 &&
           strncmp(text, "sha256:", 7) == 0 && strspn(text + 7, "0123456789abcdef") == 64;
}

hf_status hf_workers_definition(hf_engine *engine, const char *type, hf_value body,
                                const char *fingerprint)
{
    const hf_contract *params = NULL;
    hf_buf text = {0};
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    st = hf_name_check(HF_NAME_TYPE, hf_slice_of(type), &c.slot->err);
    hf_mem_reset(c.slot->scratch);
    if (!st)
        st = hf_contract_from_value(c.slot->scratch, hf_get(body, "params"), &params, &c.slot->err);
    if (!st && (!fingerprint_fits(fingerprint) || !targets_fit(hf_get(body, "signals")) ||
                !targets_fit(hf_get(body, "updates")) || !targets_fit(hf_get(body, "queries"))))
        st = hf_err_set(&c.slot->err, HF_INVALID, "the definition of %s is none", type);
    if (st)
        return st;
    hf_json_write_canonical(&text, body);
    if (!hf_buf_ok(&text))
        st = hf_err_nomem(&c.slot->err, "a definition");
    else if (text.len > HF_DEFINITION_TEXT_MAX)
        st = hf_err_set(&c.slot->err, HF_TOOBIG, "the definition of %s is too long", type);
    if (!st)
        st = definition_commit(&c, hf_slice_of(type), hf_buf_slice(&text), fingerprint,
                               &c.slot->err);
    hf_buf_fini(&text);
    return st;
}

/* ---- limits */

static int number_of(int64_t number)
{
    return number < 0 ? -1 : number > INT32_MAX ? INT32_MAX : (int)number;
}

static void limits_declared(hf_core *core, hf_core_call *call)
{
    hf_alloc_free(call);
    if (core)
        hf_turnstile_declared(core);
}

/* Steps that wait for a limit which nobody knew are told, and ask for it no more. */
static hf_status limits_tell(hf_engine *engine, hf_err *err)
{
    hf_core_call *call = hf_alloc(sizeof(*call));
    hf_status st;

    if (!call)
        return hf_err_nomem(err, "a message");
    call->run = limits_declared;
    st = hf_core_call_post(engine->core, call, err);
    if (st)
        hf_alloc_free(call);
    return st;
}

hf_status hf_workers_limits(hf_engine *engine, hf_value limits, int64_t at_us)
{
    hf_call c;
    hf_status st = hf_call_begin(&c, engine);

    if (!st && hf_value_kind_of(limits) != HF_VALUE_NULL &&
        hf_value_kind_of(limits) != HF_VALUE_ARRAY)
        st = hf_err_set(&c.slot->err, HF_INVALID, "limits are a list");
    for (size_t i = 0; !st && i < hf_len(limits); i++) {
        hf_value said = hf_at(limits, i);
        const hf_limit_def def = {.name = hf_str(said, "name", ""),
                                  .at_once = number_of(hf_int(said, "at_once", 0)),
                                  .allowed = hf_int(said, "allowed", 0),
                                  .per = hf_int(said, "per_ms", 0),
                                  .burst = hf_int(said, "burst", 0)};

        st = hf_registry_declare_limit(engine->registry, c.in.namespace_key, &def,
                                       at_us ? at_us : c.in.now_us, &c.slot->err);
    }
    if (!st && hf_len(limits))
        st = limits_tell(engine, &c.slot->err);
    return st;
}
