/* row.h: rows as structs, and the row operations made from them. A builder copies what it is given
   into the arena and returns the operation, or NULL when memory ran out. Structs mirror the tables
   of sql/migrations; the words in them are those of the model. A number that may be absent is
   HF_NONE, a slice that may be absent has ptr NULL. */
#ifndef HF_STORE_ROW_H
#define HF_STORE_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "base/slice.h"
#include "model/vocab.h"
#include "store/db.h"
#include "store/op.h"

#define HF_NONE INT64_MIN

/* A number, or HF_NONE for null. */
int64_t hf_column_or_none(hf_db_cursor *cursor, size_t column);

/* Kinds of inbox rows; stored. */
typedef enum hf_inbox_kind {
    HF_INBOX_CHILD_CLOSED = 1, /* to the parent run; source_run: the child run that closed */
    HF_INBOX_CHILD_STARTED =
        2, /* to the parent run; source_run: the run that the child goes on as */
    /* From here on rows are for an instance: the run that follows takes them over. */
    HF_INBOX_PARENT_CLOSED = 16, /* body: policy and reason; source_run: the parent */
    HF_INBOX_SIGNAL = 17,        /* body: name, ordinal, arguments; source_run: the sender */
    HF_INBOX_STOP = 18 /* body: policy and reason; source_run: the run that a schedule started */
} hf_inbox_kind;

/* run.blocked; stored. */
typedef enum hf_run_blocked {
    HF_RUN_BLOCKED_NOT = 0,
    HF_RUN_BLOCKED_REPLAY = 1,    /* code and history disagree */
    HF_RUN_BLOCKED_QUARANTINE = 2 /* the code killed its process crash_limit times */
} hf_run_blocked;

/* task.trouble; stored. */
typedef enum hf_task_trouble {
    HF_TASK_TROUBLE_NONE = 0,
    HF_TASK_TROUBLE_DISPATCH = 1, /* handing it to a runner, pool or poller failed */
    HF_TASK_TROUBLE_CLAIM = 2,    /* the claim's transaction failed */
    HF_TASK_TROUBLE_WORKER = 3    /* the worker that had it reported that it could not do it */
} hf_task_trouble;

/* One row operation. Sequence numbers of commands are not known until the unit is based on a run,
   so a row may say which of its cells wait for one, and how far behind the run's counter it lies.
 */
typedef struct hf_row {
    struct hf_row *next; /* in a unit's list */
    size_t part;         /* of the unit: whose numbers it waits for */
    hf_op op;
    hf_db_value *cells; /* hf_op_infos[op].cells of them */
    int command_cell;   /* cell that gets run.command_seq + command_ahead, or -1 */
    int message_cell;   /* cell that gets run.message_seq + message_ahead, or -1 */
    int64_t command_ahead;
    int64_t message_ahead;
    int signals; /* that it opens (1) or closes (-1) for the run of its part */
    int updates;
    bool moves; /* they were open in the run of part 0 before */
} hf_row;

/* The moving part of a run row: what a unit is based on and what it leaves behind. */
typedef struct hf_run_base {
    int64_t run;
    int64_t instance;
    int64_t shard;
    int64_t last_seq;
    uint8_t head[HF_SHA256_BYTES];
    int64_t last_us;
    int64_t history_bytes;
    int64_t command_seq;
    int64_t message_seq;
    int64_t message_cursor;
    int64_t open_signals; /* accepted and not dealt with */
    int64_t open_updates;
    int64_t status;        /* hf_run_status */
    int64_t closed_reason; /* hf_closed_reason or HF_NONE */
    int64_t closed_us;     /* HF_NONE while open */
} hf_run_base;

typedef struct hf_instance_row {
    int64_t key;
    int64_t namespace_key;
    hf_slice id;
    int64_t shard;
    hf_slice type;
    hf_slice business_key;
    int64_t current_run;
    int64_t run_count;
    int64_t created_us;
} hf_instance_row;

typedef struct hf_run_row {
    int64_t number;
    int64_t created_us;
    int64_t execution_deadline_us;
    int64_t run_deadline_us;
    hf_slice queue;
    int64_t definition; /* HF_NONE: unknown here */
} hf_run_row;

