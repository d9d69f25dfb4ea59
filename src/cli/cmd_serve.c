/* cmd_serve.c: the verbs serve and dev: an engine, a server in front of it, and for dev a worker
   program beside it, until a signal comes. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/builder.h"
#include "cli/keeper.h"
#include "cli/nearest.h"
#include "cli/sandbox.h"
#include "cli/stop.h"
#include "cli/verbs.h"
#include "holdfast/host.h"
#include "server/notify.h"
#include "server/registry.h"
#include "holdfast/worker.h"
#include "server/server.h"

enum {
    LOOK_MS = 500,
    CHILD_LOOK_MS = 100,
    REFRESH_MS = 5000,
    DRAIN_MS = 30000,
    CHILD_MS = 10000,
    TEXT_BYTES = 512
};

#define LISTEN_DEFAULT "127.0.0.1:7430"

/* The server needs no workflows of its own: they are in worker processes. */
static const hf_app serve_app = {.name = "holdfast"};

typedef struct serve_job {
    hf_cli_call *call;
    hf_engine *engine;
    hf_server *server;
    hf_keeper *keeper;
    hf_token token; /* the first one, when it was just made */
    hf_log log;
    char url[TEXT_BYTES];
    char **child_argv;                 /* NULL: no worker */
    hf_builder *builder;               /* of a worker that is a C file; NULL: it is a program */
    bool dev;                          /* it is for one person, who gets a link to the console */
    bool near;                         /* the address is in the folder of dev */
    char link[HF_SESSION_SECRET_SIZE]; /* that logs that person in; "": there is none */
    hf_status barred;                  /* why the store takes no changes, when that has been said */
} serve_job;

/* Their secret comes from the environment: flags are seen by everybody on the machine. */
static hf_status webhooks_read(const char *mode, const hf_app *app, hf_webhook_options *out,
                               hf_err *err)
{
    *out = (hf_webhook_options){.secret = getenv("HF_WEBHOOK_SECRET"),
                                .header = getenv("HF_WEBHOOK_HEADER"),
                                .namespaces = getenv("HF_WEBHOOK_NAMESPACES"),
                                .check = app ? app->webhook : NULL,
                                .arg = app ? app->webhook_arg : NULL};
    if (mode && !hf_webhook_mode_parse(hf_slice_of(mode), &out->mode))
        return hf_err_set(err, HF_INVALID, "--webhooks is none, token, signature, bound or custom");
    return HF_OK;
}

/* How much a namespace may ask for and have. */
static hf_status bounds_read(const char *const *flags, hf_server_options *out, hf_err *err)
{
    int64_t polls = 0;
    const struct {
        hf_cli_flag_id flag;
        const char *name;
        int64_t most;
        int64_t *to;
    } bounds[] = {
        {HF_CLI_FLAG_NAMESPACE_RATE, "rate", 1000000, &out->admission.rate},
        {HF_CLI_FLAG_NAMESPACE_POLLS, "polls", 1000000, &polls},
        {HF_CLI_FLAG_NAMESPACE_RUNS, "runs", 1000000000, &out->runs_max},
        {HF_CLI_FLAG_NAMESPACE_BYTES, "bytes", INT64_C(1) << 60, &out->bytes_max},
    };

    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        const char *text = flags[bounds[i].flag];

        if (text && (!hf_slice_int(hf_slice_of(text), bounds[i].to) || *bounds[i].to < 1 ||
                     *bounds[i].to > bounds[i].most))
            return hf_err_set(err, HF_INVALID, "--namespace-%s is a number from 1 to %lld",
                              bounds[i].name, (long long)bounds[i].most);
    }
    out->admission.polls = (size_t)polls;
    return HF_OK;
}

static const char *store_kind(const char *address)
{
    return address && strncmp(address, "postgres", 8) == 0 ? "postgres" : "sqlite";
}

/* NAME or NAME:COLOUR, for the badge of the console. */
static hf_status environment_read(const char *text, hf_mem *mem, hf_server_options *out,
                                  hf_err *err)
{
    static const char *const colors[] = {"grey", "green", "blue", "amber", "red", "violet"};
    hf_slice rest = hf_slice_of(text);
    hf_slice name;

    if (!text)
        return HF_OK;
    (void)hf_slice_split(&rest, ':', &name);
    out->environment = hf_mem_text(mem, name);
    if (!out->environment)
        return hf_err_nomem(err, "the name of the environment");
    for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++)
        if (hf_slice_equal(rest.ptr ? rest : HF_SLICE("grey"), hf_slice_of(colors[i])))
            out->environment_color = colors[i];
    if (out->environment_color && name.len && name.len <= 40)
        return HF_OK;
    return hf_err_set(err, HF_INVALID,
                      "--environment is NAME or NAME:COLOUR; the name has 1 to 40 bytes and the "
                      "colours are grey, green, blue, amber, red and violet");
}

