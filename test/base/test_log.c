/* test_log.c: log lines are valid JSON on one line whatever they are given, and logging never
   disturbs its caller. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/thread.h"
#include "lib/suite.h"

enum { THREADS = 4, LINES_PER_THREAD = 300, ROUNDS = 5000 };

#define WALL_US INT64_C(1775124672123456)

/* A line taken apart: the values in order, texts decoded except that code points from \\u escapes
   are reduced to the byte '?'. */
typedef struct parsed {
    size_t count;
    char keys[8][32];
    char values[8][HF_LOG_LINE_MAX + 1];
    size_t lens[8];
} parsed;

/* As ck_assert, without its cost of a message per byte. */
static void must(bool holds, const char *what)
{
    if (!holds)
        ck_abort_msg("%s", what);
}

/* Reads a JSON string at *at into out; every rule of JSON and of a terminal is checked. */
static size_t string_read(const char **at, char *out)
{
    size_t len = 0;

    ck_assert_int_eq(*(*at)++, '"');
    while (**at != '"') {
        unsigned char byte = (unsigned char)*(*at)++;

        must(byte >= 0x20 && byte != 0x7F, "a control character in a string");
        if (byte == '\\') {
            byte = (unsigned char)*(*at)++;
            must(byte == '"' || byte == '\\' || byte == 'u', "an unknown escape");
            if (byte == 'u') {
                must(strspn(*at, "0123456789abcdef") >= 4, "four digits after \\u");
                *at += 4;
                byte = '?';
            }
        }
        out[len++] = (char)byte;
    }
    (*at)++;
    out[len] = '\0';
    return len;
}

static void line_parse(const char *line, size_t len, parsed *out)
{
    const char *at = line;

    ck_assert_uint_le(len, HF_LOG_LINE_MAX);
    ck_assert_ptr_eq(memchr(line, '\n', len), line + len - 1);
    out->count = 0;
    ck_assert_int_eq(*at, '{');
    do {
        size_t i = out->count++;

        ck_assert_uint_lt(i, 8);
        at++;
        ck_assert_uint_lt(string_read(&at, out->keys[i]), 32);
        ck_assert_int_eq(*at++, ':');
        if (*at == '"') {
            out->lens[i] = string_read(&at, out->values[i]);
        } else {
            out->lens[i] = strspn(at, "-0123456789true");
            must(out->lens[i] > 0, "a value after the colon");
            memcpy(out->values[i], at, out->lens[i]);
            out->values[i][out->lens[i]] = '\0';
            at += out->lens[i];
        }
    } while (*at == ',');
    ck_assert_int_eq(*at++, '}');
    ck_assert_ptr_eq(at, line + len - 1);
}

/* Renders one text field. */
static size_t text_line(hf_slice text, char line[HF_LOG_LINE_MAX])
{
    hf_log_field field = hf_log_text("text", text);
    hf_log_entry entry = {.level = HF_LOG_INFO,
                          .wall_us = WALL_US,
                          .message = "m",
                          .fields = &field,
                          .field_count = 1};

    return hf_log_line(&entry, line);
}

static void text_check(hf_slice text, const char *expected)
{
    char line[HF_LOG_LINE_MAX];
    char whole[HF_LOG_LINE_MAX];
    size_t len = text_line(text, line);
    int whole_len = snprintf(whole, sizeof(whole),
                             "{\"time\":\"2026-04-02T10:11:12.123456Z\",\"level\":\"info\","
                             "\"message\":\"m\",\"text\":\"%s\"}\n",
                             expected);

    ck_assert_int_eq((int)len, whole_len);
    ck_assert_msg(memcmp(line, whole, len) == 0, "%.*s", (int)len, line);
}