typedef struct hf_command_row {
    int64_t key;
    int64_t instance;
    int64_t run; /* HF_NONE: rejected before a run was found */
    hf_command_type type;
    hf_command_status status;
    int64_t outcome;   /* hf_cmd_outcome or HF_NONE while an update is open */
    int64_t rejection; /* hf_rejection_reason or HF_NONE */
    hf_target_scope scope;
    hf_command_source source;
    int64_t command_ahead; /* 1 for the unit's first command; HF_NONE: it has no number */
    int64_t message_ahead; /* 1 for the unit's first message; HF_NONE: it is no message */
    hf_slice name;
    int64_t state; /* hf_signal_status or hf_update_status, or HF_NONE */
    int64_t recorded_us;
    int64_t applied_us;
    int64_t closed_us;
    hf_slice body;
} hf_command_row;

typedef struct hf_timer_row {
    int64_t key;
    int64_t run;
    int64_t step;
    int64_t kind; /* hf_timer_kind, 0 for a plain timer */
    hf_timer_status status;
    int64_t due_us;
    int64_t created_us;
    int64_t closed_us;
} hf_timer_row;

/* One side of a message. */
typedef struct hf_message_row {
    int64_t key;
    int64_t namespace_key;
    hf_slice instance; /* id: whose stream */
    hf_slice stream;
    hf_message_direction direction;
    hf_slice peer; /* id of the instance at the other end */
    int64_t source_run;
    int64_t ordinal; /* of the message among those the run sent */
    hf_slice reference;
    int64_t created_us;
} hf_message_row;

typedef struct hf_activity_row {
    int64_t key;
    int64_t run;
    int64_t step;
    hf_slice type;
    hf_activity_status status;
    int64_t attempt;
    int64_t max_attempts;
    int64_t lost_attempts;
    int64_t crash_count; /* 0 in a new row, this and the next */
    int64_t missed_starts;
    int64_t deadline_us;
    int64_t close_deadline_us;
    int64_t available_us;
    int64_t scheduled_us;
    int64_t started_us;
    int64_t closed_us;
    hf_slice policy;
    hf_slice owner; /* set alone, this and the next: a new row has none */
    int64_t lease_until_us;
} hf_activity_row;

typedef struct hf_link_row {
    int64_t key;
    hf_link_type kind;
    int64_t parent_run;
    int64_t step;
    int64_t child_instance;
    int64_t child_run;
    hf_parent_close_policy policy;
    int64_t created_us;
    int64_t call; /* key and time of the call's first link */
    int64_t call_us;
    int64_t attempt;
    int64_t max_attempts; /* 0: not retried, -1: no limit */
} hf_link_row;

typedef struct hf_payload_row {
    int64_t key;
    int64_t run;
    const uint8_t *digest; /* HF_SHA256_BYTES */
    hf_payload_codec codec;
    int64_t size;
    int64_t compression; /* 0 none, 1 zstd */
    hf_slice body;
} hf_payload_row;

typedef struct hf_batch_move {
    int64_t key;
    int64_t epoch; /* of the claim */
    int64_t from;
    int64_t to;
    int64_t next_us; /* not before: its rate */
    int64_t lease_until_us;
    int64_t now_us;
} hf_batch_move;

typedef struct hf_batch_item_row {
    int64_t batch;
    int64_t epoch; /* of the claim under which it was done */
    int64_t number;
    hf_batch_item_status status;
    hf_slice id;
    hf_slice outcome; /* ptr NULL: none, all three */
    hf_slice reason;
    hf_slice message;
} hf_batch_item_row;

/* A schedule; 0 in next_us and latest_instance: none. */
typedef struct hf_schedule_row {
    int64_t key;
    int64_t namespace_key;
    hf_slice id;
    int64_t status;   /* hf_schedule_status */
    int64_t expected; /* the revision that is moved */
    int64_t revision;
    int64_t next_us;
    int64_t events;
    int64_t fires;
    int64_t latest_instance;
    int64_t created_us;
    hf_slice body;
} hf_schedule_row;

