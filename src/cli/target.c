/* target.c: see target.h. */
#include "cli/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"
#include "cli/known.h"
#include "cli/refusal.h"
#include "client/client.h"
#include "holdfast/host.h"
#include "holdfast/reader.h"
#include "holdfast/tool.h"
#include "holdfast/worker.h"
#include "server/registry.h"
#include "server/server.h"
#include "server/shape.h"

enum {
    TOKEN_BYTES_MAX = 4096,
    RUNS_PAGE = 200,
    EVENTS_PAGE = 500,
    ANSWER_EXTRA_MS = 30000,
    LIST_WAIT_S = 20,
    NO_CONTENT = 204
};

#define SPACE_DEFAULT "default"
#define SOCKET_FOLDER "/tmp/hf-verb-XXXXXX"
#define SOCKET_NAME   "s"
#define LIST_PATH     "/api/workflows"
#define NEXT_SPACES   "holdfast namespace ls {here}"
#define NEXT_RUNS     "holdfast ls {here}"

struct hf_cli_target {
    hf_cli_call *call;
    hf_client *client; /* a server */
    hf_engine *engine; /* a store that commands go to */
    hf_reader *reader; /* a store that is read; opened when it is needed */
    const char *space;
    int64_t changes;
    hf_server *server; /* of the engine, for this verb alone */
    char folder[32];   /* where its socket is; "": there is none */
};

bool hf_cli_address_remote(const char *address)
{
    return strncmp(address, "http://", 7) == 0 || strncmp(address, "https://", 8) == 0 ||
           strncmp(address, "unix:", 5) == 0;
}

/* ---- opening */

/* The first line of a file, in the call's arena. */
static hf_status line_read(hf_cli_call *call, const char *path, const char **out_line, hf_err *err)
{
    char text[TOKEN_BYTES_MAX];
    FILE *file = fopen(path, "r");
    bool got;

    if (!file) {
        call->next = "holdfast help {verb}";
        return hf_err_set(err, errno == ENOENT ? HF_NOTFOUND : HF_DENIED,
                          "cannot open the token file %s: %s", path, strerror(errno));
    }
    got = fgets(text, sizeof(text), file) != NULL;
    (void)fclose(file);
    if (!got)
        return hf_err_set(err, HF_INVALID, "the token file %s is empty", path);
    text[strcspn(text, "\r\n")] = '\0';
    *out_line = hf_mem_text(call->mem, hf_slice_of(text));
    return *out_line ? HF_OK : hf_err_nomem(err, "the token");
}

/* A flag wins over HF_TOKEN, that over a file that is set, and this over what dev left behind. */
hf_status hf_cli_target_token(hf_cli_call *call, const char **out_token, hf_err *err)
{
    const char *name = call->flags[HF_CLI_FLAG_TOKEN_ENV];
    const char *file = call->settings.value[HF_CLI_SETTING_TOKEN_FILE];
    const char *token =
        call->flags[HF_CLI_FLAG_TOKEN_FILE] ? NULL : getenv(name ? name : "HF_TOKEN");

    *out_token = call->found_token;
    if (name && !token)
        return hf_err_set(err, HF_INVALID, "--token-env: %s is not set", name);
    if (token && *token)
        *out_token = token;
    else if (file)
        return line_read(call, file, out_token, err);
    return HF_OK;
}

static hf_status server_open(hf_cli_target *target, hf_err *err)
{
    hf_cli_call *call = target->call;
    hf_client_options options = {.url = call->store, .namespace = target->space};
    hf_status st = hf_cli_target_token(call, &options.token, err);

    return st ? st : hf_client_open(&options, &target->client, err);
}

/* Whether the call is about something new, for which a store may be made. A verb that is about what
   should be there finds nothing in a new store, and a path that is mistyped must not become one. */
static bool store_is_made(const hf_cli_call *call)
{
    return strcmp(call->command->name, "start") == 0 ||
           (call->args[0] && strcmp(call->args[0], "create") == 0);
}

static hf_status store_open(hf_cli_target *target, hf_err *err)
{
    static const hf_app nothing = {.name = "holdfast"};
    hf_cli_call *call = target->call;
    hf_status st = store_is_made(call) ? HF_OK : hf_cli_store_look(call, err);

    if (st)
        return st;
    st = hf_open(call->store, call->app ? call->app : &nothing, &target->engine);
    if (!st && !call->app) /* workflows that this program does not have are somebody's */
        st = hf_workers_allow(target->engine);
    if (!st && strcmp(target->space, SPACE_DEFAULT) != 0) {
        st = hf_namespace_use(target->engine, target->space);
        call->next = NEXT_SPACES;
    }
    if (st)
        (void)hf_err_set(err, st, "%s", hf_errmsg(target->engine));
    if (st == HF_OWNED)
        call->next = "holdfast config"; /* says where the server's address comes from */
    return st;
}

