/* print.c: output. The rules: nothing from outside is printed except through text_print, which
   escapes; JSON is made by the writer in base and only made harmless for terminals here. A value
   and a row hold the stream's lock: in a program with hf_main the user's code prints as well. */
#include "cli/print.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"

#define COLOR_RED    "\033[31m"
#define COLOR_YELLOW "\033[33m"
#define COLOR_OFF    "\033[0m"

/* Whether a terminal may act on it, or a person be misled by it. */
static bool point_unsafe(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point <= 0x9F) || point == 0x061C || point == 0x200E ||
           point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069) || point == 0xFEFF;
}

/* Prints `text` escaped and returns how many characters that took. In JSON text such characters
   occur inside strings only, where \u is how to write them. */
static int text_print(FILE *file, hf_slice text, bool json)
{
    int width = 0;

    for (size_t at = 0, size; at < text.len; at += size) {
        size = hf_utf8_size(text.ptr + at, text.len - at);
        if (size == 0) {
            size = 1;
            width += fprintf(file, "\\x%02x", (unsigned)(unsigned char)text.ptr[at]);
        } else if (point_unsafe(hf_utf8_point(text.ptr + at, size))) {
            uint32_t point = hf_utf8_point(text.ptr + at, size);

            if (!json && point == '\n')
                width += fprintf(file, "\\n");
            else
                width += fprintf(file, json || point > 0xFF ? "\\u%04x" : "\\x%02x", point);
        } else {
            (void)fwrite(text.ptr + at, 1, size, file);
            width++;
        }
    }
    return width;
}

/* What a cell says, borrowed from `value` or from `buf`. */
static hf_slice cell_text(hf_buf *buf, hf_value value)
{
    if (hf_value_kind_of(value) == HF_VALUE_STRING)
        return hf_value_slice(value);
    hf_buf_clear(buf);
    if (hf_value_kind_of(value) != HF_VALUE_NULL)
        hf_json_write(buf, value);
    return hf_buf_slice(buf);
}

static void table_cell(hf_cli_print *print, const hf_cli_column *column, hf_slice text)
{
    const char *color = NULL;
    int width;

    if (print->out_color && column->severity)
        color = hf_slice_equal(text, HF_SLICE("stop")) ? COLOR_RED : COLOR_YELLOW;
    if (color)
        (void)fputs(color, print->out);
    width = text_print(print->out, text, false);
    if (color)
        (void)fputs(COLOR_OFF, print->out);
    if (column[1].key)
        (void)fprintf(print->out, "%*s  ", width < column->width ? column->width - width : 0, "");
}

static void table_heading(hf_cli_print *print, const hf_cli_column *columns)
{
    for (const hf_cli_column *column = columns; column->key; column++) {
        for (const char *at = column->key; *at; at++)
            (void)fputc(*at == '_' ? ' ' : *at - 'a' + 'A',
                        print->out); /* else lower case letters */
        if (column[1].key)
            (void)fprintf(print->out, "%*s  ", column->width - (int)strlen(column->key), "");
    }
    (void)fputc('\n', print->out);
    print->headed = true;
}

/* A cell of comma-separated values: quoted when it has to be (RFC 4180). */
static void csv_cell(FILE *out, hf_slice text, bool last)
{
    bool quoted = false;

    for (size_t i = 0; i < text.len; i++)
        quoted = quoted || strchr(",\"\r\n", text.ptr[i]);
    if (quoted)
        (void)fputc('"', out);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            (void)fputc('"', out);
        (void)fputc(text.ptr[i], out);
    }
    (void)fputs(quoted ? "\"" : "", out);
    (void)fputc(last ? '\n' : ',', out);
}

static void csv_heading(hf_cli_print *print, const hf_cli_column *columns)
{
    for (const hf_cli_column *column = columns; column->key; column++)
        csv_cell(print->out, hf_slice_of(column->key), !column[1].key);
    print->headed = true;
}

