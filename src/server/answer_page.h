/* answer_page.h: the pages that people see who answer by a link: plain HTML without a script, of
   which every text that somebody else chose is escaped. */
#ifndef HF_SERVER_ANSWER_PAGE_H
#define HF_SERVER_ANSWER_PAGE_H

#include "http/target.h"
#include "server/api.h"

/* A page that says something, and no more. */
void hf_answer_page_say(hf_api *api, int status, const char *title, const char *sentence);

/* The question with its form: `link` as hf_answer_link_look tells it, what was typed before (may be
   NULL), and what is wrong with it, {field: [sentences]} (may be NULL). */
void hf_answer_page_ask(hf_api *api, int status, hf_value link, const hf_http_query *typed,
                        hf_value faults);

/* How a parameter is called in the form; the one without a name is "value". */
#define HF_ANSWER_FIELD "p."
#define HF_ANSWER_PLAIN "value"

#endif
