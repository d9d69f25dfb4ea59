/* cli.c: one command line from its words to its exit code. The rule: failures travel here as a
   status and a text and are printed once; nothing below ends the process. */
#include "cli/cli.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "cli/nearest.h"
#include "cli/target.h"
#include "holdfast/tool.h"

/* The flag that a word names: --name, --name=value, -x or -xvalue. *out_value is the value inside
   the word or NULL. HF_CLI_FLAG_COUNT when the command has none of that name. */
static hf_cli_flag_id flag_find(const hf_cli_command *command, const char *word,
                                const char **out_value)
{
    bool is_long = word[1] == '-';
    size_t name_len = is_long ? strcspn(word + 2, "=") : 1;
    hf_slice name = hf_slice_from(word + (is_long ? 2 : 1), name_len);
    const char *rest = name.ptr + name_len;

    *out_value = is_long && *rest ? rest + 1 : !is_long && *rest ? rest : NULL;
    for (int id = 0; id < HF_CLI_FLAG_COUNT; id++) {
        const hf_cli_flag *flag = hf_cli_flag_at((hf_cli_flag_id)id);

        if (hf_cli_command_takes(command, (hf_cli_flag_id)id) &&
            (is_long ? hf_slice_equal(name, hf_slice_of(flag->name)) : flag->letter == *name.ptr))
            return (hf_cli_flag_id)id;
    }
    return HF_CLI_FLAG_COUNT;
}

static hf_status flag_unknown(const hf_cli_command *command, const char *word, hf_err *err)
{
    const char *nearest = hf_cli_flag_nearest(command, word + strspn(word, "-"));

    if (!nearest)
        return hf_err_set(err, HF_INVALID, "unknown flag %s for %s", word, command->name);
    return hf_err_set(err, HF_INVALID, "unknown flag %s for %s; did you mean --%s?", word,
                      command->name, nearest);
}

/* Takes the flag at argv[*at], and its value when that is the next word. */
static hf_status flag_read(hf_cli_call *call, int argc, char **argv, int *at, hf_err *err)
{
    const char *word = argv[*at];
    const char *value;
    hf_cli_flag_id id = flag_find(call->command, word, &value);
    const hf_cli_flag *flag;

    if (id == HF_CLI_FLAG_COUNT)
        return flag_unknown(call->command, word, err);
    flag = hf_cli_flag_at(id);
    if (!flag->value && value)
        return hf_err_set(err, HF_INVALID, "--%s takes no value", flag->name);
    if (flag->value && !value && *at + 1 == argc)
        return hf_err_set(err, HF_INVALID, "--%s needs a %s", flag->name, flag->value);
    if (flag->value && !value)
        value = argv[++*at];
    if (flag->choices && !hf_cli_choice(flag->choices, hf_slice_of(value)))
        return hf_err_set(err, HF_INVALID, "--%s is \"%s\", but must be one of: %s", flag->name,
                          value, flag->choices);
    call->flags[id] = value ? value : "";
    if (id == HF_CLI_FLAG_JSON)
        call->flags[HF_CLI_FLAG_OUTPUT] = "json";
    return HF_OK;
}

/* Puts the words that are no flags into their places: when some are missing, the first ones are, or
   the last ones when the first is needed. */
static hf_status args_place(hf_cli_call *call, const char **words, size_t count, hf_err *err)
{
    const hf_cli_arg *args = call->command->args;
    bool from_end = args[0].name && args[0].optional;
    size_t max = 0;

    while (args[max].name)
        max++;
    if (count > max && call->command->many)
        count = max;
    if (count > max)
        return hf_err_set(err, HF_INVALID,
                          "%s takes no more than %zu argument%s: \"%s\" is too much",
                          call->command->name, max, max == 1 ? "" : "s", words[max]);
    for (size_t i = 0; i < max; i++) {
        size_t missing = max - count;
        bool absent = from_end ? i < missing : i >= count;

        if (absent && !args[i].optional)
            return hf_err_set(err, HF_INVALID, "%s needs %s %s", call->command->name,
                              strchr("AEIOU", args[i].name[0]) ? "an" : "a", args[i].name);
        call->args[i] = absent ? NULL : words[from_end ? i - missing : i];
        if (call->args[i] && args[i].choices && strcmp(args[i].choices, args[i].name) != 0 &&
            !hf_cli_choice(args[i].choices, hf_slice_of(call->args[i])))
            return hf_err_set(err, HF_INVALID, "%s is \"%s\", but must be one of: %s", args[i].name,
                              call->args[i], args[i].choices);
    }
    return HF_OK;
}