/* A server over the engine, on a socket in a folder that nobody else can look into. */
static hf_status store_serve(hf_cli_target *target, hf_err *err)
{
    char address[64];
    const hf_server_options options = {.engine = target->engine,
                                       .listen = address,
                                       .auth = {.driver = HF_AUTH_NONE},
                                       .threads = 1};
    const hf_client_options client = {.url = address, .namespace = target->space};
    hf_status st;

    memcpy(target->folder, SOCKET_FOLDER, sizeof(SOCKET_FOLDER));
    if (!mkdtemp(target->folder)) {
        target->folder[0] = '\0';
        return hf_err_set(err, HF_IO, "cannot make a folder for a socket: %s", strerror(errno));
    }
    (void)snprintf(address, sizeof(address), "unix:%s/" SOCKET_NAME, target->folder);
    st = hf_server_open(&options, &target->server, err);
    if (!st)
        st = hf_server_refresh(target->server, err);
    if (!st)
        st = hf_server_start(target->server, err);
    return st ? st : hf_client_open(&client, &target->client, err);
}

static hf_status target_open(hf_cli_call *call, bool change, bool serve, hf_cli_target **out,
                             hf_err *err)
{
    hf_cli_target *target = hf_alloc(sizeof(*target));
    const char *space = call->settings.value[HF_CLI_SETTING_NAMESPACE];
    hf_status st = HF_OK;

    *out = NULL;
    if (!target)
        return hf_err_nomem(err, "the command");
    target->call = call;
    target->space = space ? space : SPACE_DEFAULT;
    if (hf_cli_address_remote(call->store))
        st = server_open(target, err);
    else if (change)
        st = store_open(target, err);
    if (!st && serve && target->engine)
        st = store_serve(target, err);
    if (st) {
        hf_cli_target_close(target);
        return st;
    }
    *out = target;
    return HF_OK;
}

hf_status hf_cli_target_open(hf_cli_call *call, bool change, hf_cli_target **out, hf_err *err)
{
    return target_open(call, change, false, out, err);
}

hf_status hf_cli_target_serve(hf_cli_call *call, hf_cli_target **out, hf_err *err)
{
    return target_open(call, true, true, out, err);
}

void hf_cli_target_close(hf_cli_target *target)
{
    char path[64];

    if (!target)
        return;
    hf_client_close(target->client);
    hf_reader_close(target->reader);
    if (target->server) {
        hf_server_drain(target->server, 0);
        hf_server_wait(target->server);
        hf_server_close(target->server);
    }
    hf_close(target->engine);
    if (target->folder[0]) {
        (void)snprintf(path, sizeof(path), "%s/" SOCKET_NAME, target->folder);
        (void)unlink(path);
        (void)rmdir(target->folder);
    }
    hf_alloc_free(target);
}

void hf_cli_target_stop(hf_cli_target *target)
{
    hf_client_stop(target->client);
}

hf_status hf_cli_target_pause(hf_cli_target *target, int64_t ms, hf_err *err)
{
    return hf_client_pause(target->client, ms, err);
}

bool hf_cli_target_is_server(const hf_cli_target *target)
{
    return target->client != NULL;
}

hf_cli_call *hf_cli_target_call(hf_cli_target *target)
{
    return target->call;
}

int64_t hf_cli_target_changes(const hf_cli_target *target)
{
    return target->changes;
}

hf_engine *hf_cli_target_engine(hf_cli_target *target)
{
    return target->engine;
}

/* The reader of a store. */
static hf_status reader_get(hf_cli_target *target, hf_err *err)
{
    const hf_reader_opts options = {
        .size_ = sizeof(options), .schema = target->call->schema, .space = target->space};
    hf_status st = target->reader
                       ? HF_OK
                       : hf_reader_open(target->call->store, &options, &target->reader, err);

    if (st == HF_NOTFOUND && !hf_cli_store_look(target->call, NULL))
        target->call->next = NEXT_SPACES; /* it is not the store that is missing */
    return st;
}

hf_status hf_cli_target_reader(hf_cli_target *target, hf_reader **out, hf_err *err)
{
    hf_status st = reader_get(target, err);

    *out = target->reader;
    return st;
}

