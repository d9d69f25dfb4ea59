/* status.c: texts of the statuses, generated from status.def. */
#include "holdfast/status.h"

const char *hf_strstatus(hf_status status)
{
    switch (status) {
#define HF_STATUS(name, value, text, sentence)                                                     \
    case name:                                                                                     \
        return text;
#include "holdfast/status.def"
#undef HF_STATUS
    }
    return "unknown";
}

const char *hf_status_sentence(hf_status status)
{
    switch (status) {
#define HF_STATUS(name, value, text, sentence)                                                     \
    case name:                                                                                     \
        return sentence;
#include "holdfast/status.def"
#undef HF_STATUS
    }
    return "This number is not a Holdfast status.";
}
