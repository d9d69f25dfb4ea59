/* profile.c: see profile.h; and the verb profile, which alone changes the file. It never holds a
   credential, only the name of the file that does. */
#include "cli/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/value.h"
#include "cli/input.h"
#include "cli/rows.h"
#include "cli/verbs.h"

enum { FILE_BYTES_MAX = 1 << 20 };

#define FILE_NAME "profiles.json"

static const char fields[] = "url namespace token_file schema output color";

static const hf_cli_column columns[] = {{"name", 16, false},
                                        {"current", 8, false},
                                        {"url", 32, false},
                                        {"namespace", 0, false},
                                        {NULL, 0, false}};

/* ---- the file: {"current": NAME, "profiles": {NAME: {SETTING: VALUE}}} */

/* Beside the settings file; NULL when there is no place for it or no memory. */
static const char *file_path(hf_mem *mem, const hf_cli_settings *settings)
{
    const char *config = settings->value[HF_CLI_SETTING_CONFIG];
    const char *slash = config ? strrchr(config, '/') : NULL;

    if (!config)
        return NULL;
    return slash ? hf_mem_format(mem, "%.*s/" FILE_NAME, (int)(slash - config), config)
                 : hf_mem_text(mem, HF_SLICE(FILE_NAME));
}

/* What is stored; an empty object when there is no file yet. */
static hf_status file_load(hf_mem *mem, const char *path, hf_value *out_stored, hf_err *err)
{
    FILE *file = path ? fopen(path, "r") : NULL;
    char *text;
    size_t len;
    hf_status st;

    *out_stored = hf_json_(mem, "{}");
    if (!*out_stored)
        return hf_err_nomem(err, "the profiles");
    if (!file)
        return HF_OK;
    text = hf_mem_bytes(mem, FILE_BYTES_MAX);
    if (!text) {
        (void)fclose(file);
        return hf_err_nomem(err, "the profiles");
    }
    len = fread(text, 1, FILE_BYTES_MAX, file);
    (void)fclose(file);
    st = hf_json_read(mem, hf_slice_from(text, len), NULL, out_stored, err);
    return st ? hf_err_because(err, st, "read %s", path) : HF_OK;
}