static bool stream_color(FILE *file, const char *when)
{
    const char *term = getenv("TERM");

    if (strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    return isatty(fileno(file)) && term && strcmp(term, "dumb") != 0;
}

void hf_cli_print_init(hf_cli_print *print)
{
    *print = (hf_cli_print){.out = stdout, .err = stderr, .format = HF_CLI_TABLE};
}

void hf_cli_print_color(hf_cli_print *print, const char *when)
{
    print->out_color = stream_color(print->out, when);
    print->err_color = stream_color(print->err, when);
}

void hf_cli_print_text(FILE *file, const char *text)
{
    (void)text_print(file, hf_slice_of(text), false);
}

hf_status hf_cli_print_value(FILE *file, hf_value value, hf_err *err)
{
    hf_buf buf = {0};
    bool ok;

    hf_json_write(&buf, value);
    ok = value && hf_buf_ok(&buf);
    if (ok) {
        flockfile(file);
        (void)text_print(file, hf_buf_slice(&buf), true);
        (void)fputc('\n', file);
        funlockfile(file);
    }
    hf_buf_fini(&buf);
    return ok ? HF_OK : hf_err_nomem(err, "the output");
}

hf_status hf_cli_print_row(hf_cli_print *print, const hf_cli_column *columns, hf_value row,
                           hf_err *err)
{
    hf_buf buf = {0};
    bool ok;

    if (print->format == HF_CLI_JSONL)
        return hf_cli_print_value(print->out, row, err);
    if (print->format == HF_CLI_NONE)
        return HF_OK;
    flockfile(print->out);
    if (!print->headed && print->format == HF_CLI_CSV)
        csv_heading(print, columns);
    else if (!print->headed && print->format != HF_CLI_NAME)
        table_heading(print, columns);
    for (const hf_cli_column *column = columns; column->key; column++) {
        hf_slice text = cell_text(&buf, hf_value_find(row, hf_slice_of(column->key)));

        if (print->format == HF_CLI_CSV)
            csv_cell(print->out, text, !column[1].key);
        else if (print->format != HF_CLI_NAME)
            table_cell(print, column, text);
        else if (column == columns)
            (void)text_print(print->out, text, false);
    }
    if (print->format != HF_CLI_CSV)
        (void)fputc('\n', print->out);
    funlockfile(print->out);
    ok = row && hf_buf_ok(&buf);
    hf_buf_fini(&buf);
    return ok ? HF_OK : hf_err_nomem(err, "a row of the output");
}

const char *hf_cli_utf8(hf_mem *mem, const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t left = strlen(text);
    char *copy = hf_mem_bytes(mem, left * (sizeof(replacement) - 1) + 1);
    char *at = copy;

    while (copy && left > 0) {
        size_t size = hf_utf8_size(text, left);

        memcpy(at, size ? text : replacement, size ? size : sizeof(replacement) - 1);
        at += size ? size : sizeof(replacement) - 1;
        text += size ? size : 1;
        left -= size ? size : 1;
    }
    if (copy)
        *at = '\0';
    return copy;
}

void hf_cli_print_error(hf_cli_print *print, hf_mem *mem, const hf_err *why, const char *what,
                        const char *next, hf_cli_exit code)
{
    const char *lead = what ? what : why->text;
    const char *message =
        mem ? hf_mem_format(mem, what ? "%s: %s" : "%s%s", what ? what : "", why->text) : NULL;
    bool json = print->format == HF_CLI_JSON || print->format == HF_CLI_JSONL;

    (void)fflush(print->out); /* in a shared terminal or file the data comes first */
    if (json && message) {
        hf_value object = hf_json_(mem,
                                   "{'error': {'status': %s, 'message': %s, 'exit_code': %d, "
                                   "'next': %s}}",
                                   hf_strstatus(why->status), hf_cli_utf8(mem, message), (int)code,
                                   next ? hf_cli_utf8(mem, next) : NULL);

        if (hf_cli_print_value(print->err, object, NULL) == HF_OK)
            return;
    }
    (void)fprintf(print->err, "%serror:%s ", print->err_color ? COLOR_RED : "",
                  print->err_color ? COLOR_OFF : "");
    hf_cli_print_text(print->err, lead);
    if (what) {
        (void)fputs("\nwhy:   ", print->err);
        hf_cli_print_text(print->err, why->text);
    }
    if (next) {
        (void)fputs("\nnext:  ", print->err);
        hf_cli_print_text(print->err, next);
    }
    (void)fputc('\n', print->err);
}

hf_status hf_cli_print_flush(hf_cli_print *print, hf_err *err)
{
    struct pollfd reader = {.fd = fileno(print->out), .events = POLLOUT};

    if (fflush(print->out) == 0 && !ferror(print->out))
        return HF_OK;
    /* errno may be of any later call by now, so the descriptor itself is asked. */
    if (poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR))
        return hf_err_set(err, HF_CANCELLED, "the reader of the output went away");
    return hf_err_set(err, HF_IO, "the output could not be written");
}