/* Every kind of field and every level has its place in the line. */
START_TEST(line_has_all_fields)
{
    const hf_log_field fields[] = {
        hf_log_text("run", HF_SLICE("r-1")),
        hf_log_int("tries", INT64_MIN),
        hf_log_time("due", 0),
        hf_log_time("odd", -5),
        hf_log_text("none", (hf_slice){0}),
    };
    hf_log_entry entry = {.level = HF_LOG_WARN,
                          .wall_us = WALL_US,
                          .message = "a \"message\"",
                          .fields = fields,
                          .field_count = 5};
    char line[HF_LOG_LINE_MAX];
    const char *expected =
        "{\"time\":\"2026-04-02T10:11:12.123456Z\",\"level\":\"warn\","
        "\"message\":\"a \\\"message\\\"\",\"run\":\"r-1\",\"tries\":-9223372036854775808,"
        "\"due\":\"1970-01-01T00:00:00.000000Z\",\"odd\":-5,\"none\":\"\"}\n";
    size_t len = hf_log_line(&entry, line);

    ck_assert_uint_eq(len, strlen(expected));
    ck_assert_int_eq(memcmp(line, expected, len), 0);
    ck_assert_str_eq(hf_log_level_text(HF_LOG_DEBUG), "debug");
    ck_assert_str_eq(hf_log_level_text(HF_LOG_INFO), "info");
    ck_assert_str_eq(hf_log_level_text(HF_LOG_ERROR), "error");
    ck_assert_str_eq(hf_log_level_text((hf_log_level)9), "unknown");
}
END_TEST

/* What could start a new line, move a cursor or turn text around is escaped; the rest is kept. */
START_TEST(dangerous_text_is_escaped)
{
    text_check(HF_SLICE("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9d"),
               "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9d");
    text_check(HF_SLICE("a\nb\r\t\0\x1b[2J\x7f"),
               "a\\u000ab\\u000d\\u0009\\u0000\\u001b[2J\\u007f");
    text_check(HF_SLICE("\"}\\"), "\\\"}\\\\");
    text_check(HF_SLICE("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0"), "\\u0080\\u009b\\u009f\xc2\xa0");
    text_check(HF_SLICE("\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xef\xbb\xbf"),
               "\\u2028\\u202e\\u2066\\u200f\\u061c\\ufeff");
}
END_TEST

/* Bytes that are not UTF-8 become one replacement character each: stray and missing continuation
   bytes, over-long forms, surrogates, numbers beyond Unicode. */
START_TEST(broken_utf8_is_replaced)
{
    text_check(HF_SLICE("\x80"), "\\ufffd");
    text_check(HF_SLICE("a\xff"
                        "b"),
               "a\\ufffdb");
    text_check(HF_SLICE("\xc3"), "\\ufffd");
    text_check(HF_SLICE("\xc3("), "\\ufffd(");
    text_check(HF_SLICE("\xe2\x82"), "\\ufffd\\ufffd");
    text_check(HF_SLICE("\xc0\x8a"), "\\ufffd\\ufffd");
    text_check(HF_SLICE("\xe0\x80\x8a"), "\\ufffd\\ufffd\\ufffd");
    text_check(HF_SLICE("\xed\xa0\x80"), "\\ufffd\\ufffd\\ufffd");
    text_check(HF_SLICE("\xf4\x90\x80\x80"), "\\ufffd\\ufffd\\ufffd\\ufffd");
    text_check(HF_SLICE("\xf5\x80\x80\x80"), "\\ufffd\\ufffd\\ufffd\\ufffd");
    text_check(HF_SLICE("\xf4\x8f\xbf\xbf"), "\xf4\x8f\xbf\xbf");
}
END_TEST

/* Random bytes of every length give a valid line; printable ones come back unchanged. */
START_TEST(any_bytes_give_a_valid_line)
{
    static parsed p;
    static char bytes[6000];
    hf_rng rng;

    hf_rng_init_seeded(&rng, 51);
    for (int round = 0; round < ROUNDS; round++) {
        size_t len = (size_t)hf_rng_below(&rng, round % 10 ? 200 : sizeof(bytes));
        bool printable = round % 2 == 0;
        char line[HF_LOG_LINE_MAX];

        hf_rng_fill(&rng, bytes, len);
        for (size_t i = 0; printable && i < len; i++)
            bytes[i] = (char)(' ' + (bytes[i] & 0x3F));
        line_parse(line, text_line(hf_slice_from(bytes, len), line), &p);
        ck_assert_uint_ge(p.count, 4);
        ck_assert_str_eq(p.keys[3], "text");
        if (p.count == 5)
            ck_assert(strcmp(p.keys[4], "cut") == 0 && strcmp(p.values[4], "true") == 0);
        if (printable) {
            ck_assert_uint_le(p.lens[3], len);
            ck_assert_int_eq(p.count == 5, p.lens[3] < len);
            ck_assert_int_eq(memcmp(p.values[3], bytes, p.lens[3]), 0);
        }
    }
}
END_TEST