/* Reads everything after the command. It goes on after a mistake, so that the error can be printed
   in the format that a later flag asks for; the first mistake is the one reported. */
static hf_status call_read(hf_cli_call *call, int argc, char **argv, hf_err *err)
{
    const char **words = hf_mem_array(call->mem, (size_t)argc, sizeof(char *));
    size_t count = 0;
    bool only_words = false;
    hf_status first = HF_OK;

    if (!words)
        return hf_err_nomem(err, "the command line");
    for (int at = 2; at < argc; at++) {
        if (!only_words && strcmp(argv[at], "--") == 0) {
            only_words = true;
        } else if (!only_words && argv[at][0] == '-' && argv[at][1]) {
            hf_status st = flag_read(call, argc, argv, &at, first ? NULL : err);

            first = first ? first : st;
        } else {
            words[count++] = argv[at];
        }
    }
    call->words = words;
    call->word_count = count;
    if (call->flags[HF_CLI_FLAG_HELP])
        return HF_OK;
    return first ? first : args_place(call, words, count, err);
}

static hf_status command_read(hf_cli_call *call, const char *word, hf_err *err)
{
    const char *nearest;

    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        word = "help";
    if (strcmp(word, "--version") == 0)
        word = "version";
    call->command = hf_cli_command_find(word);
    if (call->command)
        return HF_OK;
    if (word[0] == '-')
        return hf_err_set(err, HF_INVALID,
                          "the command comes before its flags, so %s cannot be first", word);
    nearest = hf_cli_command_nearest(word);
    return hf_err_set(err, HF_INVALID,
                      nearest ? "unknown command %s; did you mean %s?" : "unknown command %s", word,
                      nearest);
}

/* The format that is set, when the command has it. Only a flag insists: what the environment or a
   file says is meant for all commands. */
static hf_status format_choose(hf_cli_call *call, hf_err *err)
{
    const char *wanted = call->settings.value[HF_CLI_SETTING_OUTPUT];
    hf_buf formats = {0};
    hf_status st;

    for (int format = 0; format < HF_CLI_FORMAT_COUNT; format++) {
        if (!(call->command->formats & 1U << format))
            continue;
        if (strcmp(wanted, hf_cli_format_text((hf_cli_format)format)) == 0) {
            call->print.format = (hf_cli_format)format;
            hf_buf_fini(&formats);
            return HF_OK;
        }
        hf_buf_add_format(&formats, " %s", hf_cli_format_text((hf_cli_format)format));
    }
    st = call->flags[HF_CLI_FLAG_OUTPUT]
             ? hf_err_set(err, HF_INVALID, "%s cannot print %s, only:%s", call->command->name,
                          wanted, hf_buf_text(&formats))
             : HF_OK;
    hf_buf_fini(&formats);
    return st;
}

hf_status hf_cli_store_look(const hf_cli_call *call, hf_err *err)
{
    const hf_tool_options options = {.size = sizeof(options), .schema = call->schema};
    hf_tool_info info = {.size = sizeof(info)};

    return hf_tool_inspect(call->store, &options, &info, err);
}

hf_status hf_cli_store_choose(hf_cli_call *call, hf_err *err)
{
    const char *first = call->command->args[0].name;
    const char *given = call->flags[HF_CLI_FLAG_STORE];
    const char *how = "as the first argument";
    bool secret = false;

    if (!first || strcmp(first, "STORE") != 0)
        how = "with --store";
    else if (!given)
        given = call->args[0];
    /* Only a schema that somebody asked for may contradict the one in an address. */
    if (strcmp(call->settings.source[HF_CLI_SETTING_SCHEMA], "default") != 0)
        call->schema = call->settings.value[HF_CLI_SETTING_SCHEMA];
    if (given && call->flags[HF_CLI_FLAG_URL])
        return hf_err_set(err, HF_INVALID, "--store and --url say the same: give one of them");
    if (!given)
        given = call->flags[HF_CLI_FLAG_URL];
    call->store = given ? given : call->settings.value[HF_CLI_SETTING_URL];
    if (!call->store && call->command->target) {
        hf_status st = hf_cli_nearest_find(call, err);

        if (st)
            return st;
    }
    if (!call->store)
        return hf_err_set(err, HF_INVALID, "%s needs a STORE: give it %s, or set HF_URL",
                          call->command->name, how);
    call->shown_store = hf_cli_address_mask(call->mem, call->store, &secret);
    if (!call->shown_store)
        return hf_err_nomem(err, "the address");
    if (secret && given)
        return hf_err_set(
            err, HF_INVALID,
            "a password on the command line can be read by every user of this machine; "
            "put it into HF_URL, PGPASSWORD or ~/.pgpass");
    return HF_OK;
}