static hf_status options_read(const serve_job *job, hf_server_options *out, hf_err *err)
{
    static const char *const keys[HF_ROLES] = {[HF_ROLE_READ] = "HF_SIGNATURE_KEY_READ",
                                               [HF_ROLE_OPERATOR] = "HF_SIGNATURE_KEY_OPERATOR",
                                               [HF_ROLE_WORKER] = "HF_SIGNATURE_KEY_WORKER",
                                               [HF_ROLE_ADMIN] = "HF_SIGNATURE_KEY_ADMIN"};
    const char *const *flags = job->call->flags;
    const char *sure = getenv("HF_INSECURE");
    hf_status st;

    *out = (hf_server_options){.engine = job->engine,
                               .listen = flags[HF_CLI_FLAG_LISTEN],
                               .auth = {.driver = HF_AUTH_TOKEN},
                               .hosts = flags[HF_CLI_FLAG_ALLOW_HOST],
                               .storage = flags[HF_CLI_FLAG_STORAGE],
                               .tls_certificate = flags[HF_CLI_FLAG_TLS_CERT],
                               .tls_key = flags[HF_CLI_FLAG_TLS_KEY],
                               .tls_client_ca = flags[HF_CLI_FLAG_TLS_CLIENT_CA],
                               .tls_client_roles = flags[HF_CLI_FLAG_TLS_CLIENT_ROLES],
                               .store = store_kind(job->call->store),
                               .behind_proxy = flags[HF_CLI_FLAG_BEHIND_PROXY] != NULL,
                               .log = &job->log};
    if (!out->listen)
        out->listen = LISTEN_DEFAULT;
    if (flags[HF_CLI_FLAG_AUTH] &&
        !hf_auth_driver_parse(hf_slice_of(flags[HF_CLI_FLAG_AUTH]), &out->auth.driver))
        return hf_err_set(err, HF_INVALID, "--auth is none, token or signature");
    if (!out->tls_certificate != !out->tls_key)
        return hf_err_set(err, HF_INVALID, "--tls-cert and --tls-key belong together");
    if (flags[HF_CLI_FLAG_INSECURE] && (!sure || strcmp(sure, "yes") != 0))
        return hf_err_set(
            err, HF_DENIED,
            "--insecure-no-auth lets everybody do everything; if that is what you want, "
            "set HF_INSECURE=yes as well");
    st = bounds_read(flags, out, err);
    if (st)
        return st;
    out->insecure = flags[HF_CLI_FLAG_INSECURE] != NULL;
    for (int role = 0; role < HF_ROLES; role++)
        out->auth.keys[role] = getenv(keys[role]);
    st = environment_read(flags[HF_CLI_FLAG_ENVIRONMENT], job->call->mem, out, err);
    if (st)
        return st;
    return webhooks_read(flags[HF_CLI_FLAG_WEBHOOKS], job->call->app, &out->webhook, err);
}

/* Where it can be reached. */
static void url_make(serve_job *job, const hf_server_options *options)
{
    const char *colon = strrchr(options->listen, ':');
    int host = colon ? (int)(colon - options->listen) : 0;

    if (strncmp(options->listen, "unix:", 5) == 0)
        (void)snprintf(job->url, sizeof(job->url), "%s", options->listen);
    else
        (void)snprintf(job->url, sizeof(job->url), "%s://%.*s:%d",
                       options->tls_certificate ? "https" : "http", host, options->listen,
                       hf_server_port(job->server));
}

static hf_status job_print(const serve_job *job, hf_err *err)
{
    hf_cli_print *print = &job->call->print;

    const char *console = job->link[0] ? hf_mem_format(job->call->mem, "%s/console/login?link=%s",
                                                       job->url, job->link)
                                       : NULL;

    if (print->format == HF_CLI_JSON)
        return hf_cli_print_value(
            print->out,
            hf_json_(job->call->mem, "{'url': %s, 'store': %s, 'token': %s, 'console': %s}",
                     job->url, job->call->shown_store,
                     job->token.secret[0] ? job->token.secret : NULL, console),
            err);
    if (print->format == HF_CLI_TABLE) {
        (void)fprintf(print->out, "serving ");
        hf_cli_print_text(print->out, job->call->shown_store);
        (void)fprintf(print->out, " at %s\n", job->url);
        if (job->child_argv) {
            (void)fputs("worker: ", print->out);
            hf_cli_print_text(print->out, job->child_argv[0]);
            (void)fputs(", started again whenever it ends\n", print->out);
        }
        if (job->near)
            (void)fputs("verbs in this folder find it: holdfast ls\n", print->out);
        if (console)
            (void)fprintf(print->out, "console, one login within ten minutes: %s\n", console);
        if (job->token.secret[0] && !job->near)
            (void)fprintf(print->out,
                          "admin token, shown only now: %s\n"
                          "try: curl -H 'Authorization: Bearer %s' %s/api/cluster/info\n",
                          job->token.secret, job->token.secret, job->url);
    }
    return HF_OK;
}

