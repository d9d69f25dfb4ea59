/* definition.c: definitions as snapshots and fingerprints, and snapshots read back. Both are
   stored, so their bytes depend on what was declared and on nothing else: no addresses, no clock,
   no order of tables where the order means nothing. The checks are definition_check.c's. */
#include "model/definition.h"

#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/value.h"

/* The targets of one kind while they are snapped. */
typedef struct target_list {
    size_t count;
    hf_value names[HF_DEFINITION_TARGETS_MAX];
    hf_value entries[HF_DEFINITION_TARGETS_MAX]; /* {"name", "parameters"}, in declared order */
} target_list;

/* -- reading a definition */

bool hf_definition_target(const hf_workflow_def *def, hf_target_kind kind, size_t i,
                          hf_target *out_target)
{
    hf_target target = {.has_function = true};

    switch (kind) {
    case HF_TARGET_SIGNAL:
        if (!def->signals || !def->signals[i].name)
            return false;
        target.name = def->signals[i].name;
        target.params = def->signals[i].params;
        break;
    case HF_TARGET_UPDATE:
        if (!def->updates || !def->updates[i].name)
            return false;
        target.name = def->updates[i].name;
        target.params = def->updates[i].params;
        target.has_function = def->updates[i].apply != NULL;
        break;
    case HF_TARGET_QUERY:
        if (!def->queries || !def->queries[i].name)
            return false;
        target.name = def->queries[i].name;
        target.params = def->queries[i].params;
        target.has_function = def->queries[i].read != NULL;
        break;
    }
    *out_target = target;
    return true;
}

static hf_status params_value(const char *params, hf_mem *mem, hf_value *out_entries, hf_err *err)
{
    const hf_contract *contract = NULL;
    hf_status st = hf_contract_parse(mem, params, &contract, err);

    if (st)
        return st;
    *out_entries = hf_contract_to_value(contract, mem);
    return *out_entries ? HF_OK : hf_err_nomem(err, "a contract");
}

static hf_status targets_collect(const hf_workflow_def *def, hf_target_kind kind, hf_mem *mem,
                                 target_list *list, hf_err *err)
{
    hf_target target;

    for (size_t i = 0; hf_definition_target(def, kind, i, &target); i++) {
        hf_value_list *entry = hf_value_object(mem);
        hf_value params = NULL;
        hf_status st = params_value(target.params, mem, &params, err);

        HF_ASSERT(i < HF_DEFINITION_TARGETS_MAX);
        if (st)
            return st;
        list->names[i] = hf_value_string(mem, hf_slice_of(target.name));
        hf_value_set(entry, HF_SLICE("name"), list->names[i]);
        hf_value_set(entry, HF_SLICE("parameters"), params);
        list->entries[i] = hf_value_finish(entry);
        if (!list->entries[i])
            return hf_err_nomem(err, "the targets of a definition");
        list->count = i + 1;
    }
    return HF_OK;
}

/* -- snapshots */

/* Canonical text in the arena; no value, or a list that failed, means that memory ran out. */
static hf_status canonical_text(hf_value value, hf_mem *mem, hf_slice *out_text, hf_err *err)
{
    hf_buf buf = {0};
    char *text = NULL;
    hf_status st = HF_OK;

    if (value) {
        hf_json_write_canonical(&buf, value);
        if (hf_buf_ok(&buf))
            text = hf_mem_text(mem, hf_buf_slice(&buf));
    }
    if (text)
        *out_text = hf_slice_from(text, buf.len);
    else
        st = hf_err_nomem(err, "the snapshot of a definition");
    hf_buf_fini(&buf);
    return st;
}

/* As canonical_text, for what every run records. */
static hf_status recorded_text(hf_value value, hf_mem *mem, hf_slice *out_text, hf_err *err)
{
    hf_status st = canonical_text(value, mem, out_text, err);

    if (!st && out_text->len > HF_DEFINITION_TEXT_MAX)
        st = hf_err_set(err, HF_TOOBIG,
                        "its declarations take %zu bytes when they are recorded; at most %d are "
                        "allowed",
                        out_text->len, HF_DEFINITION_TEXT_MAX);
    return st;
}

static bool is_declared(hf_value entry)
{
    return hf_value_kind_of(hf_value_find(entry, HF_SLICE("parameters"))) != HF_VALUE_NULL;
}

