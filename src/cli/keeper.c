/* keeper.c: see keeper.h. */
#include "cli/keeper.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "cli/target.h"
#include "client/client.h"
#include "server/child.h"

enum { LINE_BYTES = 600, ID_BYTES = 64, RELEASE_MS = 2000 };

struct hf_keeper {
    hf_child *child;
    hf_client *client; /* NULL: the worker opens a store itself */
    hf_mem *mem;
    const hf_log *log;
    char id[ID_BYTES];
    char url_line[LINE_BYTES];
    char token_line[LINE_BYTES];
    char id_line[ID_BYTES + 16];
};

/* The server may give to others what this worker held. */
static void worker_release(hf_keeper *keeper)
{
    hf_client_request request = {.method = "DELETE", .timeout_ms = RELEASE_MS};
    hf_client_reply reply;

    if (!keeper->client)
        return;
    hf_mem_reset(keeper->mem);
    request.path = hf_client_path(keeper->mem, "/api/worker/registrations/%s", keeper->id);
    if (request.path) /* one that never registered, and a server that is away, are no harm */
        (void)!hf_client_ask(keeper->client, &request, keeper->mem, &reply, NULL);
}

static hf_status keeper_open(hf_keeper *keeper, char *const *argv, const char *url,
                             const char *token, hf_err *err)
{
    const hf_client_options options = {.url = url, .token = token};
    const char *environment[] = {keeper->url_line, keeper->id_line,
                                 token ? keeper->token_line : NULL, NULL};
    hf_rng rng;
    hf_status st = hf_rng_init_system(&rng, err);

    if (st)
        return st;
    (void)snprintf(keeper->id, sizeof(keeper->id), "kept-%ld-%08" PRIx64, (long)getpid(),
                   hf_rng_next(&rng) & UINT32_MAX);
    (void)snprintf(keeper->url_line, sizeof(keeper->url_line), "HF_URL=%s", url);
    (void)snprintf(keeper->token_line, sizeof(keeper->token_line), "HF_TOKEN=%s",
                   token ? token : "");
    (void)snprintf(keeper->id_line, sizeof(keeper->id_line), "HF_WORKER_ID=%s", keeper->id);
    keeper->mem = hf_mem_new();
    if (!keeper->mem)
        return hf_err_nomem(err, "a worker");
    if (hf_cli_address_remote(url))
        st = hf_client_open(&options, &keeper->client, err);
    return st ? st : hf_child_start(argv, environment, &keeper->child, err);
}

hf_status hf_keeper_start(char *const *argv, const char *url, const char *token, const hf_log *log,
                          hf_keeper **out_keeper, hf_err *err)
{
    hf_keeper *keeper = hf_alloc(sizeof(*keeper));
    hf_status st;

    if (!keeper)
        return hf_err_nomem(err, "a worker");
    keeper->log = log;
    st = keeper_open(keeper, argv, url, token, err);
    if (st) {
        hf_keeper_stop(keeper, 0);
        return st;
    }
    *out_keeper = keeper;
    return HF_OK;
}

void hf_keeper_look(hf_keeper *keeper)
{
    int ended;
    int64_t starts = hf_child_look(keeper->child, &ended);
    const hf_log_field fields[] = {hf_log_int("status", ended), hf_log_int("starts", starts)};

    if (ended < 0)
        return;
    hf_log_write(keeper->log, HF_LOG_WARN, "worker.ended", fields, 2);
    worker_release(keeper);
}

void hf_keeper_stop(hf_keeper *keeper, int64_t grace_ms)
{
    if (!keeper)
        return;
    hf_child_stop(keeper->child, grace_ms);
    hf_client_close(keeper->client);
    hf_mem_free(keeper->mem);
    hf_alloc_free(keeper);
}
