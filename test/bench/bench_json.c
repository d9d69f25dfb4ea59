/* bench_json.c: how fast JSON is read and written, beside jansson in the same process. Rounds of
   the two alternate and medians are compared, so that a busy machine slows both. Prints a table and
   appends one JSON line per measurement to $HF_BENCH_OUT (build/bench.jsonl). */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

enum { ROUNDS = 41, DOCUMENTS = 400 };

typedef struct rates {
    double ours[ROUNDS];
    double theirs[ROUNDS];
} rates;

/* About 2 KB, as a workflow task sees it: ids, times, names, amounts, some text in several scripts
   and some escapes. */
static const char document[] =
    "{\"run_id\":\"01J9Z3V5K8Q2W7RB6T4XN0M1CD\",\"workflow\":\"order\",\"queue\":\"default\","
    "\"started_at\":\"2026-03-14T09:26:53.589793Z\",\"attempt\":3,\"status\":\"waiting\","
    "\"liveness\":\"signal\",\"input\":{\"sku\":\"TEA-1\",\"amount\":90.5,\"currency\":\"EUR\","
    "\"customer\":{\"id\":1187,\"name\":\"Ada "
    "Lovelace\",\"email\":\"ada@example.org\",\"vip\":true,"
    "\"note\":\"prefers \\\"green\\\" tea,\\nno sugar\"},\"lines\":[{\"sku\":\"TEA-1\",\"qty\":2,"
    "\"price\":12.25,\"tags\":[\"loose\",\"organic\"]},{\"sku\":\"POT-7\",\"qty\":1,\"price\":39.9,"
    "\"tags\":[]},{\"sku\":\"CUP-2\",\"qty\":4,\"price\":6.525,\"tags\":[\"porcelain\"]}],"
    "\"address\":{\"street\":\"Stra\xC3\x9F"
    "e des 17. Juni 135\",\"city\":\"Berlin\",\"zip\":\"10623\",\"country\":\"DE\"},"
    "\"gift\":false,\"coupon\":null},\"history\":["
    "{\"seq\":1,\"type\":\"WorkflowStarted\",\"at\":1773480413589,\"payload\":{\"args\":1}},"
    "{\"seq\":2,\"type\":\"ActivityScheduled\",\"at\":1773480413601,\"payload\":{\"name\":"
    "\"reserve\",\"timeout_ms\":30000,\"retry\":{\"max\":5,\"backoff\":[1000,2000,5000,10000]}}},"
    "{\"seq\":3,\"type\":\"ActivityCompleted\",\"at\":1773480413933,\"payload\":{\"reservation\":"
    "\"R-20260314-0042\",\"expires_at\":1773484013}},"
    "{\"seq\":4,\"type\":\"TimerStarted\",\"at\":1773480413940,\"payload\":{\"delay_ms\":86400000,"
    "\"sequence\":1}},{\"seq\":5,\"type\":\"SignalReceived\",\"at\":1773480420177,\"payload\":{"
    "\"name\":\"approved-by\",\"args\":{\"approver\":\"Grace\",\"limit\":1000,\"ready\":true}}},"
    "{\"seq\":6,\"type\":\"SideEffectRecorded\",\"at\":1773480420180,\"payload\":{\"value\":"
    "0.7310585786300049}}],\"labels\":{\"region\":\"eu-central\",\"tenant\":\"acme\",\"tier\":"
    "\"gold\"},\"memo\":{\"summary\":\"charging 90.5 EUR for order 42\",\"owner\":\"payments\","
    "\"greeting\":\"\xE4\xBD\xA0\xE5\xA5\xBD, \xD0\xBC\xD0\xB8\xD1\x80\",\"ratio\":-0.0625,"
    "\"big\":9007199254740993,\"links\":[\"https://example.org/orders/42\","
    "\"https://example.org/customers/1187\"]},\"checksum\":"
    "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"}";

static double now_s(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void need(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "bench_json: %s\n", what);
    exit(EXIT_FAILURE);
}