/* A credential that is good for a day, for this process's own purposes. */
static hf_status token_make(serve_job *job, const char *role, const char *label, hf_token *out,
                            hf_err *err)
{
    hf_token_opts options = {
        .size_ = sizeof(options), .role = role, .label = label, .lifespan = hf_days(1)};
    hf_status st = hf_token_create_with(job->engine, &options, out);

    if (st)
        return hf_err_set(err, st, "%s", hf_errmsg(job->engine));
    return hf_server_refresh(job->server, err);
}

/* Whoever started dev sees the console without a token. */
static hf_status console_begin(serve_job *job, const hf_server_options *options, hf_err *err)
{
    hf_token token;
    hf_status st;

    if (!job->dev || options->auth.driver != HF_AUTH_TOKEN)
        return HF_OK;
    st = token_make(job, "admin", "console of holdfast dev", &token, err);
    return st ? st : hf_server_login_link(job->server, token.id, job->link, err);
}

static hf_status server_begin(serve_job *job, hf_err *err)
{
    hf_server_options options;
    hf_status st = options_read(job, &options, err);

    if (!st)
        st = hf_server_open(&options, &job->server, err);
    if (st == HF_BUSY)
        job->call->next = "holdfast {verb} --listen 127.0.0.1:0"; /* any port that is free */
    if (!st)
        st = hf_server_first_token(job->server, &job->token, err);
    if (!st)
        st = console_begin(job, &options, err);
    if (!st)
        st = hf_server_start(job->server, err);
    if (!st) {
        url_make(job, &options);
        st = job_print(job, err);
    }
    return st ? st : hf_cli_print_flush(&job->call->print, err);
}

/* The worker gets a credential of its own; the one before ends with this process's end at the
   latest, because it is good for a day. */
static hf_status child_begin(serve_job *job, hf_err *err)
{
    hf_token token;
    hf_status st;

    if (!job->child_argv)
        return HF_OK;
    st = token_make(job, "worker", "worker of holdfast dev", &token, err);
    return st ? st
              : hf_keeper_start(job->child_argv, job->url, token.secret, &job->log, &job->keeper,
                                err);
}

/* Verbs in this folder find the server, and may do what operators may. */
static hf_status near_begin(serve_job *job, hf_err *err)
{
    hf_token token;
    hf_status st;

    if (!job->near)
        return HF_OK;
    st = token_make(job, "operator", "verbs beside holdfast dev", &token, err);
    return st ? st
              : hf_cli_nearest_write(
                    job->url, token.secret,
                    job->call->flags[HF_CLI_FLAG_TLS_CERT] ? getenv("HF_CA_FILE") : NULL, err);
}

/* A file that has changed becomes the worker, if it can be compiled. */
static hf_status child_renew(serve_job *job, hf_err *err)
{
    hf_err why = {0};
    hf_status st;

    if (!job->builder || !hf_builder_changed(job->builder))
        return HF_OK;
    st = hf_builder_build(job->builder, &why);
    if (st) {
        hf_cli_print_text(job->call->print.err, why.text);
        (void)fputs("; the worker is the one before\n", job->call->print.err);
        return HF_OK;
    }
    hf_keeper_stop(job->keeper, CHILD_MS);
    job->keeper = NULL;
    return child_begin(job, err);
}

/* That the store takes no changes is told once, and that it does again. */
static void barred_tell(serve_job *job, hf_status st)
{
    const hf_log_field why = hf_log_text("error", hf_slice_of(st ? hf_errmsg(job->engine) : ""));

    if (st == job->barred)
        return;
    job->barred = st;
    if (st)
        hf_log_write(&job->log, HF_LOG_ERROR, st == HF_FULL ? "store.full" : "store.read_only",
                     &why, 1);
    else
        hf_log_write(&job->log, HF_LOG_INFO, "store.writable", NULL, 0);
}

/* An engine that cannot write any more ends the service with a failure, so that somebody looks. The
   service manager hears as long as the loop comes round and this thread does. */
