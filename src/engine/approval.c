/* approval.c: what waits for a person: open waits for a signal, run by run from their histories.
   The rule: a wait whose answer has come is not here, also when no code has taken it yet. */
#include "engine/approval.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "engine/look.h"
#include "holdfast/host.h"
#include "project/detail.h"
#include "project/edge.h"

enum { RUNS_USUAL = 50, RUNS_MAX = 200, ID_RUN = HF_ULID_TEXT_SIZE - 1 };

/* ---- ids: RUN-STEP, and RUN-STEP.N for the further names of a step that waits for several */

bool hf_approval_id_read(hf_slice text, hf_approval_id *out_id)
{
    hf_slice rest = text.len > ID_RUN ? hf_slice_from(text.ptr + ID_RUN + 1, text.len - ID_RUN - 1)
                                      : (hf_slice){0};
    hf_slice step;
    hf_ulid run;

    *out_id = (hf_approval_id){.choice = 1};
    if (text.len <= ID_RUN || text.ptr[ID_RUN] != '-' ||
        !hf_ulid_parse(hf_slice_from(text.ptr, ID_RUN), &run) || !hf_slice_split(&rest, '.', &step))
        return false;
    out_id->run = hf_ulid_key(&run);
    return hf_slice_int(step, &out_id->step) && out_id->step > 0 &&
           (!rest.ptr || (hf_slice_int(rest, &out_id->choice) && out_id->choice > 1));
}

/* ---- the waits of one run */

static hf_status waits_read(hf_db *db, hf_mem *mem, int64_t run, hf_value *out_waits, hf_err *err)
{
    hf_status st = hf_db_begin(db, HF_DB_READ, err);

    if (st)
        return st;
    st = hf_detail_wait_rows(db, mem, run, out_waits, err);
    hf_db_rollback(db); /* it only read */
    return st;
}

static bool is_open(hf_value wait)
{
    return strcmp(hf_str(wait, "kind", ""), "signal") == 0 &&
           strcmp(hf_str(wait, "status", ""), "open") == 0;
}

/* A signal that came and was not taken is listed as a wait as well. */
static bool has_come(hf_value wait)
{
    return hf_slice_starts(hf_value_slice(hf_get(wait, "id")), HF_SLICE("signal-application:"));
}

static bool name_came(hf_value waits, hf_slice name)
{
    for (size_t i = 0; i < hf_len(waits); i++)
        if (is_open(hf_at(waits, i)) && has_come(hf_at(waits, i)) &&
            hf_slice_equal(hf_value_slice(hf_get(hf_at(waits, i), "target_name")), name))
            return true;
    return false;
}

hf_status hf_approval_waits(hf_db *db, hf_mem *mem, int64_t run, int64_t step, hf_slice name,
                            bool *out_waits, hf_err *err)
{
    hf_value waits = NULL;
    hf_status st = waits_read(db, mem, run, &waits, err);

    *out_waits = false;
    for (size_t i = 0; !st && i < hf_len(waits); i++) {
        hf_value wait = hf_at(waits, i);
        hf_slice rest = hf_value_slice(hf_get(wait, "target_name"));
        hf_slice one;

        if (!is_open(wait) || has_come(wait) || hf_int(wait, "sequence", 0) != step)
            continue;
        while (hf_slice_split(&rest, '|', &one))
            *out_waits = *out_waits || hf_slice_equal(one, name);
    }
    *out_waits = *out_waits && !name_came(waits, name);
    return st;
}

/* ---- approvals of one run */

typedef struct run_look {
    hf_call *call;
    hf_mem *mem;
    hf_value run; /* as run_value makes it */
    hf_value contracts;
    hf_value links;
} run_look;

static hf_value run_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_ulid id = hf_ulid_form(hf_db_column_int(row, 1), hf_db_column_int(row, 0), 0);

    (void)ctx;
    return hf_json_(mem,
                    "{'key': %" PRId64 ", 'run_id': %p, 'workflow_id': %p, 'workflow_type': %p, "
                    "'business_key': %p, 'definition': %" PRId64 ", 'sort': %" PRId64 "}",
                    hf_db_column_int(row, 0), (const void *)hf_edge_id(mem, &id),
                    (const void *)hf_value_string(mem, hf_db_column_bytes(row, 2)),
                    (const void *)hf_value_string(mem, hf_db_column_bytes(row, 3)),
                    (const void *)(hf_db_column_null(row, 4)
                                       ? hf_value_null()
                                       : hf_value_string(mem, hf_db_column_bytes(row, 4))),
                    hf_db_column_null(row, 5) ? 0 : hf_db_column_int(row, 5),
                    hf_db_column_int(row, 6));
}

static hf_value body_value(void *ctx, hf_mem *mem, hf_db_cursor *row)
{
    hf_value body = NULL;
    hf_err err;

    (void)ctx;
    return hf_json_read(mem, hf_db_column_bytes(row, 2), NULL, &body, &err) ? hf_value_null()
                                                                            : body;
}

