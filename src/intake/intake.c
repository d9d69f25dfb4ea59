/* intake.c: what every command needs: ids, values in events, and the target. */
#include "intake/intake.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"
#include "intake/intake_impl.h"
#include "store/snapshot.h"

void hf_intake_payload_put(const hf_intake *in, hf_unit *unit, hf_event_key key, hf_slice json)
{
    hf_event_put_payload(
        hf_unit_events(unit, 0), key,
        hf_unit_payload(unit, in->stager, in->keys, 0, HF_PAYLOAD_CODEC_JSON, json));
}

hf_status hf_intake_json(hf_mem *mem, hf_value value, hf_slice *out_json, hf_err *err)
{
    hf_buf text = {0};

    hf_json_write_canonical(&text, value);
    *out_json =
        hf_slice_from(hf_buf_ok(&text) ? hf_mem_text(mem, hf_buf_slice(&text)) : NULL, text.len);
    hf_buf_fini(&text);
    return out_json->ptr ? HF_OK : hf_err_nomem(err, "JSON");
}

/* The first of the errors of a contract as a sentence; NULL when memory ran out. */
static const char *errors_sentence(hf_mem *mem, hf_value errors)
{
    hf_slice name = {0};
    hf_value messages = NULL;

    if (!hf_value_member(errors, 0, &name, &messages))
        return "the arguments do not fit";
    return hf_mem_format(mem, "argument %.*s: %s", (int)name.len, name.ptr,
                         hf_str(messages, "0", "does not fit"));
}

hf_status hf_intake_refuse(hf_intake_refusal *refusal, hf_cmd_outcome outcome,
                           hf_rejection_reason reason, const char *why, hf_err *err)
{
    *refusal = (hf_intake_refusal){.outcome = outcome, .reason = reason, .why = why};
    return why ? HF_OK : hf_err_nomem(err, "a refusal");
}

hf_status hf_intake_refuse_arguments(hf_intake_refusal *refusal, hf_rejection_reason reason,
                                     const hf_contract *contract, hf_value errors, hf_mem *mem,
                                     hf_err *err)
{
    hf_status st = hf_intake_refuse(refusal, HF_CMD_OUTCOME_REJECTED_INVALID_ARGUMENTS, reason,
                                    errors_sentence(mem, errors), err);

    refusal->validation_errors = errors;
    refusal->parameters = hf_contract_to_value(contract, mem);
    return st || refusal->parameters ? st : hf_err_nomem(err, "a refusal");
}

hf_status hf_intake_limit_refuse(hf_mem *mem, hf_limit limit, int64_t configured, int64_t value,
                                 hf_intake_refusal *refusal, hf_err *err)
{
    hf_status st = hf_intake_refuse(
        refusal, HF_CMD_OUTCOME_REJECTED_INVALID_ARGUMENTS, HF_REJECTION_STRUCTURAL_LIMIT_EXCEEDED,
        hf_mem_format(mem, "%s is limited to %lld, there are %lld", hf_limit_text(limit),
                      (long long)configured, (long long)value),
        err);

    refusal->limit = limit;
    refusal->limit_value = value;
    refusal->limit_configured = configured;
    return st;
}

hf_status hf_intake_payload_fit(const hf_intake *in, hf_mem *mem, hf_value value,
                                hf_slice *out_json, hf_intake_refusal *refusal, hf_err *err)
{
    const hf_limit limit = HF_LIMIT_PAYLOAD_SIZE_BYTES;
    hf_buf text = {0};
    hf_status st = HF_OK;

    hf_json_write(&text, value ? value : hf_value_null());
    *out_json =
        hf_slice_from(hf_buf_ok(&text) ? hf_mem_text(mem, hf_buf_slice(&text)) : NULL, text.len);
    if (!out_json->ptr)
        st = hf_err_nomem(err, "arguments");
    else if (hf_limit_trips(limit, in->payload_max, (int64_t)text.len))
        st = hf_intake_limit_refuse(mem, limit, in->payload_max, (int64_t)text.len, refusal, err);
    hf_buf_fini(&text);
    return st;
}

/* Which run of the instance is meant. */
static hf_status run_choose(hf_slice id, hf_slice run_id, hf_intake_target *target,
                            int64_t *out_run, hf_ulid *out_wanted, hf_err *err)
{
    *out_run = target->instance.current_run;
    if (!run_id.ptr)
        return HF_OK;
    if (!hf_ulid_parse(run_id, out_wanted))
        return hf_err_set(err, HF_NOTFOUND, "%.*s has no run %.*s", (int)id.len, id.ptr,
                          (int)run_id.len, run_id.ptr);
    *out_run = hf_ulid_key(out_wanted);
    return HF_OK;
}