static double rate(size_t bytes, double seconds)
{
    return (double)bytes / seconds / 1e6;
}

static double parse_ours(hf_mem *mem)
{
    hf_slice text = hf_slice_from(document, sizeof(document) - 1);
    double start = now_s();

    for (int i = 0; i < DOCUMENTS; i++) {
        hf_value value;

        need(hf_json_read(mem, text, NULL, &value, NULL) == HF_OK, "the document is not read");
        hf_mem_reset(mem);
    }
    return rate(DOCUMENTS * text.len, now_s() - start);
}

static double parse_theirs(void)
{
    double start = now_s();

    for (int i = 0; i < DOCUMENTS; i++) {
        json_t *value = json_loadb(document, sizeof(document) - 1, JSON_REJECT_DUPLICATES, NULL);

        need(value != NULL, "jansson does not read the document");
        json_decref(value);
    }
    return rate(DOCUMENTS * (sizeof(document) - 1), now_s() - start);
}

static double write_ours(hf_value value, hf_buf *buf)
{
    size_t bytes = 0;
    double start = now_s();

    for (int i = 0; i < DOCUMENTS; i++) {
        hf_buf_clear(buf);
        hf_json_write(buf, value);
        need(hf_buf_ok(buf), "the document is not written");
        bytes += buf->len;
    }
    return rate(bytes, now_s() - start);
}

static double write_theirs(json_t *value, char *text, size_t size)
{
    size_t bytes = 0;
    double start = now_s();

    for (int i = 0; i < DOCUMENTS; i++) {
        size_t len = json_dumpb(value, text, size, JSON_COMPACT);

        need(len > 0 && len <= size, "jansson does not write the document");
        bytes += len;
    }
    return rate(bytes, now_s() - start);
}

static int rate_order(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *rates_seen)
{
    qsort(rates_seen, ROUNDS, sizeof(*rates_seen), rate_order);
    return rates_seen[ROUNDS / 2];
}

static void report(FILE *out, const char *name, rates *seen)
{
    double ours = median(seen->ours);
    double theirs = median(seen->theirs);

    printf("%-12s %10.1f %10.1f %8.2fx\n", name, ours, theirs, ours / theirs);
    fprintf(out,
            "{\"group\":\"store\",\"name\":\"%s\",\"store\":\"none\",\"value\":%.1f,"
            "\"unit\":\"MB/s\",\"floor\":%.1f,\"ratio\":%.2f}\n",
            name, ours, theirs, ours / theirs);
}

int main(void)
{
    const char *path = getenv("HF_BENCH_OUT");
    hf_slice text = hf_slice_from(document, sizeof(document) - 1);
    json_t *tree = json_loadb(document, sizeof(document) - 1, 0, NULL);
    hf_mem *keep = hf_mem_new();
    hf_mem *mem = hf_mem_new();
    static char their_text[8192];
    static rates parse;
    static rates write;
    hf_buf buf = {0};
    hf_value value;
    FILE *out;

    need(tree && keep && mem, "no memory");
    need(hf_json_read(keep, text, NULL, &value, NULL) == HF_OK, "the document is not JSON");
    out = fopen(path && *path ? path : "build/bench.jsonl", "a");
    need(out != NULL, "the file for the results cannot be opened (HF_BENCH_OUT)");
    for (int i = 0; i < ROUNDS; i++) {
        parse.ours[i] = parse_ours(mem);
        parse.theirs[i] = parse_theirs();
        write.ours[i] = write_ours(value, &buf);
        write.theirs[i] = write_theirs(tree, their_text, sizeof(their_text));
    }
    printf("%zu-byte document, median of %d rounds\n", text.len, ROUNDS);
    printf("%-12s %10s %10s %9s\n", "", "MB/s", "jansson", "ratio");
    report(out, "json_parse", &parse);
    report(out, "json_write", &write);
    need(fclose(out) == 0, "the results cannot be written");
    hf_buf_fini(&buf);
    hf_mem_free(mem);
    hf_mem_free(keep);
    json_decref(tree);
    return EXIT_SUCCESS;
}