/* Settings, format and store: what the command needs before it runs. */
static hf_status call_prepare(hf_cli_call *call, hf_err *err)
{
    hf_err usage = {0};
    hf_status st = hf_cli_settings_load(call->mem, call->flags, &call->settings, err);
    hf_status format_st = HF_OK;

    if (call->settings.value[HF_CLI_SETTING_OUTPUT])
        format_st = format_choose(call, &usage);
    hf_cli_print_color(&call->print, call->settings.value[HF_CLI_SETTING_COLOR]);
    if (st)
        return st;
    if (format_st)
        return hf_err_set(err, format_st, "%s", usage.text);
    return call->command->store || call->command->target ? hf_cli_store_choose(call, err) : HF_OK;
}

/* `text` as one word of a shell command. */
static void next_word(hf_buf *buf, const char *text)
{
    hf_slice rest = hf_slice_of(text);
    hf_slice part;

    if (text[0] &&
        text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                          "_-./:@%+,=")] == '\0') {
        hf_buf_add_text(buf, text);
        return;
    }
    hf_buf_add_byte(buf, '\'');
    for (size_t i = 0; hf_slice_split(&rest, '\'', &part); i++) {
        hf_buf_add_text(buf, i ? "'\\''" : "");
        hf_buf_add_slice(buf, part);
    }
    hf_buf_add_byte(buf, '\'');
}

/* Whether `next` is the command that just failed. */
static bool next_same(const hf_cli_call *call, const char *next)
{
    const char *verb = next + strlen("holdfast ");

    return call->command && strncmp(next, "holdfast ", strlen("holdfast ")) == 0 &&
           strncmp(verb, call->command->name, strcspn(verb, " ")) == 0;
}

/* The flag that says where this call went, when it had one. */
static void here_write(const hf_cli_call *call, hf_buf *buf)
{
    bool store = call->flags[HF_CLI_FLAG_STORE] != NULL;

    if (!call->shown_store || (!store && !call->flags[HF_CLI_FLAG_URL]))
        return;
    hf_buf_add_text(buf, store ? " --store " : " --url ");
    next_word(buf, call->shown_store);
}

/* The words of a command, where {verb} and {store} stand for those of this call and {here} for
   where it went. */
static void next_words(const hf_cli_call *call, const char *text, hf_buf *buf)
{
    hf_slice rest = hf_slice_of(text);
    hf_slice word;

    while (hf_slice_split(&rest, ' ', &word)) {
        bool verb = hf_slice_equal(word, HF_SLICE("{verb}"));

        if (verb && !call->command)
            continue;
        if (hf_slice_equal(word, HF_SLICE("{here}"))) {
            here_write(call, buf);
            continue;
        }
        if (buf->len)
            hf_buf_add_byte(buf, ' ');
        if (hf_slice_equal(word, HF_SLICE("{store}")))
            next_word(buf, call->shown_store);
        else if (call->app && hf_slice_equal(word, HF_SLICE("holdfast")))
            next_word(buf, call->program);
        else
            hf_buf_add_slice(buf, verb ? hf_slice_of(call->command->name) : word);
    }
}

const char *hf_cli_command_text(hf_cli_call *call, const char *text)
{
    hf_buf buf = {0};
    const char *made;

    next_words(call, text, &buf);
    made = hf_buf_ok(&buf) ? hf_mem_text(call->mem, hf_buf_slice(&buf)) : NULL;
    hf_buf_fini(&buf);
    return made;
}