static hf_status job_look(serve_job *job, bool watched, hf_err *err)
{
    hf_status st = hf_working(job->engine);

    if (st == HF_STOPPED)
        return hf_err_set(err, st, "%s", hf_errmsg(job->engine));
    barred_tell(job, st == HF_FULL || st == HF_READONLY ? st : HF_OK);
    hf_server_review(job->server);
    if (watched && hf_server_pulse(job->server))
        hf_notify("WATCHDOG=1");
    if (job->keeper)
        hf_keeper_look(job->keeper);
    return child_renew(job, err);
}

/* Until a signal comes, or the store can no longer be read or written. */
static hf_status job_watch(serve_job *job, hf_err *err)
{
    int64_t look_ms = job->keeper ? CHILD_LOOK_MS : LOOK_MS;
    int64_t watchdog_ms = hf_notify_watchdog_ms();
    int64_t since_ms = 0;
    hf_status st = HF_OK;

    if (watchdog_ms && watchdog_ms / 3 < look_ms)
        look_ms = watchdog_ms / 3 + 1;
    hf_notify("READY=1");
    while (!st && !hf_cli_stop_wait(look_ms)) {
        st = job_look(job, watchdog_ms > 0, err);
        if (st)
            break;
        since_ms += look_ms;
        if (since_ms < REFRESH_MS)
            continue;
        since_ms = 0;
        st = hf_server_refresh(job->server, err);
        if (st == HF_BUSY || st == HF_UNREACHABLE || st == HF_NOMEM)
            st = HF_OK; /* the next time may be better */
    }
    hf_notify("STOPPING=1");
    return st;
}

/* The settings of --set, before work begins. */
static hf_status engine_set(const serve_job *job, hf_err *err)
{
    const char *text = job->call->flags[HF_CLI_FLAG_SET];
    char *at = text ? hf_mem_text(job->call->mem, hf_slice_of(text)) : NULL;

    if (text && !at)
        return hf_err_nomem(err, "the settings");
    while (at) {
        char *end = strchr(at, ',');
        char *value = strchr(at, '=');
        hf_status st;

        if (end)
            *end = '\0';
        if (!value || (end && value > end))
            return hf_err_set(err, HF_INVALID, "--set is NAME=VALUE, not %s", at);
        *value = '\0';
        st = hf_set(job->engine, at, value + 1);
        if (st)
            return hf_err_set(err, st, "--set: %s", hf_errmsg(job->engine));
        at = end ? end + 1 : NULL;
    }
    return HF_OK;
}

static hf_status job_run(serve_job *job, hf_err *err)
{
    hf_cli_stop old;
    hf_status st = hf_cli_stop_catch(&old, err);

    if (st)
        return st;
    hf_log_init_fd(&job->log, HF_LOG_INFO, hf_clock_system(), 2);
    st = hf_open(job->call->store, &serve_app, &job->engine);
    if (!st)
        st = hf_workers_allow(job->engine);
    if (st)
        (void)hf_err_set(err, st, "%s", hf_errmsg(job->engine));
    if (!st)
        st = engine_set(job, err);
    if (!st)
        st = server_begin(job, err);
    if (!st)
        st = near_begin(job, err);
    if (!st)
        st = child_begin(job, err);
    if (!st)
        st = job_watch(job, err);
    if (job->near)
        hf_cli_nearest_remove();
    hf_keeper_stop(job->keeper, CHILD_MS);
    if (job->server) {
        hf_server_drain(job->server, DRAIN_MS);
        hf_server_wait(job->server);
    }
    hf_server_close(job->server);
    hf_close(job->engine);
    hf_cli_stop_release(&old);
    return st;
}

/* The folder of a file, in the arena; of what it stands for when it is a link. */
static const char *folder_of(hf_cli_call *call, const char *path)
{
    char real[PATH_MAX];
    const char *slash;

    if (realpath(path, real))
        path = real;
    slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/"
                         : hf_mem_text(call->mem, hf_slice_from(path, (size_t)(slash - path)));
}

/* Gives up what serving does not need. A program with workflows of its own keeps everything: what
   its code does is its own business. */