/* The whole file anew, or nothing of it. */
static hf_status file_save(hf_mem *mem, const char *path, hf_value stored, hf_err *err)
{
    const char *fresh = path ? hf_mem_format(mem, "%s.new", path) : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL;
    hf_buf text = {0};
    hf_status st = HF_OK;
    int fd = -1;

    if (!path)
        return hf_err_set(err, HF_INVALID, "there is no folder for settings: set HF_CONFIG_HOME");
    hf_json_write(&text, stored);
    if (!fresh || !stored || !hf_buf_ok(&text))
        st = hf_err_nomem(err, "the profiles");
    if (!st && slash) { /* the folder, when this is the first thing in it */
        const char *folder = hf_mem_text(mem, hf_slice_from(path, (size_t)(slash - path)));

        if (folder && mkdir(folder, 0700) < 0 && errno != EEXIST)
            st = hf_err_set(err, HF_IO, "cannot make the folder %s: %s", folder, strerror(errno));
    }
    if (!st)
        fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (!st &&
        (fd < 0 || write(fd, text.ptr, text.len) != (ssize_t)text.len || rename(fresh, path) < 0))
        st = hf_err_set(err, HF_IO, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    hf_buf_fini(&text);
    return st;
}

/* ---- settings */

static const char *profile_chosen(hf_value stored)
{
    const char *asked = getenv("HF_PROFILE");

    return asked && *asked ? asked : hf_str(stored, "current", NULL);
}

static hf_status profile_find(hf_value stored, const char *name, hf_value *out_profile, hf_err *err)
{
    *out_profile = hf_value_find(hf_get(stored, "profiles"), hf_slice_of(name));
    return *out_profile ? HF_OK : hf_err_set(err, HF_NOTFOUND, "there is no profile %s", name);
}

hf_status hf_cli_profile_apply(hf_mem *mem, hf_cli_settings *settings, hf_err *err)
{
    hf_value stored = NULL;
    hf_value profile = NULL;
    const char *name;
    const char *source;
    hf_status st = file_load(mem, file_path(mem, settings), &stored, err);

    name = st ? NULL : profile_chosen(stored);
    if (!name)
        return st;
    st = profile_find(stored, name, &profile, err);
    if (st)
        return st;
    source = hf_mem_format(mem, "profile %s", name);
    if (!source)
        return hf_err_nomem(err, "the settings");
    for (int id = 0; id < HF_CLI_SETTING_COUNT; id++) {
        const char *said = hf_str(profile, hf_cli_setting_at((hf_cli_setting_id)id)->name, NULL);

        if (said && !settings->value[id]) {
            settings->value[id] = said;
            settings->source[id] = source;
        }
    }
    return HF_OK;
}

/* ---- the verb */

/* A copy of the stored object with one profile in the place of what it was; NULL takes it away. */
static hf_value stored_with(hf_mem *mem, hf_value stored, const char *name, hf_value profile)
{
    hf_value_list *profiles = hf_value_object(mem);
    hf_slice key;
    hf_value value;

    for (size_t i = 0; hf_value_member(hf_get(stored, "profiles"), i, &key, &value); i++)
        if (!hf_slice_equal(key, hf_slice_of(name)))
            hf_value_set(profiles, key, value);
    if (profile)
        hf_value_set(profiles, hf_slice_of(name), profile);
    return hf_value_merge(
        mem, stored, hf_json_(mem, "{'profiles': %p}", (const void *)hf_value_finish(profiles)));
}

static hf_value row_of(hf_mem *mem, hf_value stored, hf_slice name, hf_value profile)
{
    const char *chosen = profile_chosen(stored);
    bool current = chosen && hf_slice_equal(name, hf_slice_of(chosen));

    return hf_value_merge(mem,
                          hf_json_(mem, "{'name': %p, 'current': %p}",
                                   (const void *)hf_value_string(mem, name),
                                   (const void *)hf_value_bool(current)),
                          profile);
}

static hf_status profile_set(hf_cli_call *call, const char *path, hf_value stored, hf_err *err)
{
    hf_value before = hf_value_find(hf_get(stored, "profiles"), hf_slice_of(call->words[1]));
    hf_value pairs = NULL;
    hf_slice key;
    hf_value value;
    hf_status st = hf_cli_input(call, 2, &pairs, err);

    for (size_t i = 0; !st && hf_value_member(pairs, i, &key, &value); i++)
        if (!hf_cli_choice(fields, key) || hf_value_kind_of(value) != HF_VALUE_STRING)
            st = hf_err_set(err, HF_INVALID, "%.*s is not one of: %s", (int)key.len, key.ptr,
                            fields);
    if (!st && !pairs)
        st = hf_err_set(err, HF_INVALID, "profile set needs pairs, such as url=ADDRESS");
    return st ? st
              : file_save(call->mem, path,
                          stored_with(call->mem, stored, call->words[1],
                                      hf_value_merge(call->mem, before, pairs)),
                          err);
}

static hf_status profiles_print(hf_cli_call *call, hf_value stored, hf_err *err)
{
    hf_value_list *rows = hf_value_array(call->mem);
    hf_slice key;
    hf_value value;
    hf_value all;

    for (size_t i = 0; hf_value_member(hf_get(stored, "profiles"), i, &key, &value); i++)
        hf_value_append(rows, row_of(call->mem, stored, key, value));
    all = hf_value_finish(rows);
    return all ? hf_cli_rows_print(call, "profiles", columns, all, err)
               : hf_err_nomem(err, "the profiles");
}

static hf_status profile_show(hf_cli_call *call, hf_value stored, hf_err *err)
{
    const char *name = call->args[1] ? call->args[1] : profile_chosen(stored);
    hf_value profile = NULL;
    hf_status st = name ? profile_find(stored, name, &profile, err)
                        : hf_err_set(err, HF_NOTFOUND, "no profile is in use");

    return st ? st
              : hf_cli_thing_print(call, columns,
                                   row_of(call->mem, stored, hf_slice_of(name), profile), err);
}

hf_status hf_cli_profile(hf_cli_call *call, hf_err *err)
{
    const char *action = call->args[0];
    const char *name = call->args[1];
    const char *path = file_path(call->mem, &call->settings);
    hf_value stored = NULL;
    hf_value profile = NULL;
    hf_status st = file_load(call->mem, path, &stored, err);

    if (st)
        return st;
    if (strcmp(action, "ls") == 0)
        return profiles_print(call, stored, err);
    if (strcmp(action, "show") == 0)
        return profile_show(call, stored, err);
    if (!name)
        return hf_err_set(err, HF_INVALID, "profile %s needs a NAME", action);
    if (strcmp(action, "set") == 0)
        return profile_set(call, path, stored, err);
    st = profile_find(stored, name, &profile, err);
    if (st)
        return st;
    if (strcmp(action, "delete") == 0)
        return file_save(call->mem, path, stored_with(call->mem, stored, name, NULL), err);
    return file_save(
        call->mem, path,
        hf_value_merge(call->mem, stored, hf_json_(call->mem, "{'current': %s}", name)), err);
}