void hf_cli_target_missing(hf_cli_call *call)
{
    hf_cli_target target = {.call = call, .space = call->flags[HF_CLI_FLAG_NAMESPACE]};

    if (!reader_get(&target, NULL))
        call->next = NEXT_RUNS;
    hf_reader_close(target.reader);
}

/* ---- asking a server */

/* The command that helps after a server's answer. */
static void next_note(hf_cli_call *call, hf_status st)
{
    if (st == HF_UNREACHABLE)
        call->next = "holdfast dev";
    else if (st == HF_DENIED)
        call->next = "holdfast help token";
    else if (st == HF_OLDER)
        call->next = "holdfast version";
    else if (st == HF_IO || st == HF_BUSY || st == HF_TIMEOUT || st == HF_FULL || st == HF_READONLY)
        call->next = "holdfast config";
}

/* The same when it says that something is not there: the namespace, or what is asked about. */
static void missing_note(hf_cli_call *call, hf_value body, const char *otherwise)
{
    bool space = strcmp(hf_str(body, "reason", ""), "namespace_not_found") == 0;

    call->next = space ? NEXT_SPACES : otherwise;
}

static hf_status ask(hf_cli_target *target, const hf_client_request *request, hf_mem *mem,
                     hf_client_reply *out_reply, hf_err *err)
{
    hf_status st = request->path ? hf_client_ask(target->client, request, mem, out_reply, err)
                                 : hf_err_nomem(err, "a request");

    next_note(target->call, st);
    return st;
}

hf_status hf_cli_target_ask(hf_cli_target *target, const char *method, const char *path,
                            hf_value body, hf_mem *mem, hf_value *out_body, hf_err *err)
{
    const hf_client_request request = {.method = method, .path = path, .body = body};
    hf_client_reply reply;
    hf_status st = ask(target, &request, mem, &reply, err);

    if (st)
        return st;
    st = hf_client_outcome(&reply, err);
    next_note(target->call, st);
    if (st == HF_NOTFOUND)
        missing_note(target->call, reply.body, target->call->next);
    if (!st && !reply.body && reply.status != NO_CONTENT)
        st = hf_err_set(err, HF_IO, "the server answered with something that is not JSON");
    *out_body = reply.body;
    return st;
}

/* ---- reads */

/* Adds what hf_client_path made, which is NULL when memory ran out. */
static void path_add(hf_buf *path, const char *part)
{
    if (part)
        hf_buf_add_text(path, part);
    else
        path->failed = true;
}

/* Labels or search attributes: PARAMETER[NAME]=value, and PARAMETER[NAME][gte]=value of bounds. */
static void members_add(hf_mem *mem, hf_buf *path, const char *parameter, hf_value members)
{
    hf_slice key;
    hf_value item;

    for (size_t i = 0; hf_value_member(members, i, &key, &item); i++) {
        const char *name = hf_client_path(mem, "[%s]", hf_mem_text(mem, key));

        if (hf_value_kind_of(item) == HF_VALUE_OBJECT) {
            members_add(mem, path, hf_mem_format(mem, "%s%s", parameter, name ? name : ""), item);
            continue;
        }
        hf_buf_add_format(path, "&%s", parameter);
        path_add(path, name);
        path_add(path,
                 hf_client_path(mem, "=%s",
                                hf_value_kind_of(item) == HF_VALUE_STRING ? hf_str(item, "", "")
                                                                          : hf_text(mem, item)));
    }
}