typedef struct hf_schedule_event_row {
    int64_t schedule;
    int64_t sequence;
    int64_t revision;
    hf_event_type type;
    int64_t recorded_us;
    int64_t run;     /* HF_NONE: it started none */
    int64_t slot_us; /* HF_NONE: it did not fire by itself */
    hf_slice body;
} hf_schedule_event_row;

/* `epoch`: of its shard, whose owner alone may make it; HF_NONE: anybody may. */
hf_row *hf_row_instance_new(hf_mem *mem, const hf_instance_row *row, int64_t epoch);
hf_row *hf_row_instance_child(hf_mem *mem, const hf_instance_row *row);
/* An instance that exists has its next run; its row says which and how many there are then. */
hf_row *hf_row_instance_advance(hf_mem *mem, const hf_instance_row *row, int64_t expected_count);
/* Bare: the instance's newest run is another one than its row says, unless that has changed. */
hf_row *hf_row_instance_point(hf_mem *mem, const hf_instance_row *row, int64_t current_run,
                              int64_t run_count);
/* Bare: an instance without a run. */
hf_row *hf_row_instance_reserve(hf_mem *mem, const hf_instance_row *row);
hf_row *hf_row_instance_continue(hf_mem *mem, int64_t key, int64_t run_count, int64_t current_run);
hf_row *hf_row_run_new(hf_mem *mem, const hf_run_base *base, const hf_run_row *row);
/* epoch HF_NONE: the unit holds whoever owns the shard. */
hf_row *hf_row_run_advance(hf_mem *mem, const hf_run_base *expected, const hf_run_base *base,
                           int64_t epoch);
/* What the fence expects, changed after it was built; `base` is what it was built with. A run whose
   status and counters stay is only moved on. */
void hf_row_run_expect(hf_row *row, const hf_run_base *expected, const hf_run_base *base);
hf_row *hf_row_run_mark(hf_mem *mem, int64_t run, int64_t blocked, int64_t crash_count);
hf_row *hf_row_run_pause(hf_mem *mem, int64_t run, int64_t paused_us); /* HF_NONE: it goes on */
hf_row *hf_row_run_archive(hf_mem *mem, int64_t run, int64_t archived_us);
/* The position is filled in by the writer, which alone hands them out. */
hf_row *hf_row_history_append(hf_mem *mem, int64_t run, int64_t first_seq, int64_t count,
                              int64_t format, hf_slice body, const uint8_t hash[HF_SHA256_BYTES]);
hf_row *hf_row_payload_new(hf_mem *mem, const hf_payload_row *row);
hf_row *hf_row_command_new(hf_mem *mem, const hf_command_row *row);
/* The same for one that changes nothing but the run's counter of commands. */
hf_row *hf_row_command_record(hf_mem *mem, const hf_command_row *row);
/* Bare: the same for an instance without a run. */
hf_row *hf_row_command_leave(hf_mem *mem, const hf_command_row *row);
hf_row *hf_row_command_close(hf_mem *mem, int64_t key, int64_t outcome, int64_t state,
                             int64_t applied_us, int64_t closed_us);
/* A row of hf_row_command_new takes over what one of hf_row_command_close says of it. */
void hf_row_command_closes(hf_row *command, const hf_row *close);
/* A message goes over to another run of the instance, as its nth command. */
hf_row *hf_row_command_move(hf_mem *mem, int64_t key, bool update, int64_t run,
                            int64_t command_ahead);
/* A taken key is a broken constraint: the unit is condemned. `scope` as the table says. */
hf_row *hf_row_correlation_new(hf_mem *mem, int64_t namespace_key, hf_slice key, int64_t instance,
                               int64_t scope);
hf_row *hf_row_correlation_close(hf_mem *mem, int64_t instance, int64_t ending);
/* Slots under a concurrency key, and tokens of a bucket. Bare: the flag says whether it was had. In
   one batch there is one take of a key at most. */
hf_row *hf_row_slot_take(hf_mem *mem, int64_t namespace_key, hf_slice key, int64_t most,
                         int64_t run, hf_slice owner, int64_t lease_until_us, int64_t now_us);
hf_row *hf_row_slot_free(hf_mem *mem, int64_t namespace_key, hf_slice key, int64_t run,
                         hf_slice owner);
