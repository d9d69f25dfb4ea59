/* settings.c: settings from flags, environment and one INI file. It reads and never writes; a value
   it does not understand is an error that names where it came from, never ignored. */
#include "cli/settings.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/err.h"
#include "cli/print.h"
#include "cli/profile.h"

static const hf_cli_setting setting_table[] = {
#define HF_CLI_SETTING(id, name, env, flag, otherwise, sentence)                                   \
    {name, env, flag, otherwise, sentence},
#include "cli/setting.def"
#undef HF_CLI_SETTING
};

/* The settings file while it is read. */
typedef struct file_reader {
    hf_mem *mem;
    FILE *file;
    const char *path;
    int line;                             /* the one handed to the parser last */
    int lines_seen[HF_CLI_SETTING_COUNT]; /* where a setting was set; 0 when it was not */
    hf_cli_settings *settings;
    hf_status status; /* of the first bad line */
    hf_err *err;
} file_reader;

static hf_status setting_check(hf_cli_setting_id id, const char *value, const char *source,
                               hf_err *err)
{
    hf_cli_flag_id flag = setting_table[id].flag;
    const char *choices = flag == HF_CLI_FLAG_COUNT   ? NULL
                          : flag == HF_CLI_FLAG_DEBUG ? "off on"
                                                      : hf_cli_flag_at(flag)->choices;

    if (!choices || hf_cli_choice(choices, hf_slice_of(value)))
        return HF_OK;
    return hf_err_set(err, HF_INVALID, "%s is \"%s\" (%s), but must be one of: %s",
                      setting_table[id].name, value, source, choices);
}

/* fgets for the parser, which does not tell its handler the line and would cut a long one. */
static char *file_line(char *out_line, int bytes, void *ctx)
{
    file_reader *reader = ctx;
    size_t len;

    if (reader->status || !fgets(out_line, bytes, reader->file))
        return NULL;
    reader->line++;
    len = strlen(out_line);
    if (len + 1 == (size_t)bytes && out_line[len - 1] != '\n') {
        reader->status =
            hf_err_set(reader->err, HF_INVALID, "%s:%d: the line is longer than %d bytes",
                       reader->path, reader->line, bytes - 2);
        return NULL;
    }
    return out_line;
}

/* One name = value; 0 tells the parser that it was bad. */
static int file_pair(void *ctx, const char *section, const char *name, const char *value)
{
    file_reader *reader = ctx;
    const char *source;
    char *copy;
    int id = 0;

    if (reader->status)
        return 0;
    while (id < HF_CLI_SETTING_COUNT &&
           (strcmp(setting_table[id].name, name) != 0 || id == HF_CLI_SETTING_CONFIG))
        id++;
    if (section[0] || id == HF_CLI_SETTING_COUNT) {
        reader->status =
            hf_err_set(reader->err, HF_INVALID, "%s:%d: there is no setting %s%s%s", reader->path,
                       reader->line, section, section[0] ? "." : "", name);
        return 0;
    }
    if (reader->lines_seen[id]) {
        reader->status = hf_err_set(reader->err, HF_INVALID, "%s:%d: %s is set in line %d already",
                                    reader->path, reader->line, name, reader->lines_seen[id]);
        return 0;
    }
    reader->lines_seen[id] = reader->line;
    source = hf_mem_format(reader->mem, "%s:%d", reader->path, reader->line);
    copy = hf_mem_text(reader->mem, hf_slice_of(value));
    if (!source || !copy)
        reader->status = hf_err_nomem(reader->err, "the settings");
    else
        reader->status = setting_check((hf_cli_setting_id)id, copy, source, reader->err);
    if (!reader->status && !reader->settings->value[id]) {
        reader->settings->value[id] = copy;
        reader->settings->source[id] = source;
    }
    return reader->status == HF_OK;
}

static hf_status file_read(file_reader *reader)
{
    int bad_line = ini_parse_stream(file_line, reader, file_pair, reader);

    if (reader->status)
        return reader->status;
    if (ferror(reader->file))
        return hf_err_set(reader->err, HF_IO, "cannot read %s: %s", reader->path, strerror(errno));
    if (bad_line > 0)
        return hf_err_set(reader->err, HF_INVALID,
                          "%s:%d: the line is not of the form name = value", reader->path,
                          bad_line);
    return bad_line < 0 ? hf_err_nomem(reader->err, "the settings") : HF_OK;
}

/* Opens and reads the settings file. One that nobody named may be missing. */
static hf_status file_load(hf_mem *mem, bool named, hf_cli_settings *out_settings, hf_err *err)
{
    file_reader reader = {.mem = mem, .settings = out_settings, .err = err};
    hf_status st;

    reader.path = out_settings->value[HF_CLI_SETTING_CONFIG];
    if (!reader.path)
        return HF_OK;
    reader.file = fopen(reader.path, "r");
    if (!reader.file && !named && (errno == ENOENT || errno == ENOTDIR))
        return HF_OK;
    if (!reader.file)
        return hf_err_set(err, errno == ENOENT || errno == ENOTDIR ? HF_NOTFOUND : HF_DENIED,
                          "cannot open the settings file %s: %s", reader.path, strerror(errno));
    st = file_read(&reader);
    (void)fclose(reader.file);
    return st;
}

/* An environment variable that is set and not empty, or NULL. */
static const char *env_get(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}

