/* lib_floor.c: the loop around both bare programs. It only counts and moves runs. */
#include "lib_floor.h"

#include <string.h>

#include "lib_report.h"

enum { POSITION_FIRST = 1 << 30 }; /* above what making the runs has used */

void hf_floor_init(hf_floor *floor, hf_load *load)
{
    floor->load = load;
    floor->position = POSITION_FIRST;
    floor->body_bytes = load->body_bytes;
    hf_bench_need(floor->body_bytes > 0 && floor->body_bytes <= sizeof(floor->body),
                  "the size of a chunk is not known");
    for (size_t i = 0; i < sizeof(floor->body); i++)
        floor->body[i] = (uint8_t)(i * 131 + i / 7);
}

void hf_floor_close(hf_floor *floor)
{
    floor->close(floor);
}

void hf_floor_batch(hf_floor *floor, size_t units, size_t runs)
{
    int64_t time_us = (int64_t)(hf_bench_now_s() * 1e6) + INT64_C(1767225600000000);

    hf_bench_need(units <= HF_FLOOR_UNITS_MAX && runs <= floor->load->run_count,
                  "units and runs do not fit");
    floor->begin(floor, NULL, 0);
    while (units) {
        size_t now = units < runs ? units : runs;

        for (size_t i = 0; i < now; i++) {
            if (floor->at >= runs)
                floor->at = 0;
            floor->units[i] = (hf_floor_unit){.run = &floor->load->runs[floor->at++],
                                              .position = floor->position++,
                                              .time_us = time_us};
        }
        floor->write(floor, floor->units, now);
        for (size_t i = 0; i < now; i++) {
            hf_run_base *base = &floor->units[i].run->base;

            base->last_seq += 3;
            base->history_bytes += (int64_t)floor->body_bytes;
            base->last_us = time_us;
            memcpy(base->head, &floor->units[i].position, sizeof(floor->units[i].position));
        }
        units -= now;
    }
    floor->commit(floor, NULL, 0);
}

double hf_floor_loop(hf_floor *floor, size_t units, size_t runs, double seconds)
{
    double start = hf_bench_now_s();
    double now = start;
    size_t done = 0;

    while (now - start < seconds) {
        hf_floor_batch(floor, units, runs);
        done += units;
        now = hf_bench_now_s();
    }
    return (double)done / (now - start);
}