/* Around the limit every length of message and field still gives a valid line that fits. */
START_TEST(long_lines_are_cut)
{
    static parsed p;
    static char message[5000];
    static char text[5000];
    char line[HF_LOG_LINE_MAX];

    for (size_t len = 3900; len < 4150; len++) {
        for (int kind = 0; kind < 4; kind++) {
            hf_log_field fields[] = {hf_log_time("time", WALL_US), hf_log_int("number", 123456789)};
            hf_log_entry entry = {.message = message, .fields = fields, .field_count = 2};

            memset(message, 'm', sizeof(message));
            memset(text, 't', sizeof(text));
            message[kind <= 1 ? len : 10] = '\0';
            text[kind <= 1 ? 10 : len] = '\0';
            if (kind != 1)
                fields[0] = hf_log_text("text", hf_slice_of(text));
            if (kind == 2)
                memcpy(text + len - 2, "\n\xff", 2);
            if (kind == 3)
                memcpy(text + len - 3, "\xe2\x82\xac", 3);
            line_parse(line, hf_log_line(&entry, line), &p);
            ck_assert_str_eq(p.keys[2], "message");
            if (len > 4100) {
                ck_assert_str_eq(p.keys[p.count - 1], "cut");
                ck_assert_str_ne(p.keys[p.count - 2], "number");
            }
            if (len < 3950)
                ck_assert_str_eq(p.keys[p.count - 1], "number");
        }
    }
}
END_TEST

/* A line reaches the descriptor whole; levels below the least do not; errno and the lack of
   anything to write to do not matter to the caller. */
START_TEST(lines_reach_the_descriptor)
{
    hf_clock *clock = hf_clock_new_virtual(WALL_US);
    const hf_log_field field = hf_log_int("n", 5);
    char line[2 * HF_LOG_LINE_MAX] = {0};
    const char *expected = "{\"time\":\"2026-04-02T10:11:12.123456Z\",\"level\":\"info\","
                           "\"message\":\"kept\",\"n\":5}\n";
    hf_log log;
    int ends[2];

    ck_assert_ptr_nonnull(clock);
    ck_assert_int_eq(pipe(ends), 0);
    hf_log_init_fd(&log, HF_LOG_INFO, clock, ends[1]);
    ck_assert(!hf_log_wants(&log, HF_LOG_DEBUG));
    ck_assert(hf_log_wants(&log, HF_LOG_INFO));
    ck_assert(hf_log_wants(&log, HF_LOG_ERROR));
    ck_assert(!hf_log_wants(NULL, HF_LOG_ERROR));
    errno = ERANGE;
    hf_log_write(&log, HF_LOG_DEBUG, "dropped", NULL, 0);
    hf_log_write(&log, HF_LOG_INFO, "kept", &field, 1);
    hf_log_write(NULL, HF_LOG_ERROR, "nowhere", NULL, 0);
    ck_assert_int_eq(close(ends[1]), 0);
    ck_assert_int_eq(errno, ERANGE);
    hf_log_write(&log, HF_LOG_ERROR, "lost", NULL, 0);
    ck_assert_int_eq(errno, ERANGE);
    ck_assert_int_eq((int)read(ends[0], line, sizeof(line) - 1), (int)strlen(expected));
    ck_assert_str_eq(line, expected);
    ck_assert_int_eq((int)read(ends[0], line, sizeof(line)), 0);
    (void)close(ends[0]);
    hf_clock_free_virtual(clock);
}
END_TEST

