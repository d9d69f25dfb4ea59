/* list_row.c: see list_row.h. */
#include "project/list_row.h"

#include "base/clock.h"
#include "model/vocab.h"
#include "project/edge.h"
#include "store/row.h"

/* The columns, in the order of the piece list_columns. */
typedef enum column {
    AT_RUN,
    AT_SORT,
    AT_ID,
    AT_NUMBER,
    AT_CURRENT,
    AT_TYPE,
    AT_NAMESPACE,
    AT_BUSINESS,
    AT_COMPATIBILITY,
    AT_STATUS,
    AT_REASON,
    AT_CLOSED,
    AT_ARCHIVED,
    AT_LAST,
    AT_WAIT,
    AT_LIVENESS,
    AT_LABELS,
    AT_ATTRIBUTES,
    AT_PROBLEM,
    AT_DECLARED,
    AT_EXCEPTIONS,
    AT_EVENTS,
    AT_BYTES,
    AT_FAN_OUT,
    AT_PRESSURE,
    AT_QUEUE,
    AT_FAILURE,
    AT_BLOCKED,
    AT_ARCHIVE, /* the command that put it away, as it was stored */
    AT_COUNT
} column;

static const bool texts[AT_COUNT] = {
    [AT_ID] = true,         [AT_TYPE] = true,          [AT_NAMESPACE] = true,
    [AT_BUSINESS] = true,   [AT_COMPATIBILITY] = true, [AT_LABELS] = true,
    [AT_ATTRIBUTES] = true, [AT_QUEUE] = true,         [AT_FAILURE] = true,
    [AT_ARCHIVE] = true};

typedef struct cell {
    bool null;
    int64_t number;
    hf_slice bytes;
} cell;

struct hf_list_row {
    cell cells[AT_COUNT];
    bool doubtful; /* the rows of the run cannot say what follows */
    int64_t liveness;
    int64_t repair; /* 0: a repair would do something */
    int64_t problem;
};

/* ---- taking */

static int64_t number_at(const hf_list_row *row, column at)
{
    return row->cells[at].number;
}

/* As the piece list_repair has it. */
static int64_t repair_of(const hf_list_row *row)
{
    if (row->cells[AT_CURRENT].number != row->cells[AT_RUN].number)
        return HF_REPAIR_BLOCKED_SELECTED_RUN_NOT_CURRENT;
    switch ((int)row->liveness) {
    case HF_LIVENESS_CLOSED:
        return HF_REPAIR_BLOCKED_RUN_CLOSED;
    case HF_LIVENESS_WORKFLOW_REPLAY_BLOCKED:
    case HF_LIVENESS_REPAIR_NEEDED:
    case HF_LIVENESS_RUN_QUARANTINED:
        return 0;
    case HF_LIVENESS_WORKFLOW_TASK_WAITING_FOR_COMPATIBLE_WORKER:
    case HF_LIVENESS_ACTIVITY_TASK_WAITING_FOR_COMPATIBLE_WORKER:
    case HF_LIVENESS_TIMER_TASK_WAITING_FOR_COMPATIBLE_WORKER:
        return HF_REPAIR_BLOCKED_WAITING_FOR_COMPATIBLE_WORKER;
    }
    return HF_REPAIR_BLOCKED_REPAIR_NOT_NEEDED;
}

hf_status hf_list_row_take(hf_mem *mem, hf_db_cursor *cursor, hf_list_row **out_row, hf_err *err)
{
    hf_list_row *row = hf_mem_alloc(mem, sizeof(*row));

    if (!row)
        return hf_err_nomem(err, "a list");
    for (size_t i = 0; i < AT_COUNT; i++) {
        cell *c = &row->cells[i];

        c->null = hf_db_column_null(cursor, i);
        if (c->null)
            continue;
        if (!texts[i]) {
            c->number = hf_db_column_int(cursor, i);
            continue;
        }
        c->bytes = hf_db_column_bytes(cursor, i);
        c->bytes.ptr = hf_mem_text(mem, c->bytes);
        if (!c->bytes.ptr)
            return hf_err_nomem(err, "a list");
    }
    row->doubtful = row->cells[AT_LIVENESS].null || row->cells[AT_PROBLEM].null;
    row->liveness = row->cells[AT_LIVENESS].number;
    row->problem = row->cells[AT_PROBLEM].number;
    row->repair = repair_of(row);
    *out_row = row;
    return HF_OK;
}

int64_t hf_list_row_run(const hf_list_row *row)
{
    return row->cells[AT_RUN].number;
}

hf_ulid hf_list_row_id(const hf_list_row *row)
{
    return hf_ulid_form(row->cells[AT_SORT].number, row->cells[AT_RUN].number, 0);
}

