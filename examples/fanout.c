/* fanout.c: barriers, nested barriers, children, progress. */
#include <holdfast/holdfast.h>
#include <stdio.h>

enum { REGIONS_MAX = 64 };

static hf_value fetch(hf_act *a, hf_value in)
{
    return hf_json(a, "{'rows': %lld}", (long long)hf_int(in, "", 1) * 10);
}

static hf_value import_rows(hf_act *a, hf_value in)
{
    int64_t total = hf_int(in, "rows", 0);
    int64_t i = hf_int(hf_last_progress(a), "current", 0); /* a retry goes on, not over */

    for (; i < total; i += 10)
        if (!hf_heartbeat(a, .current = i, .total = total, .unit = "rows"))
            return hf_stopped(a);
    return hf_json(a, "{'imported': %lld}", (long long)total);
}

static hf_value mail(hf_act *a, hf_value in)
{
    (void)in;
    return hf_json(a, "'sent'");
}

static hf_value region(hf_ctx *w, hf_value in)
{
    hf_value got = hf_activity(w, "fetch", in);

    return hf_activity(w, "import", got, .heartbeat = hf_seconds(15),
                       .start_to_close = hf_hours(1));
}

static hf_value nightly(hf_ctx *w, hf_value in)
{
    size_t n = hf_len(hf_get(in, "regions"));
    hf_future f[REGIONS_MAX];
    hf_value regions, tail;

    if (n > REGIONS_MAX)
        hf_fail(w, "too_many", "at most 64 regions");
    for (size_t i = 0; i < n; i++) /* as many as the input says */
        f[i] = hf_spawn_child(w, "region", hf_at(hf_get(in, "regions"), i));
    regions = hf_join_all(w, f, n);

    tail = hf_all(w, /* a fixed shape, nested */
                  HF_ACTIVITY("mail", in, .summary = "finance"),
                  HF_ALL(HF_ACTIVITY("mail", in, .summary = "ops"),
                         HF_ACTIVITY("mail", in, .summary = "sales")));
    return hf_json(w, "{'regions': %p, 'mails': %p}", (void *)regions, (void *)tail);
}

static const hf_workflow_def workflows[] = {
    {"nightly", nightly, .params = "regions:array"},
    {"region", region, .params = "any"},
    {0},
};
static const hf_activity_def activities[] = {
    {hf_fn(fetch)},
    {.name = "import", .run = import_rows},
    {hf_fn(mail)},
    {0},
};

int main(void)
{
    const hf_app app = {.name = "nightly", .workflows = workflows, .activities = activities};
    hf_engine *d;
    hf_value out = NULL;
    const hf_error *e;

    remove("fan.db");
    if (!hf_open("fan.db", &app, &d))
        hf_start(d, "nightly", hf_json(d, "{'regions': [1, 2, 3]}"), .id = "night-1");
    if (hf_result(d, "night-1", hf_minutes(1), &out, &e) == HF_OK)
        printf("%s\n", hf_show(d, out));
    else
        fprintf(stderr, "%s\n", hf_errmsg(d));
    hf_close(d);
    return out == NULL;
}
