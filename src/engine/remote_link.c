/* remote_link.c: how the threads of a program get tasks of a server and report on them. A few of
   them wait for tasks at the server; the others wait here, for what comes back with reports.
   Reports that are ready at the same time travel in one request, which one of their threads sends
   and which asks for as many tasks as there will be threads for them. So the cost of a request is
   shared where there is much to do, and nothing waits where there is little.

   It must never keep a task that no thread will take, and never send a report twice under two
   names. */
#include "engine/remote_link.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/value.h"
#include "engine/remote_impl.h"

enum {
    SENDERS_MAX = 2, /* exchanges under way: while they are, reports gather for the next */
    REPORTS_MAX = 64,
    POLLS_MAX =
        1, /* of a kind, that wait at the server: what comes meanwhile comes with the next */
    RETRY_MS = 50
};

/* A report from its coming to its answer, on the stack of its thread. */
typedef struct link_report {
    struct link_report *next;
    remote_hand *hand;
    hf_value said;
    hf_client_reply *reply;
    hf_err *err;
    hf_status status;
    bool done;
} link_report;

/* A task that came with an exchange. */
typedef struct link_task {
    struct link_task *next;
    hf_mem *mem;
    hf_value task;
    uint64_t asked_in; /* registration of the exchange */
} link_task;

/* What one kind of threads does. */
typedef struct link_kind {
    link_task *first; /* tasks that wait for a thread */
    link_task **last;
    int64_t queued;
    int64_t idle;  /* threads that wait for a task here */
    int64_t polls; /* that wait at the server */
    int64_t asked; /* tasks that exchanges under way may bring */
    hf_cond more;
} link_kind;

struct remote_link {
    hf_remote *remote; /* whose lock guards all of this */
    link_report *first;
    link_report **last;
    int senders;
    uint64_t
        asked_in[SENDERS_MAX]; /* registrations of exchanges that may bring attempts; 0: none */
    bool closed;
    link_kind kinds[REMOTE_KINDS];
};

static const char *const slots[REMOTE_KINDS] = {[REMOTE_WORKFLOWS] = "workflow_slots",
                                                [REMOTE_ACTIVITIES] = "activity_slots",
                                                [REMOTE_STEPS] = "step_slots"};

hf_status hf_remote_link_open(hf_remote *remote, remote_link **out_link, hf_err *err)
{
    remote_link *link = hf_alloc(sizeof(*link));
    hf_status st = link ? HF_OK : hf_err_nomem(err, "a handle");
    size_t made = 0;

    if (st)
        return st;
    link->remote = remote;
    link->last = &link->first;
    for (; !st && made < REMOTE_KINDS; made += !st) {
        link->kinds[made].last = &link->kinds[made].first;
        st = hf_cond_init(&link->kinds[made].more, err);
    }
    if (!st) {
        *out_link = link;
        return HF_OK;
    }
    while (made > 0)
        hf_cond_fini(&link->kinds[--made].more);
    hf_alloc_free(link);
    return st;
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
            hf_alloc_free(task);
        }
        hf_cond_fini(&link->kinds[i].more);
    }
    hf_alloc_free(link);
}

void hf_remote_link_stop(remote_link *link)
{
    link->closed = true;
    for (size_t i = 0; i < REMOTE_KINDS; i++)
        hf_cond_broadcast(&link->kinds[i].more);
}

int64_t hf_remote_link_attempts(const remote_link *link, uint64_t number)
{
    int64_t count = link->kinds[REMOTE_ACTIVITIES].queued;

    for (int i = 0; i < SENDERS_MAX; i++)
        count += link->asked_in[i] && link->asked_in[i] != number;
    return count;
}

/* ---- exchanges, with the lock held but while one is under way */

/* The tasks that there will be threads for: those that wait, and those whose reports are sent. */
static void slots_count(const remote_link *link, const link_report *batch, int64_t *out_slots)
{
    for (size_t i = 0; i < REMOTE_KINDS; i++) {
        const link_kind *kind = &link->kinds[i];

        out_slots[i] = link->closed ? 0 : kind->idle - kind->queued - kind->asked;
    }
    for (; batch && !link->closed; batch = batch->next)
        out_slots[batch->hand->kind]++;
    for (size_t i = 0; i < REMOTE_KINDS; i++)
        if (out_slots[i] < 0)
            out_slots[i] = 0;
}