hf_value hf_list_row_key(const hf_list_row *c, hf_mem *mem)
{
    char time[HF_CLOCK_TEXT_SIZE];
    char id[HF_ULID_TEXT_SIZE];
    hf_ulid run = hf_list_row_id(c);
    const char *text;

    if (!hf_clock_print(number_at(c, AT_SORT), time))
        return hf_value_null();
    hf_ulid_print(&run, id);
    text = hf_mem_format(mem, "%s#%s", time, id);
    return text ? hf_value_string(mem, hf_slice_of(text)) : NULL;
}

bool hf_list_row_doubtful(const hf_list_row *row)
{
    return row->doubtful;
}

void hf_list_row_settle(hf_list_row *row, const hf_liveness *liveness)
{
    row->doubtful = false;
    row->liveness = liveness->state;
    row->repair = liveness->repair_blocked;
    row->problem = liveness->task_problem;
}

/* Why a repair would do nothing, as operators see it; NULL: it would do something. */
static const hf_repair_blocked_look *look_of(const hf_list_row *row)
{
    return row->repair ? hf_repair_blocked_look_get((hf_repair_blocked_reason)row->repair) : NULL;
}

static bool wants_attention(const hf_list_row *row)
{
    return look_of(row) && look_of(row)->badge;
}

bool hf_list_row_fits(const hf_list_row *row, const hf_filter_rest *rest)
{
    return (!rest->liveness || rest->liveness == row->liveness) &&
           (!rest->repair || rest->repair == row->repair) &&
           (rest->problem < 0 || rest->problem == row->problem) &&
           (rest->attention < 0 || rest->attention == wants_attention(row));
}

/* ---- showing */

static int64_t int_or_none(const hf_list_row *row, column at)
{
    return row->cells[at].null ? HF_NONE : row->cells[at].number;
}

static hf_value text_at(hf_mem *mem, const hf_list_row *row, column at)
{
    return row->cells[at].null ? hf_value_null() : hf_value_string(mem, row->cells[at].bytes);
}

static hf_value word(hf_mem *mem, const hf_vocab *words, int64_t number)
{
    const hf_vocab_item *item = hf_vocab_by_number(words, number);

    return item ? hf_value_string(mem, hf_slice_of(item->text)) : hf_value_null();
}

static hf_value sentence(hf_mem *mem, const hf_vocab *words, int64_t number)
{
    const hf_vocab_item *item = hf_vocab_by_number(words, number);

    return item ? hf_value_string(mem, hf_slice_of(item->sentence)) : hf_value_null();
}

static hf_value word_at(hf_mem *mem, const hf_list_row *row, column at, const hf_vocab *words)
{
    return row->cells[at].null ? hf_value_null() : word(mem, words, row->cells[at].number);
}

static hf_value json_at(hf_mem *mem, const hf_list_row *c, column at)
{
    hf_value value = NULL;

    if (c->cells[at].null)
        return hf_value_finish(hf_value_object(mem));
    return hf_edge_json(mem, c->cells[at].bytes, &value, NULL) ? NULL : value;
}

/* Why somebody put the run away. */
static hf_value archive_reason(hf_mem *mem, const hf_list_row *row)
{
    hf_value reason = hf_value_find(json_at(mem, row, AT_ARCHIVE), HF_SLICE("reason"));

    return reason ? reason : hf_value_null();
}

static void put(hf_value_list *row, const char *name, hf_value value)
{
    hf_value_set(row, hf_slice_of(name), value);
}

static void put_identity(hf_value_list *row, hf_mem *mem, const hf_list_row *c)
{
    hf_ulid run = hf_list_row_id(c);
    hf_value id = hf_edge_id(mem, &run);

    put(row, "id", id);
    put(row, "workflow_instance_id", text_at(mem, c, AT_ID));
    put(row, "instance_id", text_at(mem, c, AT_ID));
    put(row, "selected_run_id", id);
    put(row, "run_id", id);
    put(row, "run_number", hf_value_int(mem, number_at(c, AT_NUMBER)));
    put(row, "is_current_run", hf_value_bool(number_at(c, AT_CURRENT) == number_at(c, AT_RUN)));
    put(row, "engine_source", hf_value_string(mem, HF_SLICE("v2")));
    put(row, "class", text_at(mem, c, AT_TYPE));
    put(row, "workflow_type", text_at(mem, c, AT_TYPE));
    put(row, "namespace", text_at(mem, c, AT_NAMESPACE));
    put(row, "business_key", text_at(mem, c, AT_BUSINESS));
    put(row, "compatibility", text_at(mem, c, AT_COMPATIBILITY));
}