/* The filters of a list as parameters of its route, which has another name for some of them. */
static hf_status list_path(hf_cli_target *target, hf_value request, hf_buf *path, hf_err *err)
{
    hf_value filters = hf_get(request, "filters");
    const char *bucket = hf_str(request, "bucket", NULL);
    const char *cursor = hf_str(request, "cursor", NULL);
    const char *view = hf_str(request, "view", NULL);
    const char *order = hf_str(request, "order", NULL);
    hf_mem *mem = target->call->mem;
    hf_slice key;
    hf_value item;

    hf_buf_add_format(path, "?page_size=%lld", (long long)hf_int(request, "limit", RUNS_PAGE));
    if (bucket)
        path_add(path, hf_client_path(mem, "&status=%s", bucket));
    if (cursor)
        path_add(path, hf_client_path(mem, "&next_page_token=%s", cursor));
    if (hf_get(request, "wait_changes"))
        hf_buf_add_format(path, "&wait_changes=%lld&wait_timeout_seconds=%d",
                          (long long)hf_int(request, "wait_changes", 0), LIST_WAIT_S);
    if (view)
        path_add(path, hf_client_path(mem, "&view=%s", view));
    if (order)
        path_add(path, hf_client_path(mem, "&order=%s", order));
    for (size_t i = 0; hf_value_member(filters, i, &key, &item); i++) {
        hf_slice known = hf_slice_equal(key, HF_SLICE("status")) ? HF_SLICE("run_status") : key;
        const char *name = hf_mem_text(mem, known);

        if (hf_value_kind_of(item) == HF_VALUE_OBJECT) {
            members_add(mem, path,
                        hf_slice_equal(key, HF_SLICE("labels")) ? "label" : "search_attribute",
                        item);
            continue;
        }
        if (!hf_cli_known_parameter(LIST_PATH, known))
            return hf_err_set(err, HF_INVALID, "there is no filter \"%.*s\"; there are: %s",
                              (int)key.len, key.ptr, hf_cli_known_parameters(mem, LIST_PATH));
        path_add(path, name ? hf_client_path(mem, "&%s=%s", name, hf_str(item, "", "")) : NULL);
    }
    return hf_buf_ok(path) ? HF_OK : hf_err_nomem(err, "a request");
}

static hf_status server_list(hf_cli_target *target, hf_value request, hf_mem *mem,
                             hf_value *out_rows, const char **out_cursor, hf_err *err)
{
    hf_value body = NULL;
    hf_buf path = {0};
    hf_status st;

    hf_buf_add_text(&path, LIST_PATH);
    st = list_path(target, request, &path, err);
    if (!st)
        st = hf_cli_target_ask(target, "GET", hf_buf_text(&path), NULL, mem, &body, err);
    hf_buf_fini(&path);
    if (st)
        return st;
    target->changes = hf_int(body, "changes", 0);
    *out_rows = hf_get(body, "workflows");
    *out_cursor = hf_str(body, "next_page_token", NULL);
    return HF_OK;
}

hf_status hf_cli_target_list(hf_cli_target *target, hf_value request, hf_mem *mem,
                             hf_value *out_rows, const char **out_cursor, hf_err *err)
{
    hf_value_list *rows;
    hf_value page = NULL;
    bool changed = false;
    hf_status st;

    if (!request)
        return hf_err_nomem(err, "a request");
    if (target->client)
        return server_list(target, request, mem, out_rows, out_cursor, err);
    *out_rows = NULL;
    *out_cursor = NULL;
    st = reader_get(target, err);
    if (!st)
        st = hf_reader_changed(target->reader, &changed, err);
    if (st || (!changed && hf_get(request, "wait_changes")))
        return st;
    target->changes += changed;
    request = hf_value_merge(mem, request, hf_json_(mem, "{'wait_changes': null}")); /* is over */
    st = request ? hf_reader_list(target->reader, request, mem, &page, err)
                 : hf_err_nomem(err, "a request");
    if (st == HF_NOTFOUND)
        target->call->next = "holdfast view ls {here}";
    if (st)
        return st;
    rows = hf_value_array(mem);
    for (size_t i = 0; i < hf_len(hf_get(page, "items")); i++)
        hf_value_append(rows, hf_shape_run(mem, hf_at(hf_get(page, "items"), i), target->space));
    *out_rows = hf_value_finish(rows);
    *out_cursor = hf_str(page, "cursor", NULL);
    return *out_rows ? HF_OK : hf_err_nomem(err, "a list");
}

static hf_status not_found(hf_cli_target *target, const char *id, const char *what, hf_err *err)
{
    target->call->next = NEXT_RUNS;
    return hf_err_set(err, HF_NOTFOUND, "%s%s", what, id);
}

hf_status hf_cli_target_row(hf_cli_target *target, const char *id, hf_mem *mem, hf_value *out_row,
                            hf_err *err)
{
    const char *cursor;
    hf_value rows = NULL;
    hf_status st = hf_cli_target_list(
        target, hf_json_(mem, "{'filters': {'instance_id': %s}, 'limit': 1}", id), mem, &rows,
        &cursor, err);

    if (st)
        return st;
    *out_row = hf_at(rows, 0);
    return *out_row ? HF_OK : not_found(target, id, "there is no workflow ", err);
}

