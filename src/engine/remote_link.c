/* remote_link.c: how the threads of a program get tasks of a server and report on them. Reports
   that are ready at the same time travel in one request, an exchange, which brings back as many
   tasks as the program can take by then; nobody waits for the answer to a report that has nothing
   to do with it. Only while no exchange is under way is there a poll for each kind of tasks, which
   waits at the server. So the cost of a request is shared where there is much to do, and nothing
   waits where there is little.

   Each task has a slot from its coming until its report is sent. It must never take more tasks than
   it has slots, and never send a report twice under two names. */
#include "engine/remote_link.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/value.h"
#include "engine/remote_impl.h"

enum {
    SENDERS = 2, /* exchanges under way: while they are, reports gather for the next */
    REPORTS_MAX = 64,
    QUIET_US = 20000, /* an exchange that takes longer is not what brings the next tasks */
    RETRY_US = 50000
};

/* A task that waits for a thread. */
typedef struct link_task {
    struct link_task *next;
    hf_mem *mem; /* this, and the task */
    hf_value task;
    hf_err fault; /* why its room could not do it */
    hf_status status;
} link_task;

/* What one kind of threads does. */
typedef struct link_kind {
    link_task *first;
    link_task **last;
    int64_t slots;
    int64_t held;  /* tasks with a slot */
    int64_t asked; /* tasks that requests under way may bring */
    int64_t idle;  /* threads that wait for a task */
    bool waking;   /* one of them was called, and has not come yet */
    hf_cond more;  /* for those */
    hf_cond free;  /* for the poller */
} link_kind;

typedef struct link_sender {
    remote_link *link;
    hf_thread thread;
    bool started;
    hf_client *client;
    hf_mem *mem;
} link_sender;

struct remote_link {
    hf_remote *remote; /* whose lock guards all of this, but for what the senders have */
    remote_report *first;
    remote_report **last;
    remote_report *later;           /* to be said again */
    size_t idle;                    /* senders that wait */
    bool waking;                    /* one of them was called */
    hf_cond more;                   /* for them */
    size_t exchanges;               /* under way */
    int64_t began_us;               /* the newest of them */
    uint64_t asked_in[SENDERS + 1]; /* registrations of exchanges that may bring attempts, and of
                                       the poll for them; 0: none */
    int64_t attempts;               /* tasks of activities that came and are not answered */
    bool closed;
    bool ending;
    link_kind kinds[REMOTE_KINDS];
    link_sender senders[SENDERS];
};

static const char *const slots[REMOTE_KINDS] = {[REMOTE_WORKFLOWS] = "workflow_slots",
                                                [REMOTE_ACTIVITIES] = "activity_slots",
                                                [REMOTE_STEPS] = "step_slots"};

static int64_t now_us(void)
{
    return hf_clock_mono_us(hf_clock_system());
}

/* ---- slots and who waits, with the lock held */

static int64_t slots_free(const remote_link *link, remote_kind kind)
{
    const link_kind *k = &link->kinds[kind];
    int64_t left = link->closed ? 0 : k->slots - k->held - k->asked;

    return left > 0 ? left : 0;
}

/* The tasks that come next come with an exchange. */
static bool exchange_near(const remote_link *link)
{
    return link->first || (link->exchanges > 0 && now_us() - link->began_us < QUIET_US);
}

static void pollers_call(remote_link *link)
{
    for (int i = 0; i < REMOTE_KINDS; i++)
        if (slots_free(link, (remote_kind)i) > 0)
            hf_cond_signal(&link->kinds[i].free);
}

static void slot_free(remote_link *link, remote_kind kind)
{
    link->kinds[kind].held--;
    if (!exchange_near(link))
        hf_cond_signal(&link->kinds[kind].free);
}

/* One at a time: who comes calls the next while there is more to do. */
static void kind_call(link_kind *kind)
{
    if (!kind->first || !kind->idle || kind->waking)
        return;
    kind->waking = true;
    hf_cond_signal(&kind->more);
}

static void senders_call(remote_link *link)
{
    if (!link->idle || link->waking)
        return;
    link->waking = true;
    hf_cond_signal(&link->more);
}

/* ---- tasks that came */

static void task_queue(link_kind *kind, link_task *task)
{
    task->next = NULL;
    *kind->last = task;
    kind->last = &task->next;
    kind_call(kind);
}

