/* curl.h: the functions of libcurl, looked up when the first client is opened. The rule: nothing
   links against libcurl, so that a program that never talks to a server does not load it and the
   thirty libraries behind it. */
#ifndef HF_CLIENT_CURL_H
#define HF_CLIENT_CURL_H

#include <curl/curl.h>

#include "base/attr.h"
#include "base/err.h"

typedef struct hf_curl {
    CURLcode (*global_init)(long flags);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    const char *(*easy_strerror)(CURLcode code);
    void (*easy_cleanup)(CURL *easy);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_perform)(CURLM *multi, int *running);
    CURLMcode (*multi_poll)(CURLM *multi, struct curl_waitfd *more, unsigned int count,
                            int timeout_ms, int *ready);
    CURLMcode (*multi_wakeup)(CURLM *multi);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
    CURLMcode (*multi_cleanup)(CURLM *multi);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
} hf_curl;

/* The process's libcurl, ready for use. HF_NOTFOUND: it is not installed. Any thread. */
HF_NODISCARD hf_status hf_curl_load(const hf_curl **out_curl, hf_err *err);

#endif