hf_row *hf_row_slot_renew(hf_mem *mem, hf_slice owner, int64_t lease_until_us);
hf_row *hf_row_slot_clear(hf_mem *mem, hf_slice owner);
hf_row *hf_row_bucket_take(hf_mem *mem, int64_t namespace_key, hf_slice key, int64_t weight,
                           int64_t burst, int64_t allowed, int64_t per_us, int64_t now_us);
hf_row *hf_row_dedup_new(hf_mem *mem, int64_t instance, hf_slice hash, int64_t command);
hf_row *hf_row_dedup_leave(hf_mem *mem, int64_t instance, hf_slice hash, int64_t command);
/* No other node gives the instance another run before this unit is committed. */
hf_row *hf_row_instance_hold(hf_mem *mem, int64_t key);
/* No other node numbers messages of the instance's streams before this unit is committed. */
hf_row *hf_row_message_hold(hf_mem *mem, int64_t namespace_key, hf_slice instance);
/* Nothing where the instance does not exist, or the message is there already. */
hf_row *hf_row_message_new(hf_mem *mem, const hf_message_row *row);
/* All unread messages up to a number were read in a step of the run. */
hf_row *hf_row_message_take(hf_mem *mem, int64_t instance, hf_slice stream, int64_t number,
                            int64_t run, int64_t step, int64_t now_us);
/* `next` takes the run's place with its steps up to `step`: what was read later is unread again. */
hf_row *hf_row_message_return(hf_mem *mem, int64_t run, int64_t next, int64_t step);
hf_row *hf_row_inbox_new(hf_mem *mem, int64_t key, int64_t run, int64_t kind, int64_t source_run,
                         int64_t created_us, hf_slice body);
/* The same to a run that may be closed, and hears nothing then: `run`, or HF_NONE and the newest
   run of `instance`. */
hf_row *hf_row_inbox_tell(hf_mem *mem, int64_t key, int64_t run, int64_t instance, int64_t kind,
                          int64_t source_run, int64_t created_us, hf_slice body);
/* No other node puts another run in the place of this one before this unit is committed. */
hf_row *hf_row_parent_hold(hf_mem *mem, int64_t run);
/* No other node closes the child that the run called in that step, in whatever run it is, before
   this unit is committed. */
hf_row *hf_row_run_hold(hf_mem *mem, int64_t parent, int64_t step);
/* That the child which `run` takes over from `parent` is closed, if it is when this unit commits.
 */
hf_row *hf_row_inbox_child(hf_mem *mem, int64_t key, int64_t run, int64_t parent, int64_t step,
                           int64_t created_us);
hf_row *hf_row_inbox_move(hf_mem *mem, int64_t run, int64_t next);
hf_row *hf_row_link_new(hf_mem *mem, const hf_link_row *row);
/* The next run of a child: to whoever awaits the run before it when this unit commits. */
hf_row *hf_row_link_follow(hf_mem *mem, const hf_link_row *row, int64_t before);
/* To the run that the child of a call of `origin` is in when this unit commits. */
hf_row *hf_row_link_take(hf_mem *mem, const hf_link_row *row, int64_t origin);
hf_row *hf_row_activity_new(hf_mem *mem, const hf_activity_row *row);
hf_row *hf_row_activity_set(hf_mem *mem, const hf_activity_row *row);
/* The worker that has the attempt keeps it until then. */
hf_row *hf_row_activity_lease(hf_mem *mem, int64_t key, int64_t attempt, int64_t lease_until_us);
hf_row *hf_row_timer_new(hf_mem *mem, const hf_timer_row *row);
/* The timer is pending after all. */
hf_row *hf_row_timer_reset(hf_mem *mem, int64_t key, int64_t due_us);
hf_row *hf_row_timer_cancel(hf_mem *mem, int64_t run, int64_t step);
/* The workflow task that gives a run's code a turn, of which there is one at most. */
hf_row *hf_row_task_wake(hf_mem *mem, int64_t key, int64_t run, hf_slice queue,
                         int64_t available_us, int64_t created_us);
