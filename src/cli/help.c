/* help.c: the verb help: the table as text for a person, as a Markdown page and as a manual page.
   Every word about a command comes from the table; here is only how it is laid out. */
#include <string.h>

#include "base/err.h"
#include "base/slice.h"
#include "cli/verbs.h"
#include "holdfast/tool.h"

enum { COLUMNS = 79 };

static const char help_about[] = "durable workflows as plain C functions";
static const char help_streams[] =
    "Results go to standard output, everything else to standard error. An error says what failed, "
    "why, and which command helps next; with the json and jsonl formats it is an object: error, "
    "with status, message, exit_code and next.";
static const char help_order[] =
    "A flag wins over the environment, the environment over the settings file, the file over the "
    "default.";

/* How a kind of page marks up its parts. */
typedef struct page {
    FILE *out;
    void (*heading)(FILE *out, int level, const char *text);
    void (*text)(FILE *out, const char *text);                   /* paragraphs */
    void (*example)(FILE *out, const char *text);                /* one line of shell */
    void (*item)(FILE *out, const char *term, const char *text); /* of a list */
    void (*end)(FILE *out);                                      /* of a list */
} page;

/* Words of `text` from column `indent` on, broken before the last column. */
static void wrap(FILE *out, const char *text, int indent)
{
    hf_slice rest = hf_slice_of(text);
    hf_slice word;
    int column = indent;

    while (hf_slice_split(&rest, ' ', &word)) {
        if (column > indent && column + 1 + (int)word.len > COLUMNS) {
            (void)fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            (void)fputc(' ', out);
            column++;
        }
        (void)fwrite(word.ptr, 1, word.len, out);
        column += (int)word.len;
    }
    (void)fputc('\n', out);
}

/* ---- plain */

static void plain_heading(FILE *out, int level, const char *text)
{
    (void)level;
    (void)fprintf(out, "%s\n", text);
}

static void plain_text(FILE *out, const char *text)
{
    hf_slice rest = hf_slice_of(text);
    hf_slice line;

    while (hf_slice_split(&rest, '\n', &line)) {
        char paragraph[1024];

        (void)snprintf(paragraph, sizeof(paragraph), "%.*s", (int)line.len, line.ptr);
        wrap(out, paragraph, 0);
    }
    (void)fputc('\n', out);
}

static void plain_example(FILE *out, const char *text)
{
    (void)fprintf(out, "  %s\n", text);
}

static void plain_item(FILE *out, const char *term, const char *text)
{
    enum { TERM_WIDTH = 22 };

    (void)fprintf(out, "  %-*s  ", TERM_WIDTH, term);
    wrap(out, text, TERM_WIDTH + 4);
}

static void plain_end(FILE *out)
{
    (void)fputc('\n', out);
}

/* ---- Markdown */

static void markdown_heading(FILE *out, int level, const char *text)
{
    (void)fprintf(out, "%.*s %s\n\n", level, "###", text);
}

static void markdown_text(FILE *out, const char *text)
{
    (void)fprintf(out, "%s\n\n", text);
}

static void markdown_example(FILE *out, const char *text)
{
    (void)fprintf(out, "```sh\n%s\n```\n", text);
}

static void markdown_item(FILE *out, const char *term, const char *text)
{
    (void)fprintf(out, "- `%s`: %s\n", term, text);
}

static void markdown_end(FILE *out)
{
    (void)fputc('\n', out);
}

/* ---- roff */

/* Text in which nothing is taken for a request or an escape. */
static void roff_write(FILE *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        if (*at == '\\')
            (void)fputs("\\e", out);
        else if (*at == '-')
            (void)fputs("\\-", out);
        else if (*at == '\n' && at[1] == '\n')
            (void)fputs("\n.PP", out);
        else if (at == text && (*at == '.' || *at == '\''))
            (void)fprintf(out, "\\&%c", *at);
        else
            (void)fputc(*at, out);
    }
}

static void roff_heading(FILE *out, int level, const char *text)
{
    (void)fputs(level == 3 ? ".SS \"" : ".SH \"", out);
    roff_write(out, text);
    (void)fputs("\"\n", out);
}