/* In an arena of its own. */
static link_task *task_new(hf_value said)
{
    hf_mem *mem = hf_mem_new_small();
    link_task *task = mem ? hf_mem_alloc(mem, sizeof(*task)) : NULL;

    if (task) {
        task->mem = mem;
        task->task = hf_value_copy(mem, said);
    }
    if (task && task->task)
        return task;
    hf_mem_free(mem);
    return NULL;
}

static void task_put(remote_link *link, hf_value said)
{
    remote_kind kind = hf_remote_kind_of(said);
    link_task *task = NULL;

    for (int i = 0; !task && i < REMOTE_MEMORY_TRIES; i++)
        task = task_new(said);
    if (!task)
        return; /* its lease runs out */
    link->kinds[kind].held++;
    link->attempts += kind == REMOTE_ACTIVITIES;
    if (kind != REMOTE_WORKFLOWS || !hf_remote_quick(link->remote, task->mem, task->task))
        task_queue(&link->kinds[kind], task);
}

void hf_remote_task_again(remote_link *link, hf_mem *mem, hf_value said, const hf_err *fault,
                          hf_status status, bool counted)
{
    hf_mutex *lock = &link->remote->lock;
    link_task *task = hf_mem_alloc(mem, sizeof(*task));

    hf_mutex_lock(lock);
    if (task) {
        *task = (link_task){.mem = mem, .task = said, .status = status};
        if (fault)
            task->fault = *fault;
        link->kinds[REMOTE_WORKFLOWS].held += !counted;
        task_queue(&link->kinds[REMOTE_WORKFLOWS], task);
    } else if (counted) { /* its lease runs out */
        slot_free(link, REMOTE_WORKFLOWS);
    }
    hf_mutex_unlock(lock);
    if (!task)
        hf_mem_free(mem);
}

/* ---- exchanges */

static hf_value exchange_body(hf_remote *remote, hf_mem *mem, const remote_report *batch,
                              const int64_t *wanted)
{
    hf_value_list *reports = hf_value_array(mem);
    hf_value_list *free_slots = hf_value_object(mem);
    hf_value body;

    for (const remote_report *report = batch; report; report = report->next)
        hf_value_append(reports, report->said);
    body = hf_json_(mem,
                    "{'worker_id': %s, 'exchange_id': %s, 'task_queue': %s, 'reports': %p, "
                    "'history_format': 'native', 'history_page_size': %d, 'sticky': true, "
                    "'task_kinds': ['workflow', 'query', 'update_validation']}",
                    remote->worker, hf_remote_name(remote, mem), hf_remote_queue(remote),
                    (const void *)hf_value_finish(reports), REMOTE_PAGE_EVENTS);
    for (size_t i = 0; i < REMOTE_KINDS; i++)
        hf_value_set(free_slots, hf_slice_of(slots[i]), hf_value_int(mem, wanted[i]));
    return body ? hf_value_merge(mem, body, hf_value_finish(free_slots)) : NULL;
}

/* Asks; the answer lives in sender->mem. */
static hf_status exchange_ask(link_sender *sender, const remote_report *batch,
                              const int64_t *wanted, hf_client_reply *reply, hf_err *err)
{
    hf_client_request request = {.method = "POST", .path = "/api/worker/exchange"};
    hf_status st = HF_NOMEM;

    hf_mem_reset(sender->mem);
    request.body = exchange_body(sender->link->remote, sender->mem, batch, wanted);
    if (!request.body)
        return hf_err_nomem(err, "a report");
    for (int i = 0; st == HF_NOMEM && i < REMOTE_MEMORY_TRIES; i++) /* under its name */
        st = hf_remote_ask_with(sender->client, &request, REMOTE_PATIENCE_MS, sender->mem, reply,
                                err);
    return st ? st : hf_client_outcome(reply, err);
}

/* What the exchange said of one report. True: it is to be said again. */
static bool report_end(remote_report *report, hf_status st, const hf_client_reply *reply,
                       hf_value answer, const hf_err *err)
{
    report->reply =
        (hf_client_reply){.status = answer ? (int)hf_int(answer, "status", 500) : reply->status};
    report->status = st;
    if (st)
        report->err = *err;
    else if (report->reply.status != 200)
        report->reply.body = hf_value_copy(report->mem, answer);
    return (st == HF_NOMEM && ++report->memory < REMOTE_MEMORY_TRIES) ||
           (!st && hf_remote_busy(&report->reply) && now_us() < report->until_us);
}

