/* test_chain.c: workflows that continue as new while they are asked how they are: whoever asks sees
   one run or the next, and the end of the last, over real HTTP on both databases. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/site.h"

enum { CHAINS = 4, LINKS = 250 };

/* A link of a chain: counts down, and ends with a value that no link before it has. */
static hf_value chain(hf_ctx *w, hf_value in)
{
    int64_t left = hf_int(in, "left", hf_int(in, "0.left", 0));

    if (left > 0)
        hf_continue_as_new(w, hf_json(w, "{'left': %lld}", (long long)left - 1));
    return hf_json(w, "{'end': true}");
}

static const hf_app app = {
    .name = "chains", .workflows = (const hf_workflow_def[]){{.type = "chain", .run = chain}, {0}}};

/* Whether the workflow is over; it is over with the last link, or not at all. */
static bool is_over(int i, const char *path, hf_site_answer answer)
{
    ck_assert_msg(answer.status == 200, "c-%d %s: %.600s", i, path, answer.text);
    ck_assert_msg(strcmp(hf_str(answer.body, "closed_reason", ""), "continued") != 0,
                  "c-%d: %.600s", i, answer.text);
    if (strcmp(hf_str(answer.body, "status", ""), "completed") != 0)
        return false;
    ck_assert_msg(hf_int(answer.body, "run_number", 0) == LINKS + 1 ||
                      hf_bool(answer.body, "result.end", false),
                  "c-%d %s: %.600s", i, path, answer.text);
    return true;
}

/* Describe, and the result with and without a wait, again and again while chains go on. */
HF_BOTH_ENGINES(n09_a_chain_ends_with_its_last_run)
{
    static const char *const asked[] = {"", "/result", "/result?wait_ms=20"};
    bool over[CHAINS] = {false};
    int waits[CHAINS];
    int left = CHAINS;
    hf_site site;
    char text[128];

    hf_site_open(&site, kind, &app, (hf_server_options){0});
    for (int i = 0; i < CHAINS; i++) {
        (void)snprintf(
            text, sizeof(text),
            "{\"workflow_type\":\"chain\",\"workflow_id\":\"c-%d\",\"input\":[{\"left\":%d}"
            "]}",
            i, LINKS);
        ck_assert_int_eq(hf_site_ask(&site, "POST", "/api/workflows", NULL, text).status, 201);
        (void)snprintf(text, sizeof(text), "/api/workflows/c-%d/result?wait_timeout_seconds=60", i);
        waits[i] = hf_site_send(&site, "GET", text, NULL);
    }
    while (left)
        for (int i = 0; i < CHAINS; i++)
            for (size_t k = 0; !over[i] && k < sizeof(asked) / sizeof(asked[0]); k++) {
                (void)snprintf(text, sizeof(text), "/api/workflows/c-%d%s", i, asked[k]);
                over[i] = is_over(i, text, hf_site_ask(&site, "GET", text, NULL, NULL));
                left -= over[i];
            }
    for (int i = 0; i < CHAINS; i++) {
        hf_wire_reply reply = {0};
        hf_site_answer answer = {0};

        ck_assert(hf_wire_read_reply(waits[i], &reply));
        answer =
            (hf_site_answer){.status = reply.status,
                             .text = hf_buf_text(&reply.body),
                             .body = hf_parse_(site.mem, hf_buf_text(&reply.body), reply.body.len)};
        ck_assert_msg(is_over(i, "waited for", answer), "%s", answer.text);
        hf_wire_reply_fini(&reply);
        (void)close(waits[i]);
    }
    hf_site_close(&site);
}

HF_PG_SUITE_MAIN("server/chain", HF_BOTH_SLOW(n09_a_chain_ends_with_its_last_run, 240))
