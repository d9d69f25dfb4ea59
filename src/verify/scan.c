/* scan.c: reads the one ordered stream of verify_scan.sql and hands it to the fold, run by run. */
#include "store/row.h"
#include "verify/check.h"
#include "verify/fold.h"

enum { PROGRESS_EVENTS = 4096 }; /* between two calls of progress */

typedef enum scan_part {
    PART_RUN = 1,
    PART_LINK,
    PART_ACTIVITY,
    PART_TIMER,
    PART_TASK,
    PART_COMMAND,
    PART_INBOX,
    PART_PAYLOAD,
    PART_HISTORY,
    PART_MARKS,
} scan_part;

/* Columns of the stream. */
enum { COLUMN_RUN, COLUMN_SEQ, COLUMN_PART, COLUMN_N1, COLUMN_B1 = COLUMN_N1 + 15, COLUMN_B2 };

typedef struct run_scan {
    hf_check *check;
    hf_fold *fold;
    hf_db_cursor *cursor;
    bool in_run;
    int64_t run;
    int64_t total; /* events that the run rows claim */
    int64_t shown; /* when progress was called last */
} run_scan;

/* The nth number of a row, HF_NONE for null. */
static int64_t number(const run_scan *scan, size_t nth)
{
    size_t column = COLUMN_N1 + nth - 1;

    return hf_db_column_null(scan->cursor, column) ? HF_NONE
                                                   : hf_db_column_int(scan->cursor, column);
}

static bool present(const run_scan *scan, size_t nth)
{
    return number(scan, nth) != HF_NONE;
}

static void run_begin(run_scan *scan)
{
    const hf_fold_run facts = {.number = number(scan, 2),
                               .status = number(scan, 3),
                               .closed_reason = number(scan, 4),
                               .blocked = number(scan, 5),
                               .last_seq = number(scan, 6),
                               .last_us = number(scan, 7),
                               .history_bytes = number(scan, 8),
                               .command_seq = number(scan, 9),
                               .message_seq = number(scan, 10),
                               .message_cursor = number(scan, 11),
                               .closed_us = number(scan, 12),
                               .inherited_cursor = hf_db_column_int(scan->cursor, COLUMN_N1 + 12),
                               .execution_deadline_us = number(scan, 14),
                               .run_deadline_us = number(scan, 15),
                               .head = hf_db_column_bytes(scan->cursor, COLUMN_B1)};

    hf_fold_begin(scan->fold, scan->run, &facts);
    scan->check->runs++;
}

static hf_status link_add(run_scan *scan, hf_err *err)
{
    const hf_fold_link link = {.key = number(scan, 1),
                               .kind = number(scan, 2),
                               .step = number(scan, 3),
                               .policy = number(scan, 4),
                               .child_run = number(scan, 5),
                               .child_exists = present(scan, 6),
                               .child_open = present(scan, 7) && !present(scan, 8),
                               .child_told = present(scan, 9),
                               .taken_over = present(scan, 10)};

    return hf_fold_link_add(scan->fold, &link, err);
}

static hf_status command_add(run_scan *scan, hf_err *err)
{
    const hf_fold_command command = {.key = number(scan, 1),
                                     .type = number(scan, 2),
                                     .status = number(scan, 3),
                                     .outcome = number(scan, 4),
                                     .command_seq = number(scan, 5),
                                     .message_seq = number(scan, 6),
                                     .state = number(scan, 7)};

    return hf_fold_command_add(scan->fold, &command, err);
}

static hf_status chunk_add(run_scan *scan, hf_err *err)
{
    const hf_fold_chunk chunk = {.first_seq = hf_db_column_int(scan->cursor, COLUMN_SEQ),
                                 .count = number(scan, 2),
                                 .format = number(scan, 3),
                                 .hash = hf_db_column_bytes(scan->cursor, COLUMN_B1),
                                 .body = hf_db_column_bytes(scan->cursor, COLUMN_B2)};

    return hf_fold_chunk_add(scan->fold, &chunk, err);
}