/* What the run's signals take, as it was declared when it started. */
static hf_status contracts_read(run_look *look, hf_err *err)
{
    const hf_db_value key = hf_db_int(hf_int(look->run, "definition", 0));
    hf_value bodies = NULL;
    hf_status st;

    hf_call_read_begin(look->call);
    st = hf_look_rows(look->call->in.db, HF_STMT_DEFINITION_READ, &key, 1, look->mem, body_value,
                      NULL, &bodies, err);
    hf_call_read_end(look->call);
    look->contracts = st ? NULL : hf_get(bodies, "0.signals.contracts");
    return st;
}

static hf_value parameters_of(const run_look *look, hf_slice name)
{
    for (size_t i = 0; i < hf_len(look->contracts); i++)
        if (hf_slice_equal(hf_value_slice(hf_get(hf_at(look->contracts, i), "name")), name))
            return hf_get(hf_at(look->contracts, i), "parameters");
    return hf_value_null();
}

/* Without what only this file needs. */
static hf_value links_of(const run_look *look, int64_t step, hf_slice name)
{
    hf_value_list *list = hf_value_array(look->mem);

    for (size_t i = 0; i < hf_len(look->links); i++) {
        hf_value link = hf_at(look->links, i);

        if (hf_int(link, "step", 0) == step &&
            hf_slice_equal(hf_value_slice(hf_get(link, "name")), name))
            hf_value_append(list, hf_json_(look->mem,
                                           "{'id': %p, 'label': %p, 'created_by': %p, "
                                           "'created_at': %p, 'expires_at': %p}",
                                           (const void *)hf_get(link, "id"),
                                           (const void *)hf_get(link, "label"),
                                           (const void *)hf_get(link, "created_by"),
                                           (const void *)hf_get(link, "created_at"),
                                           (const void *)hf_get(link, "expires_at")));
    }
    return hf_value_finish(list);
}

static hf_value approval_value(const run_look *look, hf_value wait, hf_slice name, int64_t choice)
{
    hf_mem *mem = look->mem;
    int64_t step = hf_int(wait, "sequence", 0);
    char more[24] = "";

    if (choice > 1)
        (void)snprintf(more, sizeof(more), ".%" PRId64, choice);
    return hf_json_(
        mem,
        "{'id': %s, 'kind': 'signal', 'name': %p, 'workflow_id': %p, 'run_id': %p, "
        "'workflow_type': %p, 'business_key': %p, 'step': %lld, 'source_line': %p, 'summary': %p, "
        "'since': %p, 'until': %p, 'parameters': %p, 'links': %p}",
        hf_mem_format(mem, "%s-%lld%s", hf_str(look->run, "run_id", ""), (long long)step, more),
        (const void *)hf_value_string(mem, name), (const void *)hf_get(look->run, "workflow_id"),
        (const void *)hf_get(look->run, "run_id"), (const void *)hf_get(look->run, "workflow_type"),
        (const void *)hf_get(look->run, "business_key"), (long long)step,
        (const void *)hf_get(wait, "source_line"), (const void *)hf_get(wait, "summary"),
        (const void *)hf_get(wait, "opened_at"), (const void *)hf_get(wait, "deadline_at"),
        (const void *)parameters_of(look, name), (const void *)links_of(look, step, name));
}

static bool is_chosen(const hf_approval_id *wanted, hf_slice name, int64_t choice)
{
    return wanted->name.ptr ? hf_slice_equal(wanted->name, name) : wanted->choice == choice;
}

/* Adds those of one run; `only` (may be NULL): that one alone. */
static hf_status run_add(run_look *look, const hf_approval_id *only, hf_value_list *list,
                         hf_err *err)
{
    hf_value waits = NULL;
    int64_t run = hf_int(look->run, "key", 0);
    hf_status st;

    hf_call_read_begin(look->call);
    st = waits_read(look->call->in.db, look->mem, run, &waits, err);
    hf_call_read_end(look->call);
    if (!st)
        st = contracts_read(look, err);
    if (!st)
        st = hf_answer_links_read(look->call, run, look->mem, &look->links, err);
    for (size_t i = 0; !st && i < hf_len(waits); i++) {
        hf_value wait = hf_at(waits, i);
        hf_slice rest = hf_value_slice(hf_get(wait, "target_name"));
        hf_slice name;

        if (!is_open(wait) || has_come(wait) || !rest.len ||
            (only && hf_int(wait, "sequence", 0) != only->step))
            continue;
        for (int64_t choice = 1; hf_slice_split(&rest, '|', &name); choice++)
            if ((!only || is_chosen(only, name, choice)) && !name_came(waits, name))
                hf_value_append(list, approval_value(look, wait, name, choice));
    }
    return st;
}