static hf_status targets_write(const target_list *list, hf_mem *mem, hf_definition_targets *out,
                               hf_err *err)
{
    hf_value_list *names = hf_value_array(mem);
    hf_value_list *contracts = hf_value_array(mem);
    hf_status st;

    for (size_t i = 0; i < list->count; i++) {
        hf_value_append(names, list->names[i]);
        if (is_declared(list->entries[i]))
            hf_value_append(contracts, list->entries[i]);
    }
    st = recorded_text(hf_value_finish(names), mem, &out->names, err);
    if (!st)
        st = recorded_text(hf_value_finish(contracts), mem, &out->contracts, err);
    return st;
}

/* All entries ordered by name. NULL when memory ran out. */
static hf_value targets_sorted(target_list *list, hf_mem *mem)
{
    hf_value_list *sorted = hf_value_array(mem);

    for (size_t i = 1; i < list->count; i++) {
        hf_value entry = list->entries[i];
        hf_slice name = hf_value_slice(hf_value_find(entry, HF_SLICE("name")));
        size_t at = i;

        while (at > 0 && hf_slice_compare(
                             hf_value_slice(hf_value_find(list->entries[at - 1], HF_SLICE("name"))),
                             name) > 0) {
            list->entries[at] = list->entries[at - 1];
            at--;
        }
        list->entries[at] = entry;
    }
    for (size_t i = 0; i < list->count; i++)
        hf_value_append(sorted, list->entries[i]);
    return hf_value_finish(sorted);
}

static hf_status fingerprint_take(hf_value layout, hf_mem *mem,
                                  char out_text[HF_DEFINITION_FINGERPRINT_SIZE], hf_err *err)
{
    static const char prefix[] = "sha256:";
    uint8_t digest[HF_SHA256_BYTES];
    hf_sha256 *sha = NULL;
    hf_slice text;
    hf_status st = canonical_text(layout, mem, &text, err);

    if (!st)
        st = hf_sha256_new(&sha, err);
    if (!st)
        st = hf_sha256_digest(sha, text, digest, err);
    if (!st) {
        memcpy(out_text, prefix, sizeof(prefix));
        hf_hex_print(hf_slice_from(digest, sizeof(digest)), out_text + sizeof(prefix) - 1);
    }
    hf_sha256_free(sha);
    return st;
}

/* Snaps one kind and puts its part into the layout under the fingerprint. */
static hf_status kind_snap(const hf_workflow_def *def, hf_target_kind kind, hf_mem *mem,
                           hf_value_list *layout, hf_slice key, hf_definition_targets *out,
                           hf_err *err)
{
    target_list *list = hf_mem_alloc(mem, sizeof(*list));
    hf_status st;

    if (!list)
        return hf_err_nomem(err, "the targets of a definition");
    st = targets_collect(def, kind, mem, list, err);
    if (!st)
        st = targets_write(list, mem, out, err);
    if (!st)
        hf_value_set(layout, key, targets_sorted(list, mem));
    return st;
}

/* Updates that its code looks at before they are accepted: whoever takes the command asks it. */
static hf_status validators_snap(const hf_workflow_def *def, hf_mem *mem,
                                 hf_definition_snapshot *snapshot, hf_err *err)
{
    hf_value_list *names = hf_value_array(mem);
    hf_value list;

    for (const hf_update_def *update = def->updates; update && update->name; update++)
        if (update->check)
            hf_value_append(names, hf_value_string(mem, hf_slice_of(update->name)));
    list = hf_value_finish(names);
    if (!list)
        return hf_err_nomem(err, "the validators of a definition");
    return hf_len(list) ? recorded_text(list, mem, &snapshot->validators, err) : HF_OK;
}

static hf_status snap(const hf_workflow_def *def, hf_mem *mem, hf_definition_snapshot *snapshot,
                      hf_err *err)
{
    hf_value_list *layout = hf_value_object(mem);
    hf_value params = NULL;
    hf_status st = params_value(def->params, mem, &params, err);

    if (!st)
        st = recorded_text(params, mem, &snapshot->params, err);
    if (!st)
        st = kind_snap(def, HF_TARGET_SIGNAL, mem, layout, HF_SLICE("signals"), &snapshot->signals,
                       err);
    if (!st)
        st = kind_snap(def, HF_TARGET_UPDATE, mem, layout, HF_SLICE("updates"), &snapshot->updates,
                       err);
    if (!st)
        st = kind_snap(def, HF_TARGET_QUERY, mem, layout, HF_SLICE("queries"), &snapshot->queries,
                       err);
    if (!st)
        st = validators_snap(def, mem, snapshot, err);
    if (st)
        return st;
    hf_value_set(layout, HF_SLICE("parameters"), params);
    hf_value_set(layout, HF_SLICE("revision"), hf_value_string(mem, hf_slice_of(def->revision)));
    hf_value_set(layout, HF_SLICE("type"), hf_value_string(mem, hf_slice_of(def->type)));
    hf_value_set(layout, HF_SLICE("version"), hf_value_int(mem, HF_DEFINITION_VERSION));
    return fingerprint_take(hf_value_finish(layout), mem, snapshot->fingerprint, err);
}