/* The id of the run with that number, or of that id. */
static hf_status run_numbered(hf_cli_target *target, const char *id, const char *run,
                              const char **out_run_id, hf_err *err)
{
    hf_mem *mem = target->call->mem;
    const char *cursor = NULL;
    int64_t number = 0;
    hf_value rows;
    hf_status st;

    if (!hf_slice_int(hf_slice_of(run), &number)) {
        *out_run_id = run;
        return HF_OK;
    }
    do {
        st = hf_cli_target_list(
            target,
            hf_json_(mem, "{'filters': {'instance_id': %s}, 'limit': %d, 'cursor': %s}", id,
                     RUNS_PAGE, cursor),
            mem, &rows, &cursor, err);
        for (size_t i = 0; !st && i < hf_len(rows); i++)
            if (hf_int(hf_at(rows, i), "run_number", 0) == number) {
                *out_run_id = hf_str(hf_at(rows, i), "run_id", NULL);
                return HF_OK;
            }
    } while (!st && cursor);
    return st ? st : not_found(target, id, "there is no such run of ", err);
}

hf_status hf_cli_target_aim(hf_cli_target *target, const char *name, hf_cli_aim *out, hf_err *err)
{
    const char *run = target->call->flags[HF_CLI_FLAG_RUN];
    const char *hash = strchr(name, '#');

    *out = (hf_cli_aim){.id = name};
    if (hash) {
        run = hash + 1;
        out->id = hf_mem_text(target->call->mem, hf_slice_from(name, (size_t)(hash - name)));
        if (!out->id)
            return hf_err_nomem(err, "an id");
    }
    if (!out->id[0] || (run && !run[0]))
        return hf_err_set(err, HF_INVALID, "\"%s\" is no id of a workflow: ID or ID#NUMBER", name);
    return run ? run_numbered(target, out->id, run, &out->run_id, err) : HF_OK;
}

/* The event of --at, or the end of time. */
static hf_status event_read(const hf_cli_target *target, int64_t *out_event, hf_err *err)
{
    const char *at = target->call->flags[HF_CLI_FLAG_AT];

    *out_event = INT64_MAX;
    if (at && (!hf_slice_int(hf_slice_of(at), out_event) || *out_event < 1))
        return hf_err_set(err, HF_INVALID, "--at takes the number of an event");
    return HF_OK;
}

hf_status hf_cli_target_run(hf_cli_target *target, const hf_cli_aim *aim, hf_mem *mem,
                            hf_value *out_run, hf_err *err)
{
    hf_value detail = NULL;
    int64_t event = 0;
    hf_status st = event_read(target, &event, err);

    if (st)
        return st;
    if (target->client) {
        const char *path =
            aim->run_id ? hf_client_path(mem, "/api/workflows/%s/runs/%s", aim->id, aim->run_id)
                        : hf_client_path(mem, "/api/workflows/%s", aim->id);

        if (path && event < INT64_MAX)
            path = hf_mem_format(mem, "%s?at=%lld", path, (long long)event);
        st = hf_cli_target_ask(target, "GET", path, NULL, mem, out_run, err);
    } else {
        st = reader_get(target, err);
        if (!st)
            st = hf_reader_describe(target->reader,
                                    hf_json_(mem, "{'id': %s, 'run_id': %s, 'at': %lld}", aim->id,
                                             aim->run_id, (long long)event),
                                    mem, &detail, err);
        *out_run = st ? NULL : hf_shape_run(mem, detail, target->space);
        if (!st && !*out_run)
            st = hf_err_nomem(err, "a run");
    }
    if (st == HF_NOTFOUND && (target->client || target->reader) && !target->call->next)
        target->call->next = NEXT_RUNS;
    return st;
}

hf_status hf_cli_target_history(hf_cli_target *target, const hf_cli_aim *aim, int64_t after,
                                hf_mem *mem, hf_value *out_page, hf_err *err)
{
    const char *token = after ? hf_mem_format(mem, "&next_page_token=s%lld", (long long)after) : "";
    const char *until = "";
    hf_value page = NULL;
    int64_t event = 0;
    hf_status st = event_read(target, &event, err);

    if (st)
        return st;
    if (event < INT64_MAX)
        until = hf_mem_format(mem, "&at=%lld", (long long)event);
    if (target->client)
        return hf_cli_target_ask(
            target, "GET",
            hf_mem_format(
                mem, "%s?page_size=%d%s%s",
                hf_client_path(mem, "/api/workflows/%s/runs/%s/history", aim->id, aim->run_id),
                EVENTS_PAGE, until, token),
            NULL, mem, out_page, err);
    st = reader_get(target, err);
    if (!st)
        st = hf_reader_history(
            target->reader,
            hf_json_(mem, "{'id': %s, 'run_id': %s, 'after': %lld, 'limit': %d, 'at': %lld}",
                     aim->id, aim->run_id, (long long)after, EVENTS_PAGE, (long long)event),
            mem, &page, err);
    *out_page = st ? NULL : hf_shape_history(mem, page, aim->id, aim->run_id, target->space);
    return st || *out_page ? st : hf_err_nomem(err, "a history");
}

