/* order.h: the application of order.c, for programs that run it in other ways. */
#ifndef ORDER_H
#define ORDER_H
#include <holdfast/holdfast.h>

extern const hf_app order_app;

#endif