static hf_status run_read(const hf_intake *in, hf_mem *mem, int64_t key,
                          hf_intake_target *out_target, hf_err *err)
{
    const hf_db_value run = hf_db_int(key);
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_run_base_get(in->db, key, &out_target->base, err);

    if (!st)
        st = hf_db_query(in->db, HF_STMT_RUN_DEFINITION, &run, 1, &cursor, err);
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found) {
        hf_slice queue = hf_db_column_bytes(cursor, 1);

        out_target->definition =
            hf_db_column_null(cursor, 0) ? HF_NONE : hf_db_column_int(cursor, 0);
        out_target->queue = hf_slice_from(hf_mem_text(mem, queue), queue.len);
        out_target->created_us = hf_db_column_int(cursor, 2);
        if (!out_target->queue.ptr)
            st = hf_err_nomem(err, "a run");
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_intake_correlated(const hf_intake *in, hf_mem *mem, hf_slice key, hf_slice *out_id,
                               hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(in->namespace_key), hf_db_text(key)};
    hf_db_cursor *cursor = NULL;
    bool found = false;
    hf_status st = hf_db_query(in->db, HF_STMT_CORRELATION_GET, params, 2, &cursor, err);

    *out_id = (hf_slice){0};
    if (!st)
        st = hf_db_step(cursor, &found, err);
    if (!st && found) {
        hf_slice id = hf_db_column_bytes(cursor, 0);

        *out_id = hf_slice_from(hf_mem_text(mem, id), id.len);
        if (!out_id->ptr)
            st = hf_err_nomem(err, "an id");
    }
    hf_db_end(cursor);
    return st;
}

hf_status hf_intake_snapshot(const hf_intake *in, hf_mem *mem, int64_t definition,
                             hf_definition_snapshot *out_snapshot, hf_err *err)
{
    const hf_definition_snapshot *known = in->known ? in->known(in->known_ctx, definition) : NULL;

    if (!known)
        return hf_snapshot_read(in->db, mem, definition, out_snapshot, err);
    *out_snapshot = *known;
    return HF_OK;
}

hf_status hf_intake_machine(const hf_intake *in, hf_mem *mem, int64_t definition, bool *out_machine,
                            hf_err *err)
{
    hf_definition_snapshot snapshot = {0};
    hf_status st =
        definition == HF_NONE ? HF_OK : hf_intake_snapshot(in, mem, definition, &snapshot, err);

    *out_machine = !st && snapshot.machine;
    return st;
}

hf_status hf_intake_validated(const hf_intake *in, hf_mem *mem, int64_t definition, hf_slice update,
                              bool *out_validated, hf_err *err)
{
    hf_definition_snapshot snapshot = {0};
    hf_value names = NULL;
    hf_status st =
        definition == HF_NONE ? HF_OK : hf_intake_snapshot(in, mem, definition, &snapshot, err);

    *out_validated = false;
    if (!st && snapshot.validators.ptr)
        st = hf_json_read(mem, snapshot.validators, NULL, &names, err);
    for (size_t i = 0; !st && i < hf_len(names); i++)
        *out_validated |= hf_slice_equal(hf_value_slice(hf_at(names, i)), update);
    return st;
}

/* By id, else by correlation key. The newest run is taken along. */
static hf_status instance_find(const hf_intake *in, hf_mem *mem, hf_slice id,
                               hf_instance_row *out_instance, hf_newest_run *out_newest,
                               hf_err *err)
{
    hf_slice other = {0};
    hf_err missing = {0};
    hf_status st =
        hf_instance_aim(in->db, mem, in->namespace_key, id, out_instance, out_newest, &missing);
    hf_status looked = HF_OK;

    if (st == HF_NOTFOUND)
        looked = hf_intake_correlated(in, mem, id, &other, err);
    if (looked)
        return looked;
    if (other.ptr)
        return hf_instance_aim(in->db, mem, in->namespace_key, other, out_instance, out_newest,
                               err);
    return st ? hf_err_set(err, st, "%s", missing.text) : HF_OK;
}

hf_status hf_intake_aim(const hf_intake *in, hf_mem *mem, hf_slice id, hf_slice run_id,
                        hf_intake_target *out_target, hf_err *err)
{
    hf_newest_run newest;
    hf_ulid wanted;
    hf_ulid actual;
    int64_t run = HF_NONE;
    hf_status st;

    *out_target = (hf_intake_target){.base.run = HF_NONE};
    st = instance_find(in, mem, id, &out_target->instance, &newest, err);
    if (!st)
        st = run_choose(id, run_id, out_target, &run, &wanted, err);
    if (st || run == HF_NONE)
        return st;
    if (!run_id.ptr) {
        out_target->base = newest.base;
        out_target->created_us = newest.created_us;
        out_target->definition = newest.definition;
        out_target->queue = newest.queue;
        return newest.base.run == HF_NONE
                   ? hf_err_set(err, HF_CORRUPT, "the newest run of %.*s is not there", (int)id.len,
                                id.ptr)
                   : HF_OK;
    }
    st = run_read(in, mem, run, out_target, err);
    if (st && st != HF_NOTFOUND)
        return st;
    actual = hf_ulid_form(out_target->created_us, run, 0);
    if (st || out_target->base.instance != out_target->instance.key ||
        hf_ulid_compare(&wanted, &actual) != 0)
        return hf_err_set(err, HF_NOTFOUND, "%.*s has no run %.*s", (int)id.len, id.ptr,
                          (int)run_id.len, run_id.ptr);
    out_target->current_us = newest.created_us;
    return HF_OK;
}

hf_status hf_intake_find(const hf_intake *in, hf_mem *mem, hf_slice id,
                         hf_intake_target *out_target, hf_err *err)
{
    hf_status st = hf_intake_aim(in, mem, id, (hf_slice){0}, out_target, err);

    if (!st && out_target->base.run == HF_NONE)
        st = hf_err_set(err, HF_NOTFOUND, "the instance %.*s was never started", (int)id.len,
                        id.ptr);
    return st;
}