/* With the lock held: the reports that go now, the oldest first. Their slots are free. */
static remote_report *batch_take(remote_link *link)
{
    remote_report *batch = link->first;
    remote_report **end = &link->first;

    for (size_t i = 0; i < REPORTS_MAX && *end; i++) {
        if ((*end)->slot)
            link->kinds[(*end)->kind].held--;
        (*end)->slot = false;
        end = &(*end)->next;
    }
    link->first = *end;
    *end = NULL;
    if (!link->first)
        link->last = &link->first;
    return batch;
}

/* With the lock held: those that were answered, in a list; the others are said again. */
static remote_report *batch_end(remote_link *link, remote_report *batch, hf_status st,
                                const hf_client_reply *reply, const hf_err *err)
{
    hf_value answers = hf_get(reply->body, "reports");
    remote_report *ended = NULL;
    remote_report **last = &ended;
    remote_report *next;

    for (size_t i = 0; batch; batch = next, i++) {
        next = batch->next;
        batch->next = NULL;
        if (report_end(batch, st, reply, st ? NULL : hf_at(answers, i), err)) {
            batch->due_us = now_us() + RETRY_US;
            batch->next = link->later;
            link->later = batch;
            continue;
        }
        link->attempts -= batch->kind == REMOTE_ACTIVITIES;
        *last = batch;
        last = &batch->next;
    }
    return ended;
}

/* With the lock held, but while the request is under way. */
static void exchange_run(remote_link *link, link_sender *sender)
{
    hf_remote *remote = link->remote;
    uint64_t *asked_in = &link->asked_in[sender - link->senders];
    remote_report *batch = batch_take(link);
    int64_t wanted[REMOTE_KINDS];
    hf_client_reply reply = {0};
    remote_report *next;
    hf_value tasks;
    hf_err err = {0};
    hf_status st;

    for (int i = 0; i < REMOTE_KINDS; i++) {
        wanted[i] = slots_free(link, (remote_kind)i);
        link->kinds[i].asked += wanted[i];
    }
    *asked_in = wanted[REMOTE_ACTIVITIES] ? remote->registrations : 0;
    link->exchanges++;
    link->began_us = now_us();
    hf_mutex_unlock(&remote->lock);
    st = exchange_ask(sender, batch, wanted, &reply, &err);
    hf_mutex_lock(&remote->lock);
    batch = batch_end(link, batch, st, &reply, &err);
    hf_mutex_unlock(&remote->lock);
    for (; batch; batch = next) { /* before its run's next task */
        next = batch->next;
        batch->answered(batch);
    }
    hf_mutex_lock(&remote->lock);
    link->exchanges--;
    *asked_in = 0;
    for (int i = 0; i < REMOTE_KINDS; i++)
        link->kinds[i].asked -= wanted[i];
    tasks = st ? NULL : hf_get(reply.body, "tasks");
    for (size_t i = 0; i < hf_len(tasks); i++)
        task_put(link, hf_at(tasks, i));
    if (!exchange_near(link))
        pollers_call(link);
}

/* With the lock held: what is due to be said again is; INT64_MAX: nothing will be. */
static int64_t later_step(remote_link *link)
{
    remote_report **at = &link->later;
    int64_t next_us = INT64_MAX;

    while (*at) {
        remote_report *report = *at;

        if (report->due_us > now_us()) {
            next_us = report->due_us < next_us ? report->due_us : next_us;
            at = &report->next;
            continue;
        }
        *at = report->next;
        report->next = NULL;
        *link->last = report;
        link->last = &report->next;
    }
    return next_us;
}

static void sender_wait(remote_link *link, int64_t until_us)
{
    link->idle++;
    if (until_us == INT64_MAX)
        hf_cond_wait(&link->more, &link->remote->lock);
    else
        (void)!hf_cond_wait_until(&link->more, &link->remote->lock, until_us);
    link->idle--;
    link->waking = false;
}

static void sender_run(void *ctx)
{
    link_sender *sender = ctx;
    remote_link *link = sender->link;
    bool over = false;

    hf_mutex_lock(&link->remote->lock);
    while (!over) {
        int64_t next_us = later_step(link);

        if (link->first)
            exchange_run(link, sender);
        else if (link->ending && !link->later)
            over = true;
        else
            sender_wait(link, next_us);
    }
    hf_mutex_unlock(&link->remote->lock);
}