/* Writes the command that helps after `status`. It is help when it is about a store and there is
   none, when it would be the same command again, or when something else than the store is missing.
 */
static void next_write(const hf_cli_call *call, hf_status status, hf_buf *buf)
{
    const char *text = call->next ? call->next : hf_cli_exit_next(status);
    bool store = call->shown_store && !hf_cli_address_remote(call->store);

    if ((strstr(text, "{store}") && !store) || next_same(call, text) ||
        (status == HF_NOTFOUND && !call->next && store && !hf_cli_store_look(call, NULL)))
        text = hf_cli_exit_next(HF_INVALID);
    next_words(call, text, buf);
}

/* Prints the failure and returns its exit code. */
static hf_cli_exit call_fail(hf_cli_call *call, hf_status status, hf_err *err)
{
    hf_cli_exit code = hf_cli_exit_of(status);
    hf_buf next = {0};
    char what[HF_ERR_TEXT_MAX] = "";

    if (code == HF_CLI_EXIT_INTERRUPTED && hf_cli_print_flush(&call->print, NULL) == HF_CANCELLED)
        return HF_CLI_EXIT_PIPE;
    if (!err->text[0])
        (void)hf_err_set(err, status, "%s", hf_status_sentence(status));
    if (call->command && call->command->failure && code != HF_CLI_EXIT_INTERRUPTED)
        code = call->command->failure;
    if (call->shown_store)
        (void)snprintf(what, sizeof(what), "%s of %s failed", call->command->name,
                       call->shown_store);
    next_write(call, status, &next);
    hf_cli_print_error(&call->print, call->mem, err, what[0] ? what : NULL,
                       next.len && hf_buf_ok(&next) ? hf_buf_text(&next) : NULL, code);
    hf_buf_fini(&next);
    return code;
}

static hf_status call_run(hf_cli_call *call, int argc, char **argv, hf_err *err)
{
    hf_status st = command_read(call, argv[1], err);
    hf_status prepared = HF_OK;
    hf_err prepare_err = {0};

    if (st)
        return st;
    st = call_read(call, argc, argv, err);
    if (!st && call->flags[HF_CLI_FLAG_HELP]) {
        call->args[0] = call->command->name;
        return hf_cli_help(call, err);
    }
    if (call->command->formats)
        prepared = call_prepare(call, &prepare_err);
    if (st)
        call->shown_store = NULL; /* a mistake in the command line is not about the store */
    if (!st && prepared)
        st = hf_err_set(err, prepared, "%s", prepare_err.text);
    if (!st)
        st = call->command->run(call, err);
    return st ? st : hf_cli_print_flush(&call->print, err);
}

int hf_cli_main_for(int argc, char **argv, const hf_app *app)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction old_pipe;
    hf_cli_call call = {.exit = HF_CLI_EXIT_OK, .app = app, .program = argv[0]};
    hf_err err = {0};
    hf_status st;
    int64_t started_us = hf_clock_mono_us(hf_clock_system());
    bool debug;

    hf_cli_print_init(&call.print);
    if (argc < 2) {
        hf_cli_help_overview(call.print.err);
        return HF_CLI_EXIT_USAGE;
    }
    /* A reader that goes away is seen as a failed write, so that work in hand is cleaned up. */
    (void)sigemptyset(&ignore.sa_mask);
    (void)sigaction(SIGPIPE, &ignore, &old_pipe);
    call.mem = hf_mem_new();
    st = call.mem ? call_run(&call, argc, argv, &err) : hf_err_nomem(&err, "the command line");
    debug = call.settings.value[HF_CLI_SETTING_DEBUG] &&
            strcmp(call.settings.value[HF_CLI_SETTING_DEBUG], "on") == 0;
    if (st)
        call.exit = call_fail(&call, st, &err);
    if (debug)
        (void)fprintf(call.print.err, "debug: status %s, exit code %d, %.3f s\n", hf_strstatus(st),
                      (int)call.exit,
                      (double)(hf_clock_mono_us(hf_clock_system()) - started_us) / 1e6);
    hf_mem_free(call.mem);
    (void)sigaction(SIGPIPE, &old_pipe, NULL);
    return (int)call.exit;
}

int hf_cli_main(int argc, char **argv)
{
    return hf_cli_main_for(argc, argv, NULL);
}
