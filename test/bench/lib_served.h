/* lib_served.h: a server without types, in this process, on a store of its own, for workers that
   come over HTTP. */
#ifndef HF_TEST_BENCH_SERVED_H
#define HF_TEST_BENCH_SERVED_H

#include "holdfast/holdfast.h"
#include "server/server.h"

typedef struct hf_bench_served {
    hf_engine *engine;
    hf_server *server;
    char url[64];
} hf_bench_served;

void hf_bench_served_open(hf_bench_served *served, const char *address);
void hf_bench_served_close(hf_bench_served *served);

#endif
