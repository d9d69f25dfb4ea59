/* handlers.c: see handlers.h. */
#include "lib/handlers.h"

hf_value hf_echo(hf_act *a, hf_value in)
{
    (void)a;
    return in;
}

hf_value hf_wait_go(hf_ctx *w, hf_value in)
{
    (void)in;
    return hf_receive(w, "go");
}

hf_value hf_end_now(hf_ctx *w, hf_value in)
{
    (void)w;
    return in;
}

hf_value hf_call_echo(hf_ctx *w, hf_value in)
{
    return hf_activity(w, "echo", in);
}

hf_value hf_count_down(hf_ctx *w, hf_value in)
{
    int64_t n = hf_int(in, "n", 0);

    hf_activity(w, "echo", in);
    if (n > 0)
        hf_continue_as_new(w, hf_json(w, "{'n': %lld}", (long long)n - 1));
    return hf_json(w, "'liftoff'");
}

hf_value hf_update_echo(hf_ctx *w, void *state, hf_value args)
{
    (void)state;
    return hf_json(w, "%p", (const void *)args);
}

hf_value hf_query_open(hf_mem *mem, const void *state, hf_value args)
{
    (void)state;
    (void)args;
    return hf_json_(mem, "'open'");
}