enum { HF_TASK_PRIORITY = 5 }; /* of 1 to 99, where nobody said another */

/* The same for a run that begins, with a priority of its own; 0: the usual one. */
hf_row *hf_row_task_begin(hf_mem *mem, int64_t key, int64_t run, hf_slice queue, int64_t priority,
                          int64_t available_us, int64_t created_us);
/* The same for another run, addressed as in hf_row_inbox_tell. */
hf_row *hf_row_task_tell(hf_mem *mem, int64_t key, int64_t run, int64_t instance,
                         int64_t source_kind, int64_t source_key, int64_t now_us);
/* The turn is over, unless the run has messages that it did not see. */
hf_row *hf_row_task_done(hf_mem *mem, int64_t run, int64_t messages_seen);
/* The same as a bare row, for a turn that decided nothing: unless the run moved on from `seen`. */
hf_row *hf_row_task_drop(hf_mem *mem, int64_t run, int64_t seen);
/* Bare rows: the run's workflow task is blocked for the reason in `body`, and the run says so (0:
 * no longer). */
hf_row *hf_row_task_block(hf_mem *mem, int64_t key, int64_t run, hf_slice queue, int64_t now_us,
                          hf_slice body);
hf_row *hf_row_run_block(hf_mem *mem, int64_t run, int64_t blocked);
/* Bare, all six: a batch begins; an engine takes it, or leaves it; under that epoch it has come to
   `at` and an item is over; its status changes. */
hf_row *hf_row_batch_new(hf_mem *mem, int64_t key, int64_t namespace_key, int64_t total,
                         int64_t created_us, hf_slice body);
hf_row *hf_row_batch_item_new(hf_mem *mem, const hf_batch_item_row *row);
hf_row *hf_row_batch_claim(hf_mem *mem, int64_t key, int64_t expected_epoch, int64_t owner,
                           int64_t lease_until_us, int64_t now_us);
hf_row *hf_row_batch_free(hf_mem *mem, int64_t key, int64_t epoch);
hf_row *hf_row_batch_move(hf_mem *mem, const hf_batch_move *move);
hf_row *hf_row_batch_status(hf_mem *mem, int64_t key, hf_batch_status expected,
                            hf_batch_status status, int64_t closed_us);
/* Bare: the process died while the run's code had it. */
hf_row *hf_row_run_crash(hf_mem *mem, int64_t run);
/* Bare: whoever had the attempt does not have it any more, and another may begin. Nothing happens
   when one has begun, or when the attempt has ended meanwhile. */
hf_row *hf_row_activity_return(hf_mem *mem, int64_t key, int64_t attempt, int64_t lost_attempts,
                               int64_t deadline_us, int64_t available_us);
/* The task may be taken again, whatever was wrong with it. */
hf_row *hf_row_task_repair(hf_mem *mem, int64_t key, int64_t available_us);
/* Bare: the run's workflow task could not be handed over or claimed, and is not tried before
 * `repair_us`. */
hf_row *hf_row_task_trouble(hf_mem *mem, int64_t run, hf_task_trouble trouble, int64_t repair_us);
/* A worker could not do the run's workflow task, which is made when it is not there: body says why,
   and it is not offered before repair_us. */
hf_row *hf_row_task_fault(hf_mem *mem, int64_t key, int64_t run, hf_slice queue, int64_t now_us,
                          hf_slice body, int64_t repair_us);
/* A worker could do it after all. */
hf_row *hf_row_task_calm(hf_mem *mem, int64_t run);
/* Bare: the watchdog hands a task out again that is as it saw it. */
hf_row *hf_row_task_redo(hf_mem *mem, int64_t key, int64_t expected_epoch, int64_t available_us,
                         int64_t repair_us);
hf_row *hf_row_summary_new(hf_mem *mem, int64_t run, int64_t namespace_key, int64_t instance,
                           int64_t status, int64_t sort_us);
hf_row *hf_row_summary_set(hf_mem *mem, int64_t run, int64_t status);
/* A worker that is there until `expires_us`. */
typedef struct hf_worker_row {
    hf_slice name;
    hf_slice queue; /* "*": any */
    hf_slice scope; /* compatibility namespace, empty: none */
    hf_slice host;
    int64_t process;
    hf_slice build_id;  /* ptr NULL: it says none */
    hf_slice supported; /* markers separated by commas; "*": any */
    int64_t recorded_us;
    int64_t expires_us;
} hf_worker_row;

