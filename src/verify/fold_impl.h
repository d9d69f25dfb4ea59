/* fold_impl.h: the inside of a fold, for the files of verify/ whose names begin with fold. */
#ifndef HF_VERIFY_FOLD_IMPL_H
#define HF_VERIFY_FOLD_IMPL_H

#include "base/id.h"
#include "base/mem.h"
#include "model/event.h"
#include "verify/fold.h"
#include "verify/span.h"

enum { HF_FOLD_DIGEST_BYTES = 16 }; /* the part of a payload's digest that identifies it here */

/* A step that is open. */
typedef struct hf_open_step {
    int64_t step;
    hf_history_shape shape;
    bool has_id;
    hf_ulid id;
    int64_t attempt;     /* of an activity: started so far */
    uint64_t group_hash; /* of its parallel group's name; 0: none */
} hf_open_step;

/* A timer that is pending, the timeouts of waits included. */
typedef struct hf_open_timer {
    int64_t step;
    int64_t due_us; /* HF_NONE: history does not say */
    bool of_wait;   /* a timeout: the step is the wait's */
} hf_open_timer;

/* A parallel group whose members are not complete. */
typedef struct hf_open_group {
    uint64_t hash; /* of its name */
    int64_t base;
    int64_t size;
    uint64_t kind_hash;
    uint64_t path_hash;
    bool flat; /* it is in no other group and has none inside, so that every member is a step */
    hf_span_set members;
    int64_t count;
} hf_open_group;

/* The newest message that was applied under a name. */
typedef struct hf_message_name {
    uint64_t hash;
    int64_t message_seq;
} hf_message_name;

typedef struct hf_payload_ref {
    uint8_t digest[HF_FOLD_DIGEST_BYTES];
    int64_t key;
    int64_t size;
    int32_t codec;
    bool used;
} hf_payload_ref;

/* A signal of a machine. */
typedef struct hf_machine_signal_fold {
    int64_t key;
    uint64_t name; /* hash */
    bool used;
    bool presented; /* to the step that parked */
} hf_machine_signal_fold;

typedef enum hf_machine_fold_mode {
    HF_MACHINE_FOLD_NONE, /* no step has ended: it may be a workflow */
    HF_MACHINE_FOLD_READY,
    HF_MACHINE_FOLD_PARKED,
    HF_MACHINE_FOLD_JOINING
} hf_machine_fold_mode;

typedef struct hf_machine_fold {
    hf_machine_fold_mode mode;
    hf_machine_signal_fold *signals;
    size_t signal_count, signal_room;
    uint64_t *names; /* hashes of what it awaits */
    size_t name_count;
    int64_t park; /* step number */
} hf_machine_fold;

struct hf_fold {
    hf_report *report;
    hf_sha256 *sha;
    hf_mem *mem;   /* of the run */
    hf_mem *chunk; /* of the chunk at hand */
    bool chain;    /* recompute hashes */
    int64_t total; /* events of all runs */

    /* ---- the run at hand; everything below is zeroed when the next begins */
    int64_t run;
    bool exists;
    hf_fold_run facts;
    uint8_t head[HF_SHA256_BYTES]; /* as the run's row has it */
    bool rows_ready;               /* rows are sorted, history may come */
    bool blind;                    /* events were not seen: what depends on them is not judged */
    bool chunk_seen;
    /* its rows */
    hf_fold_link *links;
    size_t link_count, link_room;
    hf_fold_activity *activities;
    size_t activity_count, activity_room;
    hf_fold_timer *timers;
    size_t timer_count, timer_room;
    hf_fold_task *tasks;
    size_t task_count, task_room;
    hf_fold_command *commands;
    size_t command_count, command_room;
    hf_payload_ref *payloads;
    size_t payload_count, payload_room;
    int64_t inbox_count;
    bool marks_known; /* the next two, as the row has them */
    bool marked_paused, marked_archived;
    /* its history so far */
    int64_t next_seq; /* expected */
    uint8_t previous[HF_SHA256_BYTES];
    bool previous_known;
    int64_t bytes;
    int64_t last_us;
    int64_t start_accepted; /* how many */
    int64_t started;
    hf_event_type closed_by; /* 0: open */
    bool paused, archived;
    int64_t copied;         /* so many of the first events are another run's */
    int64_t cursor;         /* newest message applied */
    int64_t timed_out_wait; /* the newest signal wait that its timeout ended; 0: none */
    bool cursor_unknown;    /* messages were used up in a way the fold does not follow */
    hf_message_name *names; /* of messages that were applied */
    size_t name_count, name_room;
    bool deadlines_known; /* WorkflowStarted was seen */
    int64_t execution_deadline_us;
    int64_t run_deadline_us;
    hf_span_set used;     /* steps that were opened */
    hf_span_set resolved; /* and that are over */
    hf_open_step *open;   /* ascending */
    size_t open_count, open_room;
    hf_open_timer *pending; /* ascending */
    size_t pending_count, pending_room;
    hf_open_group *groups;
    size_t group_count, group_room;
    hf_machine_fold machine;
};

/* Reports about the run at hand, with one more key when `name` is not NULL. */
void hf_fold_find(hf_fold *fold, int invariant, const char *name, int64_t number,
                  const char *format, ...) HF_FORMAT(5, 6);

/* fold_step.c: what an event says of steps, timers, attempts and groups. */
HF_NODISCARD hf_status hf_fold_step_event(hf_fold *fold, const hf_event *event, int64_t seq,
                                          hf_err *err);
/* The open step of that number, or NULL. */
hf_open_step *hf_fold_step_get(const hf_fold *fold, int64_t step);
void hf_fold_step_end(hf_fold *fold);

/* fold_group.c: parallel groups. Called for an event that opens a step. */
HF_NODISCARD hf_status hf_fold_group_open(hf_fold *fold, const hf_event *event, hf_open_step *step,
                                          int64_t seq, hf_err *err);
/* And for one that resolves it. */
void hf_fold_group_resolve(hf_fold *fold, const hf_event *event, const hf_open_step *step,
                           int64_t seq);
void hf_fold_group_end(hf_fold *fold);

/* fold_command.c: commands and messages. */
void hf_fold_command_sort(hf_fold *fold);
HF_NODISCARD hf_status hf_fold_command_event(hf_fold *fold, const hf_event *event, int64_t seq,
                                             hf_err *err);
void hf_fold_command_end(hf_fold *fold);
/* A machine used up the signal of that command. */
void hf_fold_command_applied(hf_fold *fold, int64_t key);

/* fold_machine.c: step machines. */
HF_NODISCARD hf_status hf_fold_machine_event(hf_fold *fold, const hf_event *event, int64_t seq,
                                             hf_err *err);
/* Whether the machine waits for something that has not come. */
bool hf_fold_machine_waits(const hf_fold *fold);

/* fold_payload.c: references to payloads that are stored apart. */
void hf_fold_payload_sort(hf_fold *fold);
void hf_fold_payload_event(hf_fold *fold, const hf_event *event, int64_t seq);
void hf_fold_payload_end(hf_fold *fold);

/* fold_work.c: open work against history. */
void hf_fold_work_end(hf_fold *fold);

#endif
