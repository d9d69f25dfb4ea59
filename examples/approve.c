/* approve.c: the other side of approval.c: asks for an approval, looks at it, gives it.
   ./approve ask | look | give. A SQLite store has one owner, so approval's worker rests meanwhile;
   with PostgreSQL both work at once. */
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <string.h>

extern const hf_app approval_app;

static hf_status ask(hf_engine *d, hf_value *out)
{
    *out = hf_json(d, "'asked'");
    return hf_start(d, "approval", hf_json(d, "{'manager': 'Grace', 'director': 'Edsger'}"),
                    .id = "trip-1");
}

static hf_status give(hf_engine *d, hf_value *out)
{
    const hf_error *e;
    hf_status s = hf_update(d, "trip-1", "documents", NULL, hf_seconds(10), out);

    if (!s)
        s = hf_signal(d, "trip-1", "approved-by", hf_json(d, "{'approver': 'Grace'}"));
    return s ? s : hf_result(d, "trip-1", hf_seconds(10), out, &e);
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "look";
    hf_engine *d;
    hf_value out = NULL;
    hf_status s = hf_open("approvals.db", &approval_app, &d);

    if (!s && !strcmp(verb, "ask"))
        s = ask(d, &out);
    else if (!s && !strcmp(verb, "give"))
        s = give(d, &out);
    else if (!s)
        s = hf_query(d, "trip-1", "status", NULL, &out);
    if (s)
        fprintf(stderr, "%s: %s\n", hf_strstatus(s), hf_errmsg(d));
    else
        printf("%s\n", hf_show(d, out));
    hf_close(d);
    return s != HF_OK;
}
