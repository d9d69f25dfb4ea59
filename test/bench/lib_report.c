/* lib_report.c: see lib_report.h. Every result is written at once, so that a run that breaks off
   leaves what it had measured. */
#include "lib_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double hf_bench_now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int hf_bench_order(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

double hf_bench_median(double *numbers, size_t count)
{
    hf_bench_need(count > 0, "a median of nothing was asked for");
    qsort(numbers, count, sizeof(*numbers), hf_bench_order);
    return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

void hf_bench_need(bool held, const char *sentence)
{
    if (held)
        return;
    (void)fprintf(stderr, "bench: %s\n", sentence);
    exit(EXIT_FAILURE);
}

void hf_bench_ok(hf_status st, const hf_err *err, const char *doing)
{
    if (st == HF_OK)
        return;
    (void)fprintf(stderr, "bench: %s: %s (%s)\n", doing, err->text, hf_strstatus(st));
    exit(EXIT_FAILURE);
}

void hf_bench_modules(const char *program)
{
    const char *slash = strrchr(program, '/');
    char folder[512];

    (void)snprintf(folder, sizeof(folder), "%.*s/..", slash ? (int)(slash - program) : 1,
                   slash ? program : ".");
    hf_bench_need(setenv("HF_MODULE_DIR", folder, 0) == 0, "no memory");
}

void hf_bench_title(const char *title)
{
    (void)printf("%s\n%-28s %12s %-10s %12s %8s %8s\n", title, "", "value", "unit", "floor",
                 "ratio", "goal");
}

/* An absent number leaves its column empty. */
static void cell_print(double number, int width, int digits)
{
    if (number != 0)
        (void)printf("%*.*f ", width, digits, number);
    else
        (void)printf("%*s ", width, "");
}

static void line_write(FILE *out, const hf_bench_result *result)
{
    (void)fprintf(
        out, "{\"group\":\"%s\",\"name\":\"%s\",\"store\":\"%s\",\"value\":%.2f,\"unit\":\"%s\"",
        result->group, result->name, result->store, result->value, result->unit);
    if (result->floor != 0)
        (void)fprintf(out, ",\"floor\":%.2f", result->floor);
    if (result->ratio != 0)
        (void)fprintf(out, ",\"ratio\":%.3f", result->ratio);
    if (result->goal != 0)
        (void)fprintf(out, ",\"goal\":\"%s %.2f\"",
                      result->goal > 0 ? ">=" : "<=", fabs(result->goal));
    (void)fprintf(out, "%s}\n", result->more);
}

void hf_bench_report(const hf_bench_result *result)
{
    const char *path = getenv("HF_BENCH_OUT");
    FILE *out = fopen(path && *path ? path : "build/bench.jsonl", "a");

    hf_bench_need(out != NULL, "the file for the results cannot be opened (HF_BENCH_OUT)");
    line_write(out, result);
    hf_bench_need(fclose(out) == 0, "the results cannot be written");
    (void)printf("%-28s %12.1f %-10s ", result->name, result->value, result->unit);
    cell_print(result->floor, 12, 1);
    cell_print(result->ratio, 8, 2);
    if (result->goal != 0)
        (void)printf("%s %5.2f", result->goal > 0 ? ">=" : "<=", fabs(result->goal));
    (void)printf("\n");
    (void)fflush(stdout);
}

long hf_bench_memory_kb(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long total = 0;
    long resident = 0;

    if (file) {
        if (fscanf(file, "%ld %ld", &total, &resident) != 2)
            resident = 0;
        (void)fclose(file);
    }
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}
