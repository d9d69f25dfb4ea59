/* nearest.c: see nearest.h. */
#include "cli/nearest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

enum { PATH_BYTES = 4096 };

#define SERVER_FILE    HF_CLI_DEV_FOLDER "/server.json"
#define SERVER_DEFAULT "http://127.0.0.1:7430"

/* What dev wrote; false when there is nothing of the kind. */
static bool server_read(hf_cli_call *call, const char *path)
{
    FILE *file = fopen(path, "r");
    char text[1024];
    size_t len;
    hf_value said;

    if (!file)
        return false;
    len = fread(text, 1, sizeof(text), file);
    (void)fclose(file);
    said = hf_parse_(call->mem, text, len);
    call->store = hf_str(said, "url", NULL);
    call->found_token = hf_str(said, "token", NULL);
    if (hf_str(said, "ca", NULL))
        (void)setenv("HF_CA_FILE", hf_str(said, "ca", ""), 0);
    return call->store != NULL;
}

/* The server or the store of a folder; false when it has neither. */
static hf_status folder_look(hf_cli_call *call, const char *folder, hf_err *err)
{
    const char *server = hf_mem_format(call->mem, "%s/%s", folder, SERVER_FILE);
    const char *store = hf_mem_format(call->mem, "%s/%s", folder, HF_CLI_DEV_STORE);

    if (!server || !store)
        return hf_err_nomem(err, "the address");
    if (!server_read(call, server) && access(store, F_OK) == 0)
        call->store = store;
    return HF_OK;
}

hf_status hf_cli_nearest_find(hf_cli_call *call, hf_err *err)
{
    char folder[PATH_BYTES];
    char *slash = getcwd(folder, sizeof(folder)) ? folder + strlen(folder) : NULL;
    hf_status st = HF_OK;

    while (slash && !st && !call->store) {
        *slash = '\0';
        st = folder_look(call, folder, err);
        slash = strrchr(folder, '/');
    }
    if (st || call->store)
        return st;
    call->store = call->app ? hf_mem_format(call->mem, "./%s.db", call->app->name) : SERVER_DEFAULT;
    return call->store ? HF_OK : hf_err_nomem(err, "the address");
}

hf_status hf_cli_nearest_write(const char *url, const char *token, const char *ca, hf_err *err)
{
    hf_mem *mem = hf_mem_new();
    hf_buf text = {0};
    hf_status st = HF_OK;
    int fd;

    if (mem)
        hf_json_write(&text, hf_json_(mem, "{'url': %s, 'token': %s, 'ca': %s}", url, token, ca));
    hf_mem_free(mem);
    if (!hf_buf_ok(&text) || text.len < 2) {
        hf_buf_fini(&text);
        return hf_err_nomem(err, "the address");
    }
    (void)unlink(SERVER_FILE); /* of one that was killed; its file may have another owner */
    fd = open(SERVER_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text.ptr, text.len) != (ssize_t)text.len)
        st = hf_err_set(err, HF_IO, "cannot write " SERVER_FILE ": %s", strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    hf_buf_fini(&text);
    return st;
}

void hf_cli_nearest_remove(void)
{
    (void)unlink(SERVER_FILE);
}