static void env_set(hf_cli_settings *out_settings, hf_cli_setting_id id, const char *value,
                    const char *source)
{
    if (value && !out_settings->value[id]) {
        out_settings->value[id] = value;
        out_settings->source[id] = source;
    }
}

/* Colour has two variables with meanings of their own, agreed upon between many programs. */
static void env_color(hf_cli_settings *out_settings)
{
    const char *force = env_get("CLICOLOR_FORCE");

    env_set(out_settings, HF_CLI_SETTING_COLOR, env_get("NO_COLOR") ? "never" : NULL,
            "environment NO_COLOR");
    env_set(out_settings, HF_CLI_SETTING_COLOR, force && strcmp(force, "0") != 0 ? "always" : NULL,
            "environment CLICOLOR_FORCE");
}

/* Where the file is when no flag says so. False when memory ran out. */
static bool env_config(hf_mem *mem, hf_cli_settings *out_settings)
{
    static const struct {
        const char *env, *below, *source;
    } places[] = {{"HF_CONFIG_HOME", "", "environment HF_CONFIG_HOME"},
                  {"XDG_CONFIG_HOME", "/holdfast", "default"},
                  {"HOME", "/.config/holdfast", "default"}};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const char *folder = env_get(places[i].env);
        char *path = NULL;

        if (!folder || out_settings->value[HF_CLI_SETTING_CONFIG])
            continue;
        path = hf_mem_format(mem, "%s%s/holdfast.ini", folder, places[i].below);
        if (!path)
            return false;
        env_set(out_settings, HF_CLI_SETTING_CONFIG, path, places[i].source);
    }
    return true;
}

/* Flags and environment. Every value is taken before any is checked: an error about one must be
   printed in the format that another asks for. */
static hf_status settings_given(hf_mem *mem, const char *const *flags,
                                hf_cli_settings *out_settings, hf_err *err)
{
    for (int id = 0; id < HF_CLI_SETTING_COUNT; id++) {
        hf_cli_flag_id flag = setting_table[id].flag;
        const char *given = flag == HF_CLI_FLAG_COUNT ? NULL : flags[flag];
        const char *source = given ? hf_mem_format(mem, "flag --%s", hf_cli_flag_at(flag)->name)
                                   : hf_mem_format(mem, "environment %s", setting_table[id].env);

        if (!source)
            return hf_err_nomem(err, "the settings");
        if (given)
            env_set(out_settings, (hf_cli_setting_id)id, hf_cli_flag_at(flag)->value ? given : "on",
                    source);
        else if (id != HF_CLI_SETTING_COLOR && id != HF_CLI_SETTING_CONFIG)
            env_set(out_settings, (hf_cli_setting_id)id, env_get(setting_table[id].env), source);
    }
    env_color(out_settings);
    if (!env_config(mem, out_settings))
        return hf_err_nomem(err, "the settings");
    for (int id = 0; id < HF_CLI_SETTING_COUNT; id++) {
        hf_status st = HF_OK;

        if (out_settings->value[id])
            st = setting_check((hf_cli_setting_id)id, out_settings->value[id],
                               out_settings->source[id], err);
        if (st)
            return st;
    }
    return HF_OK;
}

const hf_cli_setting *hf_cli_setting_at(hf_cli_setting_id id)
{
    HF_ASSERT(id < HF_CLI_SETTING_COUNT);
    return &setting_table[id];
}

hf_status hf_cli_settings_load(hf_mem *mem, const char *const *flags, hf_cli_settings *out_settings,
                               hf_err *err)
{
    hf_status st;

    *out_settings = (hf_cli_settings){0};
    st = settings_given(mem, flags, out_settings, err);
    if (!st)
        st = hf_cli_profile_apply(mem, out_settings, err);
    if (!st)
        st = file_load(mem, flags[HF_CLI_FLAG_CONFIG] != NULL, out_settings, err);
    for (int id = 0; id < HF_CLI_SETTING_COUNT; id++)
        if (!out_settings->value[id]) {
            out_settings->value[id] = setting_table[id].otherwise;
            out_settings->source[id] = setting_table[id].otherwise ? "default" : "unset";
        }
    return st;
}

const char *hf_cli_address_mask(hf_mem *mem, const char *address, bool *out_secret)
{
    const char *masked = hf_cli_utf8(mem, address);
    const char *authority = masked ? strstr(masked, "://") : NULL;
    const char *user_end = authority ? strrchr(authority, '@') : NULL;
    const char *colon = user_end ? strchr(authority + 3, ':') : NULL;
    const char *word = authority ? strstr(masked, "password=") : NULL;
    bool secret = false;

    /* The last @ counts, not the first: a password in which one was not escaped is still hidden. */
    if (colon && colon < user_end) {
        secret = true;
        masked = hf_mem_format(mem, "%.*s:***%s", (int)(colon - masked), masked, user_end);
        word = masked ? strstr(masked, "password=") : NULL;
    }
    for (; word; word = masked ? strstr(word + 1, "password=") : NULL) {
        size_t at = (size_t)(word - masked) + strlen("password=");

        secret = true;
        masked = hf_mem_format(mem, "%.*s***%s", (int)at, masked,
                               masked + at + strcspn(masked + at, "&"));
        word = masked ? masked + at - 1 : word;
    }
    if (out_secret)
        *out_secret = secret;
    return masked;
}
