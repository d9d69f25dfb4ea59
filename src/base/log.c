/* log.c: log entries as lines of JSON. Escapes by itself, since it must work when nothing else
   does; must never allocate. */
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"

enum { LINE_TAIL_BYTES = 16, NUMBER_SIZE = 24, ESCAPE_SIZE = 8 };

static const char line_end[] = "}\n";
static const char line_end_cut[] = ",\"cut\":true}\n";

_Static_assert(sizeof(line_end_cut) <= LINE_TAIL_BYTES, "the end of a cut line must always fit");

/* A line being written. Room for its end is kept back. */
typedef struct line_out {
    char *bytes; /* HF_LOG_LINE_MAX */
    size_t len;
    bool cut; /* something did not fit; nothing more is taken */
} line_out;

/* Appends all of it or nothing; `keep` bytes must remain free behind it. */
static bool line_add(line_out *line, const char *bytes, size_t len, size_t keep)
{
    if (line->cut || len + keep > HF_LOG_LINE_MAX - LINE_TAIL_BYTES - line->len) {
        line->cut = true;
        return false;
    }
    memcpy(line->bytes + line->len, bytes, len);
    line->len += len;
    return true;
}

/* Length of the UTF-8 character at the front of `text`, which is not empty, and its code point; 0
   when the bytes there are no such character (over-long forms and surrogates are none). */
static size_t character_decode(hf_slice text, uint32_t *out_point)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len;
    uint32_t point;

    if (at[0] < 0x80) {
        *out_point = at[0];
        return 1;
    }
    if (at[0] < 0xC0 || at[0] > 0xF4)
        return 0;
    len = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    if (text.len < len)
        return 0;
    point = at[0] & (0x7FU >> len);
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        point = point << 6 | (at[i] & 0x3FU);
    }
    if (point < least[len] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
        return 0;
    *out_point = point;
    return len;
}

/* Control characters, line separators, and marks that reorder the text around them. */
static bool point_is_unsafe(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point <= 0x9F) || point == 0x61C || point == 0x200E ||
           point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069) || point == 0xFEFF;
}

/* Appends a JSON string. When it does not fit it ends early, after a whole character. */
static void line_add_string(line_out *line, hf_slice text)
{
    if (!line_add(line, "\"", 1, 1))
        return;
    while (text.len) {
        char escape[ESCAPE_SIZE];
        uint32_t point = 0;
        size_t len = character_decode(text, &point);
        hf_slice out = hf_slice_from(text.ptr, len);

        if (len == 0 || point_is_unsafe(point)) {
            (void)snprintf(escape, sizeof(escape), "\\u%04x", len ? (unsigned)point : 0xFFFDU);
            out = hf_slice_of(escape);
        } else if (point == '"' || point == '\\') {
            escape[0] = '\\';
            escape[1] = (char)point;
            out = hf_slice_from(escape, 2);
        }
        if (!line_add(line, out.ptr, out.len, 1))
            break;
        text.ptr += len ? len : 1;
        text.len -= len ? len : 1;
    }
    line->bytes[line->len++] = '"'; /* room was kept */
}

static void line_add_int(line_out *line, int64_t number)
{
    char text[NUMBER_SIZE];
    int len = snprintf(text, sizeof(text), "%lld", (long long)number);

    (void)line_add(line, text, (size_t)len, 0);
}

static void line_add_time(line_out *line, int64_t wall_us)
{
    char text[HF_CLOCK_TEXT_SIZE];

    if (!hf_clock_print(wall_us, text)) {
        line_add_int(line, wall_us); /* outside the calendar: the bare number still tells */
        return;
    }
    if (line_add(line, "\"", 1, HF_CLOCK_TEXT_SIZE)) {
        (void)line_add(line, text, HF_CLOCK_TEXT_SIZE - 1, 1);
        (void)line_add(line, "\"", 1, 0);
    }
}

/* Appends ,"key":value whole, except that a long text may be cut; or nothing at all. */
static void line_add_field(line_out *line, const hf_log_field *field)
{
    size_t start = line->len;
    size_t before_value;

    (void)line_add(line, ",", 1, 0);
    line_add_string(line, hf_slice_of(field->key));
    (void)line_add(line, ":", 1, 0);
    if (line->cut) {
        line->len = start;
        return;
    }
    before_value = line->len;
    switch (field->kind) {
    case HF_LOG_TEXT:
        line_add_string(line, field->text);
        break;
    case HF_LOG_INT:
        line_add_int(line, field->number);
        break;
    case HF_LOG_TIME:
        line_add_time(line, field->number);
        break;
    }
    if (line->len == before_value)
        line->len = start;
}

void hf_log_init_fd(hf_log *log, hf_log_level least, const hf_clock *clock, int fd)
{
    *log = (hf_log){.least = least, .clock = clock, .fd = fd};
}

void hf_log_init_sink(hf_log *log, hf_log_level least, const hf_clock *clock, hf_log_sink *sink,
                      void *ctx)
{
    HF_ASSERT(sink);
    *log = (hf_log){.least = least, .clock = clock, .sink = sink, .ctx = ctx, .fd = -1};
}

const char *hf_log_level_text(hf_log_level level)
{
    switch (level) {
    case HF_LOG_DEBUG:
        return "debug";
    case HF_LOG_INFO:
        return "info";
    case HF_LOG_WARN:
        return "warn";
    case HF_LOG_ERROR:
        return "error";
    }
    return "unknown";
}

bool hf_log_wants(const hf_log *log, hf_log_level level)
{
    return log && level >= log->least;
}

size_t hf_log_line(const hf_log_entry *entry, char out_line[HF_LOG_LINE_MAX])
{
    line_out line = {.bytes = out_line};
    hf_slice level = hf_slice_of(hf_log_level_text(entry->level));
    const char *end = line_end;

    (void)line_add(&line, "{\"time\":", 8, 0);
    line_add_time(&line, entry->wall_us);
    (void)line_add(&line, ",\"level\":", 9, 0);
    line_add_string(&line, level);
    (void)line_add(&line, ",\"message\":", 11, 0);
    line_add_string(&line, hf_slice_of(entry->message));
    for (size_t i = 0; i < entry->field_count && !line.cut; i++)
        line_add_field(&line, &entry->fields[i]);
    if (line.cut)
        end = line_end_cut;
    memcpy(out_line + line.len, end, strlen(end));
    return line.len + strlen(end);
}

void hf_log_write(const hf_log *log, hf_log_level level, const char *message,
                  const hf_log_field *fields, size_t field_count)
{
    int saved_errno = errno;
    hf_log_entry entry = {
        .level = level, .message = message, .fields = fields, .field_count = field_count};
    char line[HF_LOG_LINE_MAX];
    size_t len;
    ssize_t written;

    if (!hf_log_wants(log, level))
        return;
    entry.wall_us = hf_clock_wall_us(log->clock);
    if (log->sink) {
        log->sink(&entry, log->ctx);
    } else {
        len = hf_log_line(&entry, line);
        do {
            written = write(log->fd, line, len);
        } while (written < 0 && errno == EINTR);
    }
    errno = saved_errno;
}
