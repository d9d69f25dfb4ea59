/* order_app.h: an application that has something to show: a run with an activity behind it that
   waits for a signal, takes an update and answers a query. */
#ifndef HF_TEST_SERVER_ORDER_APP_H
#define HF_TEST_SERVER_ORDER_APP_H

#include "holdfast/holdfast.h"
#include "lib/handlers.h"

static hf_value order(hf_ctx *w, hf_value in)
{
    (void)in;
    (void)hf_activity(w, "reserve", NULL);
    return hf_receive(w, "paid");
}

static const hf_app app = {
    .name = "orders",
    .workflows =
        (const hf_workflow_def[]){
            {.type = "order",
             .run = order,
             .signals = (const hf_signal_def[]){{"paid", NULL}, {0}},
             .updates = (const hf_update_def[]){{"add", NULL, hf_update_echo, NULL}, {0}},
             .queries = (const hf_query_def[]){{"state", NULL, hf_query_open}, {0}}},
            {0}},
    .activities = (const hf_activity_def[]){{.name = "reserve", .run = hf_echo}, {0}}};

#endif