/* ---- reports */

void hf_remote_post(remote_link *link, remote_hand *hand, remote_report *report)
{
    hf_mutex *lock = &link->remote->lock;

    report->next = NULL;
    report->until_us = now_us() + REMOTE_PATIENCE_MS * INT64_C(1000);
    hf_mutex_lock(lock);
    if (hand) {
        report->slot = hand->slot;
        hand->slot = false;
    }
    *link->last = report;
    link->last = &report->next;
    senders_call(link);
    hf_mutex_unlock(lock);
}

static void told(remote_report *report)
{
    remote_hand *hand = report->ctx;
    hf_mutex *lock = &hand->remote->lock;

    hf_mutex_lock(lock);
    hand->told = true;
    hf_cond_signal(&hand->woken);
    hf_mutex_unlock(lock); /* the report may be gone by now */
}

hf_status hf_remote_tell(remote_hand *hand, hf_value said, hf_client_reply *out_reply, hf_err *err)
{
    hf_remote *remote = hand->remote;
    remote_report report = {
        .kind = hand->kind, .mem = hand->mem, .said = said, .answered = told, .ctx = hand};
    hf_status st = HF_NOMEM;

    *out_reply = (hf_client_reply){0};
    if (!said)
        return hf_err_nomem(err, "a report");
    if (remote->local) {
        for (int i = 0; st == HF_NOMEM && i < REMOTE_MEMORY_TRIES; i++) {
            if (i)
                hf_remote_pause(remote, REMOTE_MEMORY_MS);
            st = hf_remote_local_tell(hand, said, out_reply, err);
        }
        return st;
    }
    hand->told = false;
    hf_remote_post(remote->link, hand, &report);
    hf_mutex_lock(&remote->lock);
    while (!hand->told)
        hf_cond_wait(&hand->woken, &remote->lock);
    hf_mutex_unlock(&remote->lock);
    *out_reply = report.reply;
    *err = report.err;
    return report.status;
}

/* ---- tasks */

static hf_value task_pop(link_kind *kind, remote_hand *hand)
{
    link_task *task = kind->first;

    kind->first = task->next;
    if (!kind->first)
        kind->last = &kind->first;
    hand->task_mem = task->mem;
    hand->fault = task->status ? &task->fault : NULL;
    hand->fault_status = task->status;
    hand->slot = true;
    return task->task;
}

hf_value hf_remote_task(remote_hand *hand)
{
    hf_remote *remote = hand->remote;
    remote_link *link = remote->link;
    link_kind *kind = &link->kinds[hand->kind];
    hf_value said = NULL;

    if (remote->local)
        return hf_remote_local_poll(hand);
    hf_mem_free(hand->task_mem);
    hand->task_mem = NULL;
    hand->fault = NULL;
    hf_mem_reset(hand->mem);
    hf_mutex_lock(&remote->lock);
    if (hand->slot) { /* it was not reported */
        link->attempts -= hand->kind == REMOTE_ACTIVITIES;
        slot_free(link, hand->kind);
    }
    hand->slot = false;
    while (!kind->first && !link->closed) {
        kind->idle++;
        hf_cond_wait(&kind->more, &remote->lock);
        kind->idle--;
        kind->waking = false;
    }
    if (kind->first)
        said = task_pop(kind, hand);
    kind_call(kind);
    hf_mutex_unlock(&remote->lock);
    return said;
}

/* With the lock held: until there are free slots, and no exchange that fills them. */
static int64_t slots_await(remote_link *link, remote_kind kind)
{
    link_kind *k = &link->kinds[kind];

    while (!link->closed && (slots_free(link, kind) == 0 || exchange_near(link))) {
        if (slots_free(link, kind) == 0)
            hf_cond_wait(&k->free, &link->remote->lock);
        else
            (void)!hf_cond_wait_until(&k->free, &link->remote->lock, now_us() + QUIET_US);
    }
    return slots_free(link, kind);
}