hf_status hf_cli_target_await(hf_cli_target *target, const char *id, hf_value row, int64_t wait_ms,
                              hf_mem *mem, hf_err *err)
{
    int64_t seen = hf_int(row, "last_history_sequence", hf_int(row, "history_event_count", 0));
    const char *base =
        hf_client_path(mem, "/api/workflows/%s/runs/%s/history", id, hf_str(row, "run_id", ""));
    hf_value page = NULL;

    return hf_cli_target_ask(
        target, "GET",
        base ? hf_mem_format(mem,
                             "%s?page_size=1&next_page_token=s%lld&wait_new_event=1&"
                             "wait_timeout_seconds=%lld",
                             base, (long long)seen, (long long)((wait_ms + 999) / 1000))
             : NULL,
        NULL, mem, &page, err);
}

/* ---- commands */

/* The route of a command. */
static const char *command_path(hf_mem *mem, const char *command, hf_value request)
{
    const char *id = hf_str(request, "workflow_id", "");
    const char *run = hf_str(request, "run_id", NULL);
    const char *name = hf_str(request, "name", NULL);
    const char *base;

    if (strcmp(command, "start") == 0)
        return "/api/workflows";
    base = run ? hf_client_path(mem, "/api/workflows/%s/runs/%s/%s", id, run, command)
               : hf_client_path(mem, "/api/workflows/%s/%s", id, command);
    if (!base || !name)
        return base;
    name = hf_client_path(mem, "/%s", name);
    return name ? hf_mem_format(mem, "%s%s", base, name) : NULL;
}

static hf_status server_command(hf_cli_target *target, const char *command, hf_value request,
                                hf_mem *mem, hf_value *out_envelope, hf_err *err)
{
    const hf_client_request question = {
        .method = "POST",
        .path = command_path(mem, command, request),
        .body = request,
        .timeout_ms = hf_int(request, "wait_timeout_seconds", 0) * 1000 + ANSWER_EXTRA_MS};
    hf_client_reply reply;
    hf_status st = ask(target, &question, mem, &reply, err);

    if (st)
        return st;
    *out_envelope = reply.body;
    if (hf_str(reply.body, "outcome", NULL))
        return hf_cli_refusal(target->call, reply.body, err);
    st = hf_client_outcome(&reply, err);
    next_note(target->call, st);
    if (st == HF_NOTFOUND)
        missing_note(target->call, reply.body, NEXT_RUNS);
    return st;
}

hf_status hf_cli_target_command(hf_cli_target *target, const char *command, hf_value request,
                                hf_mem *mem, hf_value *out_envelope, hf_err *err)
{
    hf_command_result result = {0};
    hf_status st;

    *out_envelope = NULL;
    if (!request)
        return hf_err_nomem(err, "a command");
    if (target->client)
        return server_command(target, command, request, mem, out_envelope, err);
    st = hf_command(target->engine, command, request, mem, &result);
    if (st && !result.outcome) {
        if (st == HF_NOTFOUND)
            target->call->next = NEXT_RUNS;
        return hf_err_set(err, st, "%s", hf_errmsg(target->engine));
    }
    *out_envelope = result.detail;
    return hf_cli_refusal(target->call, result.detail, err);
}

hf_status hf_cli_target_query(hf_cli_target *target, const hf_cli_aim *aim, const char *name,
                              hf_value arguments, hf_mem *mem, hf_value *out_result, hf_err *err)
{
    hf_value body = NULL;
    hf_status st;

    if (aim->run_id)
        return hf_err_set(err, HF_INVALID, "a query goes to the newest run");
    target->call->next = hf_mem_format(mem, "holdfast show %s {here}", aim->id);
    if (target->client) {
        st = hf_cli_target_ask(
            target, "POST", hf_client_path(mem, "/api/workflows/%s/query/%s", aim->id, name),
            hf_json_(mem, "{'input': %p}", (const void *)arguments), mem, &body, err);
        *out_result = hf_get(body, "result");
        return st;
    }
    st = hf_query(target->engine, aim->id, name, arguments, out_result);
    return st ? hf_err_set(err, st, "%s", hf_errmsg(target->engine)) : HF_OK;
}