static hf_value exchange_body(const remote_hand *hand, const link_report *batch,
                              const int64_t *wanted)
{
    const hf_remote *remote = hand->remote;
    hf_mem *mem = hand->link_mem;
    hf_value_list *reports = hf_value_array(mem);
    hf_value_list *free_slots = hf_value_object(mem);
    hf_value body;

    for (const link_report *report = batch; report; report = report->next)
        hf_value_append(reports, report->said);
    body = hf_json_(mem,
                    "{'worker_id': %s, 'exchange_id': %s, 'task_queue': %s, 'reports': %p, "
                    "'history_format': 'native', 'history_page_size': %d, 'sticky': true, "
                    "'task_kinds': ['workflow', 'query', 'update_validation']}",
                    remote->worker, hf_remote_name(hand->remote, mem), hf_remote_queue(remote),
                    (const void *)hf_value_finish(reports), REMOTE_PAGE_EVENTS);
    for (size_t i = 0; i < REMOTE_KINDS; i++)
        hf_value_set(free_slots, hf_slice_of(slots[i]), hf_value_int(mem, wanted[i]));
    return body ? hf_value_merge(mem, body, hf_value_finish(free_slots)) : NULL;
}

/* Asks; the answer lives in hand->link_mem. */
static hf_status exchange_ask(remote_hand *hand, const link_report *batch, const int64_t *wanted,
                              hf_client_reply *reply, hf_err *err)
{
    hf_client_request request = {.method = "POST", .path = "/api/worker/exchange"};
    hf_status st;

    hf_mem_reset(hand->link_mem);
    request.body = exchange_body(hand, batch, wanted);
    if (!request.body)
        return hf_err_nomem(err, "a report");
    st = HF_NOMEM;
    for (int i = 0; st == HF_NOMEM && i < REMOTE_MEMORY_TRIES; i++) /* under its name */
        st = hf_remote_ask_with(hand->report, &request, REMOTE_PATIENCE_MS, hand->link_mem, reply,
                                err);
    return st ? st : hf_client_outcome(reply, err);
}

static link_task *task_new(hf_value said)
{
    link_task *task = hf_alloc(sizeof(*task));

    if (task)
        task->mem = hf_mem_new_small();
    if (task && task->mem)
        task->task = hf_value_copy(task->mem, said);
    if (task && task->task)
        return task;
    if (task)
        hf_mem_free(task->mem);
    hf_alloc_free(task);
    return NULL;
}

static void task_put(remote_link *link, hf_value said, uint64_t asked_in)
{
    link_kind *kind = &link->kinds[hf_remote_kind_of(said)];
    link_task *task = NULL;

    for (int i = 0; !task && i < REMOTE_MEMORY_TRIES; i++)
        task = task_new(said);
    if (!task)
        return; /* its lease runs out */
    task->asked_in = asked_in;
    *kind->last = task;
    kind->last = &task->next;
    kind->queued++;
    hf_cond_signal(&kind->more);
}

/* What the exchange was answered with goes to those who wait for it. */
static void exchange_tell(link_report *batch, hf_status st, const hf_client_reply *reply,
                          const hf_err *err)
{
    hf_value answers = hf_get(reply->body, "reports");

    for (size_t i = 0; batch; i++) {
        link_report *report = batch;
        hf_value answer = st ? NULL : hf_at(answers, i);

        batch = report->next; /* the report is its thread's again below */
        report->reply->status = answer ? (int)hf_int(answer, "status", 500) : reply->status;
        report->reply->body = NULL;
        report->status = st;
        if (st)
            *report->err = *err;
        else if (report->reply->status != 200)
            report->reply->body = hf_value_copy(report->hand->mem, answer);
        report->done = true;
        hf_cond_signal(&report->hand->woken);
    }
}

