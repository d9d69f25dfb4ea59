/* approval.c: a person decides, with a deadline; operators can look and steer. */
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    bool ready;
    int64_t limit;
    char approver[64];
} approval;

static bool is_ready(const void *s)
{
    return ((const approval *)s)->ready;
}

static hf_value set_ready(hf_ctx *w, void *s, hf_value args)
{
    approval *a = s;

    a->ready = hf_bool(args, "ready", true);
    return hf_json(w, "{'ready': %d}", a->ready);
}

static const char *check_ready(const void *s, hf_value args)
{
    (void)args;
    return ((const approval *)s)->ready ? "already decided" : NULL;
}

static hf_value status(hf_mem *m, const void *s, hf_value args)
{
    const approval *a = s;

    (void)args;
    return hf_json(m, "{'ready': %d, 'limit': %lld, 'approver': %s}", a->ready, (long long)a->limit,
                   a->approver);
}

static hf_value notify(hf_act *a, hf_value in)
{
    printf("notify %s\n", hf_str(in, "", "?"));
    fflush(stdout);
    return hf_json(a, "true");
}

static hf_value run(hf_ctx *w, hf_value in)
{
    approval *a = hf_state(w);
    hf_value who;

    a->limit = hf_int(in, "limit", 100);
    hf_activity(w, "notify", hf_get(in, "manager"));
    if (!hf_wait(w, "documents.complete", is_ready, .timeout = hf_days(2)))
        hf_fail(w, "documents_missing", "nothing was uploaded within two days");

    who = hf_receive(w, "approved-by", .timeout = hf_hours(8));
    if (!who) { /* the deadline won */
        hf_activity(w, "notify", hf_get(in, "director"));
        who = hf_receive(w, "approved-by"); /* now wait for ever */
    }
    snprintf(a->approver, sizeof a->approver, "%s", hf_str(who, "approver", "?"));
    hf_label(w, "approver", a->approver);
    return hf_json(w, "{'approved': true, 'by': %s}", a->approver);
}

static const hf_workflow_def workflows[] = {
    {"approval", run, sizeof(approval), .params = "manager:string, director:string, limit:int=100",
     .signals = (const hf_signal_def[]){{"approved-by", "approver:string, note:string?"}, {0}},
     .updates =
         (const hf_update_def[]){{"documents", "ready:bool=true", set_ready, check_ready}, {0}},
     .queries = (const hf_query_def[]){{"status", "", status}, {0}}},
    {0},
};
static const hf_activity_def activities[] = {{hf_fn(notify)}, {0}};
const hf_app approval_app = {.name = "approvals", .workflows = workflows, .activities = activities};

#ifndef APPROVAL_NO_MAIN
int main(int argc, char **argv) /* ./approval [worker] [--store ADDRESS] */
{
    return hf_main(argc, argv, &approval_app);
}
#endif
