/* nap.h: a short rest between two looks at something that another thread or process does. Bound the
   number of looks. */
#ifndef HF_TEST_LIB_NAP_H
#define HF_TEST_LIB_NAP_H

void hf_nap_ms(long ms);

#endif