static void roff_text(FILE *out, const char *text)
{
    (void)fputs(".PP\n", out);
    roff_write(out, text);
    (void)fputc('\n', out);
}

static void roff_example(FILE *out, const char *text)
{
    (void)fputs(".PP\n.in +4n\n.EX\n", out);
    roff_write(out, text);
    (void)fputs("\n.EE\n.in\n", out);
}

static void roff_end(FILE *out)
{
    (void)out;
}

static void roff_item(FILE *out, const char *term, const char *text)
{
    (void)fputs(".TP\n.B \"", out);
    roff_write(out, term);
    (void)fputs("\"\n", out);
    roff_write(out, text);
    (void)fputc('\n', out);
}

/* ---- what all pages say */

static void usage_format(const hf_cli_command *command, char *out_text, size_t bytes)
{
    int len = snprintf(out_text, bytes, "holdfast %s", command->name);

    for (const hf_cli_arg *arg = command->args; arg->name; arg++)
        len += snprintf(out_text + len, bytes - (size_t)len, arg->optional ? " [%s]" : " %s",
                        arg->name);
    (void)snprintf(out_text + len, bytes - (size_t)len, command->many ? "... [flags]" : " [flags]");
}

static void flag_write(const page *to, const hf_cli_command *command, hf_cli_flag_id id)
{
    const hf_cli_flag *flag = hf_cli_flag_at(id);
    char term[64];
    char text[256];
    int len = snprintf(text, sizeof(text), "%s", flag->sentence);

    (void)snprintf(term, sizeof(term), "%s%.1s%s--%s%s%s", flag->letter ? "-" : "", &flag->letter,
                   flag->letter ? ", " : "", flag->name, flag->value ? " " : "",
                   flag->value ? flag->value : "");
    if (id == HF_CLI_FLAG_OUTPUT) {
        len += snprintf(text + len, sizeof(text) - (size_t)len, ":");
        for (int format = 0; format < HF_CLI_FORMAT_COUNT; format++)
            if (command->formats & 1U << format)
                len += snprintf(text + len, sizeof(text) - (size_t)len, " %s",
                                hf_cli_format_text((hf_cli_format)format));
    } else if (flag->choices) {
        (void)snprintf(text + len, sizeof(text) - (size_t)len, ": %s", flag->choices);
    }
    to->item(to->out, term, text);
}

/* What the code means for the command, if it has it. */
static void exit_write(const page *to, const hf_cli_command *command, hf_cli_exit code)
{
    const hf_cli_exit_rule *rule = command->exits;
    char text[16];

    while (rule->code != code && (rule == command->exits || rule->code))
        rule++;
    if (rule->code != code || (rule != command->exits && !rule->code))
        return;
    (void)snprintf(text, sizeof(text), "%d", (int)code);
    to->item(to->out, text, rule->sentence ? rule->sentence : hf_cli_exit_sentence(code));
}

static void command_write(const page *to, const hf_cli_command *command, int level)
{
    hf_cli_exit code;
    char usage[128];

    usage_format(command, usage, sizeof(usage));
    to->example(to->out, usage);
    to->end(to->out);
    to->text(to->out, command->text);
    to->heading(to->out, level, "Example");
    to->example(to->out, command->example);
    to->end(to->out);
    to->heading(to->out, level, "Flags");
    for (int id = 0; id < HF_CLI_FLAG_COUNT; id++)
        if (hf_cli_command_takes(command, (hf_cli_flag_id)id))
            flag_write(to, command, (hf_cli_flag_id)id);
    to->end(to->out);
    to->heading(to->out, level, "Exit codes");
    for (int row = 0; hf_cli_exit_row(row, &code); row++)
        exit_write(to, command, code);
}

static void commands_write(const page *to)
{
    const hf_cli_command *command;

    for (size_t i = 0; (command = hf_cli_command_at(i)); i++)
        to->item(to->out, command->name, command->summary);
    to->end(to->out);
}

