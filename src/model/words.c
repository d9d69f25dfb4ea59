/* words.c: see words.h. */
#include "model/words.h"

#include "base/utf8.h"

/* The front of a text: at most so many characters and bytes, and nothing that is no text. */
static hf_slice front(hf_slice text, size_t characters, size_t bytes)
{
    size_t len = 0;

    for (size_t i = 0; i < characters && len < text.len; i++) {
        size_t size = hf_utf8_size(text.ptr + len, text.len - len);

        if (size == 0 || len + size > bytes)
            break;
        len += size;
    }
    return hf_slice_from(text.ptr, len);
}

hf_slice hf_words_type(hf_slice type)
{
    return hf_utf8_valid(type) ? front(type, HF_WORDS_TYPE_MAX, type.len)
                               : HF_SLICE("invalid_failure");
}

hf_slice hf_words_message(hf_slice message)
{
    hf_slice kept = front(message, message.len, HF_WORDS_MESSAGE_MAX);

    return message.len && !kept.len ? HF_SLICE("(a message that is not UTF-8)") : kept;
}