void hf_remote_poller(void *ctx)
{
    remote_hand *hand = ctx;
    hf_remote *remote = hand->remote;
    remote_link *link = remote->link;
    link_kind *kind = &link->kinds[hand->kind];

    while (hf_remote_ready(remote)) {
        int64_t most;
        hf_value tasks;

        hf_mem_reset(hand->mem);
        hf_mutex_lock(&remote->lock);
        most = slots_await(link, hand->kind);
        kind->asked += most;
        if (hand->kind == REMOTE_ACTIVITIES && most > 0)
            link->asked_in[SENDERS] = remote->registrations;
        hf_mutex_unlock(&remote->lock);
        tasks = most > 0 ? hf_remote_poll(hand, most) : NULL;
        hf_mutex_lock(&remote->lock);
        kind->asked -= most;
        for (size_t i = 0; i < hf_len(tasks); i++)
            task_put(link, hf_at(tasks, i));
        if (hand->kind == REMOTE_ACTIVITIES && !hand->ask[0])
            link->asked_in[SENDERS] = 0;
        hf_mutex_unlock(&remote->lock);
    }
}

int64_t hf_remote_link_attempts(const remote_link *link, uint64_t number)
{
    int64_t count = link->attempts;

    for (size_t i = 0; i < SENDERS + 1; i++)
        count += link->asked_in[i] && link->asked_in[i] != number;
    return count;
}

/* ---- opening and closing */

hf_status hf_remote_link_open(hf_remote *remote, remote_link **out_link, hf_err *err)
{
    remote_link *link = hf_alloc(sizeof(*link));
    hf_cond *made[1 + 2 * REMOTE_KINDS];
    hf_status st = link ? HF_OK : hf_err_nomem(err, "a handle");
    size_t count = 0;

    if (st)
        return st;
    link->remote = remote;
    link->last = &link->first;
    made[0] = &link->more;
    for (size_t i = 0; i < REMOTE_KINDS; i++) {
        link->kinds[i].last = &link->kinds[i].first;
        made[1 + 2 * i] = &link->kinds[i].more;
        made[2 + 2 * i] = &link->kinds[i].free;
    }
    for (; !st && count < sizeof(made) / sizeof(made[0]); count += !st)
        st = hf_cond_init(made[count], err);
    if (!st) {
        *out_link = link;
        return HF_OK;
    }
    while (count > 0)
        hf_cond_fini(made[--count]);
    hf_alloc_free(link);
    return st;
}

hf_status hf_remote_link_start(remote_link *link, const int64_t counts[REMOTE_KINDS], hf_err *err)
{
    hf_status st = HF_OK;

    for (size_t i = 0; i < REMOTE_KINDS; i++)
        link->kinds[i].slots = counts[i];
    for (size_t i = 0; !st && i < SENDERS; i++) {
        link_sender *sender = &link->senders[i];

        sender->link = link;
        sender->mem = hf_mem_new();
        st = sender->mem ? hf_client_open(&link->remote->address, &sender->client, err)
                         : hf_err_nomem(err, "a worker");
        if (!st)
            st = hf_thread_start(&sender->thread, "hf-sender", sender_run, sender, err);
        sender->started = !st;
    }
    return st;
}

void hf_remote_link_stop(remote_link *link)
{
    link->closed = true;
    for (size_t i = 0; i < REMOTE_KINDS; i++) {
        hf_cond_broadcast(&link->kinds[i].more);
        hf_cond_broadcast(&link->kinds[i].free);
    }
}

void hf_remote_link_end(remote_link *link)
{
    hf_mutex_lock(&link->remote->lock);
    link->ending = true;
    hf_cond_broadcast(&link->more);
    hf_mutex_unlock(&link->remote->lock);
    for (size_t i = 0; i < SENDERS; i++) {
        if (link->senders[i].started)
            hf_thread_join(&link->senders[i].thread);
        hf_client_close(link->senders[i].client); /* NULL is allowed */
        hf_mem_free(link->senders[i].mem);
        link->senders[i] = (link_sender){0};
    }
}

void hf_remote_link_close(remote_link *link)
{
    if (!link)
        return;
    for (size_t i = 0; i < REMOTE_KINDS; i++) {
        while (link->kinds[i].first) {
            link_task *task = link->kinds[i].first;

            link->kinds[i].first = task->next;
            hf_mem_free(task->mem);
        }
        hf_cond_fini(&link->kinds[i].more);
        hf_cond_fini(&link->kinds[i].free);
    }
    hf_cond_fini(&link->more);
    hf_alloc_free(link);
}
