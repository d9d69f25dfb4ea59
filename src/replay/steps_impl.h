/* steps_impl.h: where a step machine stands, for steps.c, which folds it, and steps_work.c, which
   hands its steps out and takes their ends. */
#ifndef HF_REPLAY_STEPS_IMPL_H
#define HF_REPLAY_STEPS_IMPL_H

#include "replay/history.h"
#include "replay/steps.h"

typedef enum steps_mode {
    STEPS_NEW, /* before WorkflowStarted */
    STEPS_READY,
    STEPS_PARKED,
    STEPS_JOINING, /* waits for its children */
    STEPS_CLOSED
} steps_mode;

typedef struct steps_signal {
    struct steps_signal *next;
    int64_t seq;
    char id[HF_ULID_TEXT_SIZE];
    char *name;
    hf_stored arguments;
    bool presented; /* the park at hand knows it already */
} steps_signal;

typedef struct steps_child {
    struct steps_child *next;
    int64_t step;
    char *id;
    char *type;
    const char *status;
    hf_stored result;
    char *failure_type;
    char *message;
    bool open;
} steps_child;

struct hf_steps {
    const hf_machine_def *machine;
    steps_mode mode;
    int64_t last; /* newest step number in use */
    int64_t entry;
    int64_t attempt;
    int64_t available_us;
    bool failed; /* the attempt before */
    char *name;  /* NULL: of the first step, whose name only its code knows */
    int64_t priority;
    char *concurrency_key; /* NULL: none, both */
    char *rate_limit;
    int64_t weight;
    hf_stored state;
    char **names; /* awaited: of the park, then of the step it led to */
    size_t name_count;
    int64_t park; /* step number of the park, 0: none */
    bool timer;   /* its timeout is armed */
    bool timed_out;
    steps_signal *inbox; /* oldest first */
    steps_signal **inbox_end;
    steps_child *children;
    steps_child **children_end;
    size_t children_open;
    size_t held;
};

/* Whether the park at hand, or the step it led to, waits for signals of this name. */
bool hf_steps_awaited(const hf_steps *steps, const char *name);

#endif