static hf_status runs_read(hf_call *call, int64_t run, int64_t behind_us, int64_t behind_run,
                           int64_t limit, hf_mem *mem, hf_value *out_runs, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(call->in.namespace_key), hf_db_int(run),
                                  hf_db_int(behind_us), hf_db_int(behind_run), hf_db_int(limit)};
    hf_status st;

    hf_call_read_begin(call);
    st = hf_look_rows(call->in.db, HF_STMT_APPROVAL_RUNS, params, 5, mem, run_value, NULL, out_runs,
                      err);
    hf_call_read_end(call);
    return st;
}

hf_status hf_approval_at(hf_call *call, const hf_approval_id *wanted, hf_mem *mem, hf_value *out,
                         hf_err *err)
{
    hf_value_list *list = hf_value_array(mem);
    hf_value runs = NULL;
    run_look look = {.call = call, .mem = mem};
    hf_status st = runs_read(call, wanted->run, INT64_MAX, 0, 1, mem, &runs, err);

    *out = NULL;
    look.run = hf_at(runs, 0);
    if (!st && hf_len(runs))
        st = run_add(&look, wanted, list, err);
    if (!st)
        *out = hf_at(hf_value_finish(list), 0);
    return st;
}

hf_status hf_approval_find(hf_call *call, hf_slice id, hf_mem *mem, hf_value *out, hf_err *err)
{
    hf_approval_id wanted;
    hf_status st = HF_OK;

    *out = NULL;
    if (hf_approval_id_read(id, &wanted))
        st = hf_approval_at(call, &wanted, mem, out, err);
    if (!st && (!*out || !hf_slice_equal(hf_value_slice(hf_get(*out, "run_id")),
                                         hf_slice_from(id.ptr, ID_RUN))))
        st = hf_err_set(err, HF_NOTFOUND, "nothing waits there for an answer");
    return st;
}

/* ---- public */

/* "SORT-RUN" of the run that the page before ended with. */
static bool cursor_read(hf_slice text, int64_t *out_us, int64_t *out_run)
{
    hf_slice first;

    *out_us = INT64_MAX;
    *out_run = 0;
    if (!text.len)
        return true;
    return hf_slice_split(&text, '-', &first) && hf_slice_int(first, out_us) && text.ptr &&
           hf_slice_int(text, out_run);
}

/* Whether one of the texts that people know it by has the words. */
static bool is_sought(hf_value approval, hf_slice words)
{
    static const char *const names[] = {"workflow_id", "workflow_type", "business_key", "name",
                                        "summary"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (hf_slice_has(hf_value_slice(hf_value_find(approval, hf_slice_of(names[i]))), words))
            return true;
    return !words.len;
}

static hf_value sought(hf_mem *mem, hf_value approvals, hf_slice words)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < hf_len(approvals); i++)
        if (is_sought(hf_at(approvals, i), words))
            hf_value_append(list, hf_at(approvals, i));
    return hf_value_finish(list);
}

hf_status hf_approvals(hf_engine *engine, hf_value request, hf_mem *mem, hf_value *out)
{
    int64_t limit = hf_int(request, "limit", RUNS_USUAL);
    hf_value_list *list;
    hf_value runs = NULL;
    int64_t behind_us;
    int64_t behind_run;
    hf_call c;
    run_look look = {.call = &c, .mem = mem};
    hf_slice words = hf_look_member(request, "q");
    const char *cursor = NULL;
    hf_status st = hf_call_begin(&c, engine);

    if (st)
        return st;
    st = hf_look_members(request, "q limit cursor", &c.slot->err);
    if (words.len) /* as many as one look affords, of which some are meant */
        limit = RUNS_MAX;
    if (!st && (limit < 1 || limit > RUNS_MAX ||
                !cursor_read(hf_value_slice(hf_get(request, "cursor")), &behind_us, &behind_run)))
        st = hf_err_set(&c.slot->err, HF_INVALID, "limit is 1 to %d, and cursor what a page said",
                        RUNS_MAX);
    if (!st)
        st = runs_read(&c, 0, behind_us, behind_run, limit + 1, mem, &runs, &c.slot->err);
    if (st)
        return st;
    list = hf_value_array(mem);
    for (size_t i = 0; !st && i < hf_len(runs) && (int64_t)i < limit; i++) {
        look.run = hf_at(runs, i);
        st = run_add(&look, NULL, list, &c.slot->err);
        if (!st && (int64_t)i + 1 == limit && (int64_t)hf_len(runs) > limit)
            cursor = hf_mem_format(mem, "%lld-%lld", (long long)hf_int(look.run, "sort", 0),
                                   (long long)hf_int(look.run, "key", 0));
    }
    if (st)
        return st;
    *out = hf_json_(mem, "{'approvals': %p, 'cursor': %s}",
                    (const void *)sought(mem, hf_value_finish(list), words), cursor);
    return *out ? HF_OK : hf_err_nomem(&c.slot->err, "approvals");
}