/* -- reading a snapshot */

static hf_status list_read(hf_slice text, hf_mem *mem, hf_value *out_list, hf_err *err)
{
    hf_status st;

    *out_list = NULL;
    if (text.len == 0)
        return HF_OK;
    st = hf_json_read(mem, text, NULL, out_list, err);
    if (!st && hf_value_kind_of(*out_list) != HF_VALUE_ARRAY)
        st = hf_err_set(err, HF_INVALID, "it is not a list");
    return st;
}

static bool names_have(hf_value names, hf_slice name)
{
    for (size_t i = 0; i < hf_len(names); i++) {
        if (hf_value_kind_of(hf_at(names, i)) == HF_VALUE_STRING &&
            hf_slice_equal(hf_value_slice(hf_at(names, i)), name))
            return true;
    }
    return false;
}

/* The entry of a name; NULL when there is none. */
static hf_value contracts_find(hf_value contracts, hf_slice name)
{
    for (size_t i = 0; i < hf_len(contracts); i++) {
        hf_value entry = hf_at(contracts, i);
        hf_value found = hf_value_find(entry, HF_SLICE("name"));

        if (hf_value_kind_of(found) == HF_VALUE_STRING &&
            hf_slice_equal(hf_value_slice(found), name))
            return entry;
    }
    return NULL;
}

const hf_definition_targets *hf_definition_targets_of(const hf_definition_snapshot *snapshot,
                                                      hf_target_kind kind)
{
    switch (kind) {
    case HF_TARGET_SIGNAL:
        return &snapshot->signals;
    case HF_TARGET_UPDATE:
        return &snapshot->updates;
    case HF_TARGET_QUERY:
        return &snapshot->queries;
    }
    return NULL;
}

hf_status hf_definition_find(hf_definition_targets targets, hf_slice name, hf_mem *mem,
                             const hf_contract **out_contract, hf_err *err)
{
    hf_value names = NULL;
    hf_value contracts = NULL;
    hf_value entry;
    hf_value params;
    hf_status st;

    *out_contract = NULL;
    st = list_read(targets.names, mem, &names, err);
    if (st)
        return hf_err_because(err, st, "read the declared names");
    if (!names_have(names, name))
        return HF_OK;
    st = list_read(targets.contracts, mem, &contracts, err);
    if (st)
        return hf_err_because(err, st, "read the declared contracts");
    entry = contracts_find(contracts, name);
    params = hf_value_find(entry, HF_SLICE("parameters"));
    /* Only a missing entry means undeclared: an entry that lost its list must not accept all. */
    if (entry && hf_value_kind_of(params) != HF_VALUE_ARRAY)
        return hf_err_set(err, HF_INVALID,
                          "the recorded contract of %.*s has no list of parameters", (int)name.len,
                          name.ptr);
    st = hf_contract_from_value(mem, params, out_contract, err);
    return hf_err_because(err, st, "the recorded contract of %.*s", (int)name.len, name.ptr);
}

hf_status hf_definition_snap(const hf_workflow_def *def, hf_mem *mem,
                             hf_definition_snapshot *out_snapshot, hf_err *err)
{
    hf_definition_snapshot snapshot = {0};
    hf_status st = hf_definition_check(def, err);

    if (!st)
        st = hf_err_because(err, snap(def, mem, &snapshot, err), "snap workflow %s", def->type);
    *out_snapshot = st ? (hf_definition_snapshot){0} : snapshot;
    return st;
}

hf_status hf_definition_snap_machine(const hf_machine_def *def, hf_mem *mem,
                                     hf_definition_snapshot *out_snapshot, hf_err *err)
{
    hf_definition_snapshot snapshot = {0};
    hf_status st = hf_definition_check_machine(def, err);

    if (!st) {
        const hf_workflow_def same = {.type = def->type,
                                      .params = def->params,
                                      .signals = def->signals,
                                      .revision = "step machine"};

        snapshot.machine = true;
        st = hf_err_because(err, snap(&same, mem, &snapshot, err), "snap machine %s", def->type);
    }
    *out_snapshot = st ? (hf_definition_snapshot){0} : snapshot;
    return st;
}