/* Sends what is ready, in the name of one of those who wait. */
static void exchange_run(remote_link *link, remote_hand *hand)
{
    hf_remote *remote = link->remote;
    link_report *batch = link->first;
    link_report **end = &link->first;
    int64_t wanted[REMOTE_KINDS];
    uint64_t registration = remote->registrations;
    hf_client_reply reply = {0};
    hf_value tasks;
    hf_err err = {0};
    hf_status st;
    int at = 0;

    for (size_t i = 0; i < REPORTS_MAX && *end; i++)
        end = &(*end)->next;
    link->first = *end;
    *end = NULL;
    if (!link->first)
        link->last = &link->first;
    slots_count(link, batch, wanted);
    for (size_t i = 0; i < REMOTE_KINDS; i++)
        link->kinds[i].asked += wanted[i];
    while (link->asked_in[at])
        at++;
    link->asked_in[at] = wanted[REMOTE_ACTIVITIES] ? registration : 0;
    link->senders++;
    hf_mutex_unlock(&remote->lock);
    st = exchange_ask(hand, batch, wanted, &reply, &err);
    hf_mutex_lock(&remote->lock);
    link->senders--;
    link->asked_in[at] = 0;
    for (size_t i = 0; i < REMOTE_KINDS; i++)
        link->kinds[i].asked -= wanted[i];
    tasks = st ? NULL : hf_get(reply.body, "tasks");
    for (size_t i = 0; i < hf_len(tasks); i++)
        task_put(link, hf_at(tasks, i), registration);
    exchange_tell(batch, st, &reply, &err);
    if (link->first) /* they came meanwhile, and found nobody who could send them */
        hf_cond_signal(&link->first->hand->woken);
}

static hf_status report_send(remote_link *link, link_report *report)
{
    hf_mutex *lock = &link->remote->lock;

    hf_mutex_lock(lock);
    *link->last = report;
    link->last = &report->next;
    while (!report->done) {
        if (link->first && link->senders < SENDERS_MAX)
            exchange_run(link, report->hand);
        else
            hf_cond_wait(&report->hand->woken, lock);
    }
    hf_mutex_unlock(lock);
    return report->status;
}

hf_status hf_remote_tell(remote_hand *hand, hf_value said, hf_client_reply *out_reply, hf_err *err)
{
    hf_remote *remote = hand->remote;
    int64_t until_us = hf_clock_mono_us(hf_clock_system()) + REMOTE_PATIENCE_MS * INT64_C(1000);
    hf_status st = HF_NOMEM;
    bool again = said != NULL;
    int memory = 0;

    *out_reply = (hf_client_reply){0};
    if (!said)
        return hf_err_nomem(err, "a report");
    while (again) { /* it may be said twice */
        link_report report = {.hand = hand, .said = said, .reply = out_reply, .err = err};

        st = remote->local ? hf_remote_local_tell(hand, said, out_reply, err)
                           : report_send(remote->link, &report);
        again =
            (st == HF_NOMEM && ++memory < REMOTE_MEMORY_TRIES) ||
            (!st && hf_remote_busy(out_reply) && hf_clock_mono_us(hf_clock_system()) < until_us);
        if (again)
            hf_remote_pause(remote, RETRY_MS);
    }
    return st;
}

/* ---- tasks */

static hf_value task_pop(link_kind *kind, remote_hand *hand)
{
    link_task *task = kind->first;
    hf_value said = task->task;

    kind->first = task->next;
    if (!kind->first)
        kind->last = &kind->first;
    kind->queued--;
    hand->task_mem = task->mem;
    hf_mutex_lock(&hand->lock);
    hand->asked_in = task->asked_in;
    hf_mutex_unlock(&hand->lock);
    hf_alloc_free(task);
    return said;
}

/* Waits at the server, for all threads of the kind that have nothing to do. With the lock held, but
   for the wait itself. */
static void kind_poll(remote_link *link, link_kind *kind, remote_hand *hand)
{
    hf_remote *remote = link->remote;
    uint64_t registration = remote->registrations;
    int64_t most = kind->idle + 1 - kind->asked;
    hf_value tasks;

    if (most < 1)
        most = 1;
    kind->polls++;
    kind->asked += most - 1; /* one is for this thread */
    hf_mutex_unlock(&remote->lock);
    tasks = hf_remote_poll(hand, most);
    hf_mutex_lock(&remote->lock);
    kind->asked -= most - 1;
    for (size_t i = 0; i < hf_len(tasks); i++)
        task_put(link, hf_at(tasks, i), registration);
    kind->polls--;
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
    hf_mem_reset(hand->mem);
    hf_mutex_lock(&remote->lock);
    while (!kind->first && kind->polls >= POLLS_MAX && !hand->ask[0] && !link->closed) {
        kind->idle++;
        hf_cond_wait(&kind->more, &remote->lock);
        kind->idle--;
    }
    if ((!kind->first || hand->ask[0]) && !link->closed)
        kind_poll(link, kind, hand); /* also one that was not answered: tasks may wait for it */
    if (kind->first)
        said = task_pop(kind, hand);
    hf_cond_signal(&kind->more); /* another one takes the next, or waits at the server now */
    hf_mutex_unlock(&remote->lock);
    return said;
}