static void put_state(hf_value_list *row, hf_mem *mem, const hf_list_row *c)
{
    hf_run_status status = (hf_run_status)number_at(c, AT_STATUS);
    int64_t sort_us = number_at(c, AT_SORT);
    int64_t closed_us = int_or_none(c, AT_CLOSED);

    put(row, "status", word_at(mem, c, AT_STATUS, &hf_run_status_list));
    put(row, "status_bucket",
        hf_value_string(
            mem, hf_slice_of(hf_vocab_text(&hf_status_bucket_list, hf_run_status_bucket(status)))));
    put(row, "is_terminal", hf_value_bool(closed_us != HF_NONE));
    put(row, "closed_reason", word_at(mem, c, AT_REASON, &hf_closed_reason_list));
    put(row, "started_at", hf_edge_time(mem, sort_us));
    put(row, "closed_at", hf_edge_time(mem, closed_us));
    put(row, "created_at", hf_edge_time(mem, sort_us));
    put(row, "updated_at", hf_edge_time(mem, number_at(c, AT_LAST)));
    put(row, "sort_timestamp", hf_edge_time(mem, sort_us));
    put(row, "sort_key", hf_list_row_key(c, mem));
    put(row, "duration_ms",
        closed_us == HF_NONE ? hf_value_null() : hf_value_int(mem, (closed_us - sort_us) / 1000));
    put(row, "archived_at", hf_edge_time(mem, int_or_none(c, AT_ARCHIVED)));
    put(row, "archive_reason", archive_reason(mem, c));
    put(row, "wait_kind",
        closed_us == HF_NONE ? word_at(mem, c, AT_WAIT, &hf_wait_kind_list) : hf_value_null());
    put(row, "wait_reason",
        closed_us == HF_NONE ? sentence(mem, &hf_liveness_state_list, c->liveness)
                             : hf_value_null());
    put(row, "liveness_state", word(mem, &hf_liveness_state_list, c->liveness));
}

static void put_trouble(hf_value_list *row, hf_mem *mem, const hf_list_row *c)
{
    const hf_repair_blocked_look *look = look_of(c);
    bool problem = c->problem != 0;

    put(row, "repair_attention", hf_value_bool(wants_attention(c)));
    put(row, "repair_blocked_reason", word(mem, &hf_repair_blocked_reason_list, c->repair));
    put(row, "repair_blocked",
        look ? hf_json_(mem, "{'label': %s, 'tone': %s, 'badge_visible': %p}", look->label,
                        look->tone, (const void *)hf_value_bool(look->badge))
             : hf_value_null());
    put(row, "task_problem", hf_value_bool(problem));
    put(row, "task_problem_badge",
        hf_liveness_badge(mem, problem, number_at(c, AT_BLOCKED) == HF_RUN_BLOCKED_REPLAY));
}

hf_value hf_list_row_value(const hf_list_row *c, hf_mem *mem)
{
    hf_value_list *row = hf_value_object(mem);

    put_identity(row, mem, c);
    put_state(row, mem, c);
    put(row, "visibility_labels", json_at(mem, c, AT_LABELS));
    put(row, "search_attributes", json_at(mem, c, AT_ATTRIBUTES));
    put_trouble(row, mem, c);
    put(row, "declared_entry_mode",
        number_at(c, AT_DECLARED)
            ? hf_value_string(mem, hf_slice_of(hf_entry_mode_text(HF_ENTRY_MODE_CANONICAL)))
            : hf_value_null());
    put(row, "declared_contract_source",
        hf_value_string(mem, hf_slice_of(hf_contract_source_text(
                                 number_at(c, AT_DECLARED) ? HF_CONTRACT_SOURCE_DURABLE_HISTORY
                                                           : HF_CONTRACT_SOURCE_UNAVAILABLE))));
    put(row, "exception_count", hf_value_int(mem, number_at(c, AT_EXCEPTIONS)));
    put(row, "history_event_count", hf_value_int(mem, number_at(c, AT_EVENTS)));
    put(row, "history_size_bytes", hf_value_int(mem, number_at(c, AT_BYTES)));
    put(row, "history_fan_out", hf_value_int(mem, number_at(c, AT_FAN_OUT)));
    put(row, "continue_as_new_recommended",
        hf_value_bool(number_at(c, AT_PRESSURE) ==
                      HF_HISTORY_BUDGET_PRESSURE_CONTINUE_AS_NEW_RECOMMENDED));
    put(row, "history_budget_pressure",
        word_at(mem, c, AT_PRESSURE, &hf_history_budget_pressure_list));
    put(row, "connection", hf_value_null());
    put(row, "queue", text_at(mem, c, AT_QUEUE));
    put(row, "failure_fingerprint", text_at(mem, c, AT_FAILURE));
    return hf_value_finish(row);
}