/* A full pipe that does not block loses the line and nothing else. */
START_TEST(full_pipe_loses_the_line)
{
    hf_log log;
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    hf_log_init_fd(&log, HF_LOG_DEBUG, hf_clock_system(), ends[1]);
    errno = 0;
    for (int i = 0; i < 10000; i++)
        hf_log_write(&log, HF_LOG_DEBUG, "again and again", NULL, 0);
    ck_assert_int_eq(errno, 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
}
END_TEST

static void sink_record(const hf_log_entry *entry, void *ctx)
{
    hf_log_entry *seen = ctx;

    errno = EIO;
    *seen = *entry;
}

/* A sink is given the entry as it was, with the time of the clock. */
START_TEST(sink_is_given_the_entry)
{
    hf_clock *clock = hf_clock_new_virtual(WALL_US);
    const hf_log_field field = hf_log_text("k", HF_SLICE("v"));
    hf_log_entry seen = {0};
    hf_log log;

    ck_assert_ptr_nonnull(clock);
    hf_log_init_sink(&log, HF_LOG_WARN, clock, sink_record, &seen);
    hf_log_write(&log, HF_LOG_INFO, "below", &field, 1);
    ck_assert_ptr_null(seen.message);
    errno = 0;
    hf_log_write(&log, HF_LOG_ERROR, "above", &field, 1);
    ck_assert_int_eq(errno, 0);
    ck_assert_str_eq(seen.message, "above");
    ck_assert_int_eq(seen.level, HF_LOG_ERROR);
    ck_assert_int_eq(seen.wall_us, WALL_US);
    ck_assert_ptr_eq(seen.fields, &field);
    ck_assert_uint_eq(seen.field_count, 1);
    hf_clock_free_virtual(clock);
}
END_TEST

static void lines_write(void *ctx)
{
    static const char text[] =
        "0123456789012345678901234567890123456789012345678901234567890123456"
        "7890123456789012345678901234567890123456789012345678901234567890123";
    const hf_log *log = ctx;

    for (int i = 0; i < LINES_PER_THREAD; i++) {
        hf_log_field fields[] = {hf_log_int("i", i), hf_log_text("text", hf_slice_of(text))};

        hf_log_write(log, HF_LOG_INFO, "line", fields, 2);
    }
}

/* Lines that several threads write to one pipe do not mix. */
START_TEST(threads_do_not_mix_lines)
{
    static parsed p;
    hf_thread threads[THREADS] = {0};
    char line[HF_LOG_LINE_MAX];
    hf_log log;
    int ends[2];
    FILE *in;

    ck_assert_int_eq(pipe(ends), 0);
    in = fdopen(ends[0], "r");
    ck_assert_ptr_nonnull(in);
    hf_log_init_fd(&log, HF_LOG_DEBUG, hf_clock_system(), ends[1]);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(hf_thread_start(&threads[i], "log", lines_write, &log, NULL), HF_OK);
    for (int i = 0; i < THREADS * LINES_PER_THREAD; i++) {
        ck_assert_ptr_nonnull(fgets(line, sizeof(line), in));
        line_parse(line, strlen(line), &p);
        ck_assert_uint_eq(p.count, 5);
        ck_assert_uint_eq(p.lens[4], 134);
    }
    for (int i = 0; i < THREADS; i++)
        hf_thread_join(&threads[i]);
    (void)close(ends[1]);
    ck_assert_ptr_null(fgets(line, sizeof(line), in));
    (void)fclose(in);
}
END_TEST

/* Logging works when there is no memory at all, because it asks for none. */
START_TEST(logging_allocates_nothing)
{
    hf_log log;
    char line[HF_LOG_LINE_MAX];
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    hf_log_init_fd(&log, HF_LOG_DEBUG, hf_clock_system(), ends[1]);
    hf_fault_arm(HF_FAULT_ALLOC, 1, true);
    hf_log_write(&log, HF_LOG_ERROR, "no memory", NULL, 0);
    ck_assert_int_eq(hf_fault_seen(HF_FAULT_ALLOC), 0);
    hf_fault_arm(HF_FAULT_ALLOC, 0, false);
    ck_assert_int_gt((int)read(ends[0], line, sizeof(line)), 40);
    (void)close(ends[0]);
    (void)close(ends[1]);
}
END_TEST

HF_SUITE_MAIN("base/log", {line_has_all_fields, 0}, {dangerous_text_is_escaped, 0},
              {broken_utf8_is_replaced, 0}, {any_bytes_give_a_valid_line, 0},
              {long_lines_are_cut, 0}, {lines_reach_the_descriptor, 0},
              {full_pipe_loses_the_line, 0}, {sink_is_given_the_entry, 0},
              {threads_do_not_mix_lines, 0}, {logging_allocates_nothing, 0})