static void settings_write(const page *to)
{
    for (int id = 0; id < HF_CLI_SETTING_COUNT; id++) {
        const hf_cli_setting *setting = hf_cli_setting_at((hf_cli_setting_id)id);
        char term[64];
        char text[512];
        int len = snprintf(text, sizeof(text), "%s", setting->sentence);

        (void)snprintf(term, sizeof(term), "%s, %s", setting->name, setting->env);
        if (setting->flag != HF_CLI_FLAG_COUNT)
            len += snprintf(text + len, sizeof(text) - (size_t)len, "; flag --%s",
                            hf_cli_flag_at(setting->flag)->name);
        if (setting->otherwise)
            (void)snprintf(text + len, sizeof(text) - (size_t)len, "; default %s",
                           setting->otherwise);
        to->item(to->out, term, text);
    }
    to->end(to->out);
}

static void exits_write(const page *to)
{
    hf_cli_exit code;
    const char *sentence;

    for (int row = 0; (sentence = hf_cli_exit_row(row, &code)); row++) {
        char number[16];

        (void)snprintf(number, sizeof(number), "%d", (int)code);
        to->item(to->out, number, sentence);
    }
}

/* The reference: everything there is. */
static void reference_write(const page *to)
{
    const hf_cli_command *command;

    to->heading(to->out, 2, "Commands");
    commands_write(to);
    to->text(to->out, help_streams);
    for (size_t i = 0; (command = hf_cli_command_at(i)); i++) {
        char title[64];

        (void)snprintf(title, sizeof(title), "holdfast %s", command->name);
        to->heading(to->out, 2, title);
        command_write(to, command, 3);
        to->end(to->out);
    }
    to->heading(to->out, 2, "Settings");
    to->text(to->out, help_order);
    settings_write(to);
    to->heading(to->out, 2, "Exit codes");
    exits_write(to);
}

static page plain_page(FILE *out)
{
    return (page){out, plain_heading, plain_text, plain_example, plain_item, plain_end};
}

void hf_cli_help_overview(FILE *out)
{
    page to = plain_page(out);

    (void)fprintf(out, "holdfast %s: %s\n\n", hf_version_text(), help_about);
    to.heading(out, 2, "Usage");
    to.example(out, "holdfast COMMAND [arguments] [flags]");
    to.example(out, "holdfast help COMMAND");
    to.end(out);
    to.heading(out, 2, "Commands");
    commands_write(&to);
    to.heading(out, 2, "Settings");
    settings_write(&to);
    to.heading(out, 2, "Exit codes");
    exits_write(&to);
}

hf_status hf_cli_help(hf_cli_call *call, hf_err *err)
{
    FILE *out = call->print.out;
    page plain = plain_page(out);
    page markdown = {out,           markdown_heading, markdown_text, markdown_example,
                     markdown_item, markdown_end};
    page roff = {out, roff_heading, roff_text, roff_example, roff_item, roff_end};
    const char *name = call->args[0];
    const hf_cli_command *command = name ? hf_cli_command_find(name) : NULL;
    const char *nearest = name ? hf_cli_command_nearest(name) : NULL;

    if (name && !command && nearest)
        return hf_err_set(err, HF_INVALID, "there is no command %s; did you mean %s?", name,
                          nearest);
    if (name && !command)
        return hf_err_set(err, HF_INVALID, "there is no command %s", name);
    if (call->flags[HF_CLI_FLAG_MARKDOWN]) {
        markdown_heading(out, 1, "The command line");
        (void)fputs("<!-- Made by `holdfast help --markdown`; do not edit. -->\n\n", out);
        reference_write(&markdown);
    } else if (call->flags[HF_CLI_FLAG_MAN]) {
        (void)fprintf(out,
                      ".\\\" Made by `holdfast help --man`; do not edit.\n"
                      ".TH HOLDFAST 1 \"\" \"holdfast %s\"\n.SH NAME\nholdfast \\- %s\n"
                      ".SH SYNOPSIS\n.B holdfast\n.I COMMAND\n[arguments] [flags]\n",
                      hf_version_text(), help_about);
        reference_write(&roff);
    } else if (command) {
        (void)fprintf(out, "%s: %s\n\n", command->name, command->summary);
        command_write(&plain, command, 2);
    } else {
        hf_cli_help_overview(out);
    }
    return hf_cli_print_flush(&call->print, err);
}