static hf_status part_add(run_scan *scan, scan_part part, hf_err *err)
{
    switch (part) {
    case PART_RUN:
        run_begin(scan);
        return HF_OK;
    case PART_LINK:
        return link_add(scan, err);
    case PART_ACTIVITY:
        return hf_fold_activity_add(scan->fold,
                                    &(hf_fold_activity){.key = number(scan, 1),
                                                        .step = number(scan, 2),
                                                        .status = number(scan, 3),
                                                        .attempt = number(scan, 4)},
                                    err);
    case PART_TIMER:
        return hf_fold_timer_add(scan->fold,
                                 &(hf_fold_timer){.key = number(scan, 1),
                                                  .step = number(scan, 2),
                                                  .status = number(scan, 4),
                                                  .due_us = number(scan, 5)},
                                 err);
    case PART_TASK:
        return hf_fold_task_add(scan->fold,
                                &(hf_fold_task){.key = number(scan, 1),
                                                .kind = number(scan, 2),
                                                .status = number(scan, 3)},
                                err);
    case PART_COMMAND:
        return command_add(scan, err);
    case PART_INBOX:
        hf_fold_inbox_add(scan->fold, number(scan, 1));
        return HF_OK;
    case PART_PAYLOAD:
        return hf_fold_payload_add(
            scan->fold,
            &(hf_fold_payload){.key = number(scan, 1),
                               .codec = number(scan, 2),
                               .size = number(scan, 3),
                               .digest = hf_db_column_bytes(scan->cursor, COLUMN_B1)},
            err);
    case PART_HISTORY:
        return chunk_add(scan, err);
    case PART_MARKS:
        hf_fold_marks_set(scan->fold, present(scan, 1), present(scan, 2));
        return HF_OK;
    }
    return HF_OK;
}

static hf_status progress_tell(run_scan *scan, hf_err *err)
{
    const hf_check *check = scan->check;
    int64_t events = hf_fold_events(scan->fold);

    scan->shown = events;
    if (check->progress && !check->progress(check->progress_ctx, events, scan->total))
        return hf_err_set(err, HF_CANCELLED, "stopped after %lld events", (long long)events);
    return HF_OK;
}

static hf_status row_take(run_scan *scan, hf_err *err)
{
    int64_t run = hf_db_column_int(scan->cursor, COLUMN_RUN);
    scan_part part = (scan_part)hf_db_column_int(scan->cursor, COLUMN_PART);
    hf_status st = HF_OK;

    if (!scan->in_run || run != scan->run) {
        if (scan->in_run)
            st = hf_fold_end(scan->fold, err);
        scan->in_run = true;
        scan->run = run;
        if (!st && part != PART_RUN) /* the run's own row comes first when there is one */
            hf_fold_begin(scan->fold, run, NULL);
    }
    if (!st)
        st = part_add(scan, part, err);
    if (!st && hf_fold_events(scan->fold) - scan->shown >= PROGRESS_EVENTS)
        st = progress_tell(scan, err);
    return st;
}

static hf_status total_read(hf_check *check, int64_t *out_events, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(check->low), hf_db_int(check->high)};
    hf_db_cursor *cursor = NULL;
    bool row = false;
    hf_status st = hf_db_query(check->db, HF_STMT_VERIFY_TOTAL, params, 2, &cursor, err);

    if (!st)
        st = hf_db_step(cursor, &row, err);
    if (!st && row)
        *out_events = hf_db_column_int(cursor, 1);
    hf_db_end(cursor);
    return st;
}

hf_status hf_check_scan(hf_check *check, hf_err *err)
{
    const hf_db_value params[] = {hf_db_int(check->low), hf_db_int(check->high)};
    run_scan scan = {.check = check};
    bool row = false;
    hf_status st = hf_fold_new(check->report, !check->quick, &scan.fold, err);

    if (!st)
        st = total_read(check, &scan.total, err);
    if (!st)
        st = progress_tell(&scan, err);
    if (!st)
        st = hf_db_query(check->db, HF_STMT_VERIFY_SCAN, params, 2, &scan.cursor, err);
    if (!st)
        st = hf_db_step(scan.cursor, &row, err);
    while (!st && row) {
        st = row_take(&scan, err);
        if (!st)
            st = hf_db_step(scan.cursor, &row, err);
    }
    if (!st && scan.in_run)
        st = hf_fold_end(scan.fold, err);
    if (!st)
        st = progress_tell(&scan, err);
    hf_db_end(scan.cursor);
    if (scan.fold)
        check->events = hf_fold_events(scan.fold);
    hf_fold_free(scan.fold);
    return st;
}