/* Bare: it says that it is there. */
hf_row *hf_row_worker_beat(hf_mem *mem, const hf_worker_row *row);

/* The right to fire: moves the revision when it is `expected` and the instance's id is free. */
hf_row *hf_row_schedule_take(hf_mem *mem, int64_t schedule, int64_t expected, int64_t revision,
                             int64_t namespace_key, hf_slice instance_id);
/* The instance of the run that the schedule starts, behind hf_row_schedule_take. */
hf_row *hf_row_schedule_instance(hf_mem *mem, const hf_instance_row *row, int64_t schedule,
                                 int64_t revision);
/* The rest of the schedule, and what is to be said of it, in the same unit. */
hf_row *hf_row_schedule_set(hf_mem *mem, const hf_schedule_row *row);
hf_row *hf_row_schedule_event(hf_mem *mem, const hf_schedule_event_row *row);
/* The same as bare rows, for what starts no run. */
hf_row *hf_row_schedule_new(hf_mem *mem, const hf_schedule_row *row);
hf_row *hf_row_schedule_move(hf_mem *mem, const hf_schedule_row *row);
hf_row *hf_row_schedule_note(hf_mem *mem, const hf_schedule_event_row *row);
/* Operations that need nothing but a key: deletes of inbox, activity, timer and task rows, and of
   the attempts of an activity. */
hf_row *hf_row_delete(hf_mem *mem, hf_op op, int64_t key);
/* Any operation from its cells in the order of the statement's parameters; bytes are copied. For
   rows that no struct mirrors. */
hf_row *hf_row_cells(hf_mem *mem, hf_op op, const hf_db_value *cells, size_t count);

/* ---- reading back */

/* The run row and its instance's shard. HF_NOTFOUND when there is none. */
HF_NODISCARD hf_status hf_run_base_get(hf_db *db, int64_t run, hf_run_base *out_base, hf_err *err);

/* The same from the columns of run_get in another statement's row; they begin at `from`. */
HF_NODISCARD hf_status hf_run_base_take(hf_db_cursor *cursor, size_t from, int64_t run,
                                        hf_run_base *out_base, hf_err *err);

/* Bare: a credential of the server, and its end. */
hf_row *hf_row_definition_add(hf_mem *mem, int64_t key, hf_slice fingerprint, hf_slice type,
                              hf_slice body);

/* The instance of an id; texts are copied into the arena. HF_NOTFOUND when there is none. */
HF_NODISCARD hf_status hf_instance_get(hf_db *db, hf_mem *mem, int64_t namespace_key, hf_slice id,
                                       hf_instance_row *out_row, hf_err *err);

/* Whether the texts of a search attribute are keywords because it is registered as such. */
HF_NODISCARD hf_status hf_attribute_is_keyword(hf_db *db, int64_t namespace_key, hf_slice name,
                                               bool *out_keyword, hf_err *err);

typedef struct hf_newest_run {
    hf_run_base base; /* run HF_NONE: there is none */
    int64_t created_us;
    int64_t definition; /* HF_NONE: not known here */
    hf_slice queue;
} hf_newest_run;

/* Like hf_instance_get, with the instance's newest run as it was at the same moment. */
HF_NODISCARD hf_status hf_instance_aim(hf_db *db, hf_mem *mem, int64_t namespace_key, hf_slice id,
                                       hf_instance_row *out_row, hf_newest_run *out_newest,
                                       hf_err *err);

/* The key of a namespace. HF_NOTFOUND when there is none. */
HF_NODISCARD hf_status hf_namespace_get(hf_db *db, hf_slice name, int64_t *out_key, hf_err *err);

/* The same, made when it does not exist; on the writer's connection, outside a transaction. */
HF_NODISCARD hf_status hf_namespace_make(hf_db *db, hf_slice name, int64_t now_us, int64_t *out_key,
                                         hf_err *err);

#endif
