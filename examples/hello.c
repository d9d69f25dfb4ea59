/* hello.c: a whole program: one workflow, one activity, one result. */
#include <holdfast/holdfast.h>
#include <stdio.h>

static hf_value greet(hf_act *a, hf_value in)
{
    return hf_json(a, "'hello, %s'", hf_str(in, "name", "nobody"));
}

static hf_value hello(hf_ctx *w, hf_value in)
{
    hf_sleep(w, 100); /* kill the program here: the next start goes on after it */
    return hf_activity(w, "greet", in, .max_attempts = 5);
}

int main(void)
{
    const hf_activity_def activities[] = {{hf_fn(greet)}, {0}};
    const hf_workflow_def workflows[] = {{"hello", hello, .params = "name:string"}, {0}};
    const hf_app app = {.name = "hello", .workflows = workflows, .activities = activities};
    hf_engine *d;
    hf_value out = NULL;

    if (!hf_open("hello.db", &app, &d))
        hf_start(d, "hello", hf_json(d, "{'name': 'Ada'}"), .id = "hello-1",
                 .duplicate = HF_DUP_RETURN_EXISTING);
    if (!hf_result(d, "hello-1", hf_seconds(10), &out, NULL))
        printf("%s\n", hf_show(d, out));
    else
        fprintf(stderr, "%s\n", hf_errmsg(d));
    hf_close(d);
    return out == NULL;
}