static hf_status sandbox_enter(hf_cli_call *call, hf_err *err)
{
    const char *const *flags = call->flags;
    const char *store = strncmp(call->store, "sqlite:", 7) == 0 ? call->store + 7 : call->store;
    const char *listen = flags[HF_CLI_FLAG_LISTEN];
    bool file = strncmp(store, "postgres", 8) != 0;
    const char *folders[3];
    size_t count = 0;

    if (call->app || flags[HF_CLI_FLAG_NO_SANDBOX])
        return HF_OK;
    if (file) {
        folders[count++] = folder_of(call, store);
        if (setenv("SQLITE_TMPDIR", folders[0], 0)) /* big sorts spill where it may write */
            return hf_err_nomem(err, "the environment");
    }
    if (flags[HF_CLI_FLAG_STORAGE])
        folders[count++] = flags[HF_CLI_FLAG_STORAGE];
    if (listen && strncmp(listen, "unix:", 5) == 0)
        folders[count++] = folder_of(call, listen + 5);
    for (size_t i = 0; i < count; i++)
        if (!folders[i])
            return hf_err_nomem(err, "the sandbox");
    return hf_sandbox_enter(&(hf_sandbox){.folders = folders, .count = count, .connects = !file},
                            err);
}

hf_status hf_cli_serve(hf_cli_call *call, hf_err *err)
{
    serve_job job = {.call = call};
    hf_status st = sandbox_enter(call, err);

    return st ? st : job_run(&job, err);
}

/* The words behind dev as a program and its arguments; in a program that has workflows of its own
   that program is the worker when no other is named. */
static hf_status worker_words(serve_job *job, hf_err *err)
{
    hf_cli_call *call = job->call;
    char **argv = hf_mem_array(call->mem, call->word_count + 3, sizeof(*argv));
    char self[TEXT_BYTES];
    ssize_t len;

    if (!call->word_count && !call->app)
        return HF_OK;
    for (size_t i = 0; argv && i < call->word_count; i++)
        argv[i] = hf_mem_text(call->mem, hf_slice_of(call->words[i]));
    if (argv && !call->word_count) {
        len = readlink("/proc/self/exe", self, sizeof(self));
        if (len <= 0 || (size_t)len == sizeof(self))
            return hf_err_set(err, HF_IO, "this program cannot be found again");
        argv[0] = hf_mem_text(call->mem, hf_slice_from(self, (size_t)len));
        argv[1] = hf_mem_text(call->mem, HF_SLICE("worker"));
    }
    job->child_argv = argv;
    return argv && argv[0] ? HF_OK : hf_err_nomem(err, "the worker");
}

/* A worker that comes as a C file: the program is made beside the store of dev. */
static hf_status source_build(serve_job *job, hf_err *err)
{
    hf_cli_call *call = job->call;
    hf_status st;

    if (mkdir(HF_CLI_DEV_FOLDER, 0700) < 0 && errno != EEXIST)
        return hf_err_set(err, HF_IO, "cannot make the folder " HF_CLI_DEV_FOLDER ": %s",
                          strerror(errno));
    st = hf_builder_new(call->mem, call->words[0], HF_CLI_DEV_FOLDER, &job->builder, err);
    if (!st)
        st = hf_builder_build(job->builder, err);
    if (st)
        return st;
    job->child_argv[0] = hf_mem_format(call->mem, "./%s", hf_builder_program(job->builder));
    return job->child_argv[0] ? HF_OK : hf_err_nomem(err, "the worker");
}

/* The worker, and verbs in the folder, trust the certificate that dev was given, unless they are
   told whom to trust. */
static hf_status trust_give(const hf_cli_call *call, hf_err *err)
{
    const char *certificate = call->flags[HF_CLI_FLAG_TLS_CERT];
    char path[PATH_MAX];

    if (!certificate)
        return HF_OK;
    if (!realpath(certificate, path))
        return hf_err_set(err, HF_INVALID, "%s: %s", certificate, strerror(errno));
    return setenv("HF_CA_FILE", path, 0) ? hf_err_nomem(err, "the environment") : HF_OK;
}

hf_status hf_cli_dev(hf_cli_call *call, hf_err *err)
{
    serve_job job = {.call = call, .dev = true};
    hf_status st = worker_words(&job, err);

    if (!st)
        st = trust_give(call, err);
    if (st)
        return st;
    call->store = call->flags[HF_CLI_FLAG_STORE];
    if (!call->store) {
        if (mkdir(HF_CLI_DEV_FOLDER, 0700) < 0 && errno != EEXIST)
            return hf_err_set(err, HF_IO, "cannot make the folder " HF_CLI_DEV_FOLDER ": %s",
                              strerror(errno));
        call->store = HF_CLI_DEV_STORE;
        job.near = true;
    }
    if (call->word_count && hf_builder_is_source(call->words[0]))
        st = source_build(&job, err);
    if (st)
        return st;
    call->shown_store = hf_cli_address_mask(call->mem, call->store, NULL);
    return job_run(&job, err);
}
