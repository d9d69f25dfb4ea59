/* contract.c: which values fit a parameter, and arguments against a whole contract. What passes
   here is recorded and replayed, so a rule may become wider with time, but an accepted value must
   never be read as another one. The text of contracts is contract_parse.c's, their JSON form
   contract_json.c's. */
#include "model/contract.h"

#include <stdint.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/value.h"

enum { SHOWN_NAME_MAX = 100 }; /* bytes of a stranger's argument name that a rejection repeats */

/* Stored in contracts: a word is never changed nor given to another type. */
static const struct {
    hf_param_type type;
    const char *word;
} type_words[] = {
    {HF_PARAM_STRING, "string"},     {HF_PARAM_INT, "int"},     {HF_PARAM_NUMBER, "number"},
    {HF_PARAM_BOOL, "bool"},         {HF_PARAM_ARRAY, "array"}, {HF_PARAM_OBJECT, "object"},
    {HF_PARAM_ANY, "any"},           {HF_PARAM_ENUM, "enum"},   {HF_PARAM_TIME, "time"},
    {HF_PARAM_DURATION, "duration"},
};

enum { TYPE_COUNT = sizeof(type_words) / sizeof(type_words[0]) };

/* One message of a rejection. */
typedef struct complaint {
    struct complaint *next;
    hf_slice key;
    const char *message; /* NULL when memory ran out */
} complaint;

typedef struct complaints {
    hf_mem *mem;
    complaint *first;
    complaint **end; /* where the next one is linked */
    bool failed;     /* memory ran out */
} complaints;

/* -- types */

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_mark(char c)
{
    return c == '.' || c == ':' || c == '/' || c == '+' || c == '@' || c == '-';
}

bool hf_param_name_valid(hf_slice name)
{
    if (name.len == 0 || name.len > HF_CONTRACT_WORD_MAX || is_digit(name.ptr[0]))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if (!is_letter(name.ptr[i]) && !is_digit(name.ptr[i]))
            return false;
    }
    return true;
}

bool hf_param_word_valid(hf_slice word)
{
    if (word.len == 0 || word.len > HF_CONTRACT_WORD_MAX)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        if (!is_letter(word.ptr[i]) && !is_digit(word.ptr[i]) && !is_mark(word.ptr[i]))
            return false;
    }
    return true;
}

const char *hf_param_type_text(hf_param_type type)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (type_words[i].type == type)
            return type_words[i].word;
    }
    return "unknown";
}

bool hf_param_type_parse(hf_slice word, hf_param_type *out_type)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (hf_slice_equal(word, hf_slice_of(type_words[i].word))) {
            *out_type = type_words[i].type;
            return true;
        }
    }
    return false;
}

/* -- do values fit */

/* A value as a whole number: an integer, or a double that is one and holds it exactly. */
static bool value_whole(hf_value value, int64_t *out_number)
{
    const double exact_max = 9007199254740992.0; /* 2^53: above, neighbours are not whole apart */
    double number;

    if (hf_value_kind_of(value) == HF_VALUE_INT) {
        *out_number = hf_int(value, "", 0);
        return true;
    }
    if (hf_value_kind_of(value) != HF_VALUE_DOUBLE)
        return false;
    number = hf_num(value, "", 0);
    if (number < -exact_max || number > exact_max || (double)(int64_t)number != number)
        return false;
    *out_number = (int64_t)number;
    return true;
}

static hf_status take_whole(hf_value value, int64_t least, int64_t most, hf_mem *mem,
                            hf_value *out_value, hf_err *err)
{
    int64_t number;

    if (!value_whole(value, &number) || number < least || number > most)
        return HF_OK;
    *out_value = hf_value_kind_of(value) == HF_VALUE_INT ? value : hf_value_int(mem, number);
    return *out_value ? HF_OK : hf_err_nomem(err, "an argument");
}

static hf_value take_bool(hf_value value)
{
    int64_t number;

    if (hf_value_kind_of(value) == HF_VALUE_BOOL)
        return value;
    if (hf_value_kind_of(value) != HF_VALUE_INT || !value_whole(value, &number) ||
        (number != 0 && number != 1))
        return NULL;
    return hf_value_bool(number == 1);
}

static bool is_choice(const hf_param *param, hf_value value)
{
    if (hf_value_kind_of(value) != HF_VALUE_STRING)
        return false;
    for (size_t i = 0; i < param->choice_count; i++) {
        if (hf_slice_equal(param->choices[i], hf_value_slice(value)))
            return true;
    }
    return false;
}

static bool is_time(hf_value value)
{
    int64_t ignored;

    return hf_value_kind_of(value) == HF_VALUE_STRING &&
           hf_clock_parse(hf_value_slice(value), &ignored);
}

hf_status hf_param_take(const hf_param *param, hf_value value, hf_mem *mem, hf_value *out_value,
                        hf_err *err)
{
    hf_value_kind kind = hf_value_kind_of(value);
    bool fits = false;

    *out_value = NULL;
    if (kind == HF_VALUE_NULL) {
        *out_value = param->allows_null ? hf_value_null() : NULL;
        return HF_OK;
    }
    switch (param->type) {
    case HF_PARAM_STRING:
        fits = kind == HF_VALUE_STRING;
        break;
    case HF_PARAM_INT:
        return take_whole(value, INT64_MIN, INT64_MAX, mem, out_value, err);
    case HF_PARAM_NUMBER:
        fits = kind == HF_VALUE_INT || kind == HF_VALUE_DOUBLE;
        break;
    case HF_PARAM_BOOL:
        *out_value = take_bool(value);
        return HF_OK;
    case HF_PARAM_ARRAY:
        fits = kind == HF_VALUE_ARRAY;
        break;
    case HF_PARAM_OBJECT:
        fits = kind == HF_VALUE_OBJECT;
        break;
    case HF_PARAM_ANY:
        fits = true;
        break;
    case HF_PARAM_ENUM:
        fits = is_choice(param, value);
        break;
    case HF_PARAM_TIME:
        fits = is_time(value);
        break;
    case HF_PARAM_DURATION:
        return take_whole(value, 0, INT64_MAX / 1000, mem, out_value, err);
    }
    *out_value = fits ? value : NULL;
    return HF_OK;
}

/* -- arguments against a contract */

static void complain(complaints *list, hf_slice key, const char *message)
{
    complaint *one = hf_mem_alloc(list->mem, sizeof(*one));

    if (!one || !message) {
        list->failed = true;
        return;
    }
    *one = (complaint){.key = key, .message = message};
    *list->end = one;
    list->end = &one->next;
}

/* What an argument is called in messages. */
static hf_slice param_shown(const hf_param *param)
{
    return param->name.len > 0 ? param->name : HF_SLICE("value");
}

static void complain_missing(complaints *list, const hf_param *param)
{
    hf_slice name = param_shown(param);

    complain(list, name,
             hf_mem_format(list->mem, "The %.*s argument is required.", (int)name.len, name.ptr));
}

static void complain_many(complaints *list, size_t given, size_t taken)
{
    complain(list, HF_SLICE("arguments"),
             hf_mem_format(list->mem, "Too many arguments: %zu given, at most %zu taken.", given,
                           taken));
}

/* "enum(basic|pro)" for an enum, else the word. NULL when memory ran out. */
static const char *type_shown(const hf_param *param, hf_mem *mem)
{
    const char *text;

    if (param->type != HF_PARAM_ENUM)
        return hf_param_type_text(param->type);
    text = "enum(";
    for (size_t i = 0; text && i < param->choice_count; i++)
        text = hf_mem_format(mem, "%s%.*s%c", text, (int)param->choices[i].len,
                             param->choices[i].ptr, i + 1 < param->choice_count ? '|' : ')');
    return text;
}

static void complain_type(complaints *list, const hf_param *param, hf_value value)
{
    hf_slice name = param_shown(param);
    const char *type;

    if (hf_value_kind_of(value) == HF_VALUE_NULL) {
        complain(
            list, name,
            hf_mem_format(list->mem, "The %.*s argument cannot be null.", (int)name.len, name.ptr));
        return;
    }
    type = type_shown(param, list->mem);
    complain(list, name,
             type ? hf_mem_format(list->mem, "The %.*s argument must be of type %s.", (int)name.len,
                                  name.ptr, type)
                  : NULL);
}

/* Strangers choose these names, so their length and number are bounded here. */
static void complain_unknown(complaints *list, const hf_contract *contract, hf_value args)
{
    hf_slice name;
    hf_value ignored;
    size_t unknown = 0;

    for (size_t i = 0; hf_value_member(args, i, &name, &ignored); i++) {
        size_t at = 0;

        while (at < contract->count && !hf_slice_equal(contract->params[at].name, name))
            at++;
        if (at < contract->count || ++unknown > HF_CONTRACT_UNKNOWN_MAX)
            continue;
        if (name.len > SHOWN_NAME_MAX) {
            name.len = SHOWN_NAME_MAX;
            while (!hf_utf8_valid(name))
                name.len--;
        }
        complain(list, name,
                 hf_mem_format(list->mem, "Unknown argument [%.*s].", (int)name.len, name.ptr));
    }
    if (unknown > HF_CONTRACT_UNKNOWN_MAX)
        complain(list, HF_SLICE("arguments"),
                 hf_mem_format(list->mem, "%zu more arguments are unknown.",
                               unknown - HF_CONTRACT_UNKNOWN_MAX));
}

static bool key_seen(const complaints *list, const complaint *until)
{
    for (const complaint *one = list->first; one != until; one = one->next) {
        if (hf_slice_equal(one->key, until->key))
            return true;
    }
    return false;
}

/* {name: [messages]}, in the order the names came up; NULL when memory ran out. */
static hf_value complaints_value(const complaints *list)
{
    hf_value_list *errors = hf_value_object(list->mem);

    if (list->failed)
        return NULL;
    for (const complaint *one = list->first; one; one = one->next) {
        hf_value_list *messages;

        if (key_seen(list, one))
            continue;
        messages = hf_value_array(list->mem);
        for (const complaint *same = one; same; same = same->next) {
            if (hf_slice_equal(same->key, one->key))
                hf_value_append(messages, hf_value_string(list->mem, hf_slice_of(same->message)));
        }
        hf_value_set(errors, one->key, hf_value_finish(messages));
    }
    return hf_value_finish(errors);
}

/* One argument, given or not; NULL after a complaint. */
static hf_status argument_take(const hf_param *param, hf_value given, complaints *list,
                               hf_value *out_value, hf_err *err)
{
    hf_status st = HF_OK;

    *out_value = param->fallback;
    if (given)
        st = hf_param_take(param, given, list->mem, out_value, err);
    if (!st && !*out_value && given)
        complain_type(list, param, given);
    else if (!st && !*out_value)
        complain_missing(list, param);
    return st;
}

static hf_status apply_value(const hf_param *param, hf_value args, complaints *list,
                             hf_value *out_args, hf_err *err)
{
    hf_value given = args;

    if (hf_value_kind_of(args) == HF_VALUE_ARRAY) {
        if (hf_len(args) > 1) {
            complain_many(list, hf_len(args), 1);
            return HF_OK;
        }
        given = hf_at(args, 0);
    }
    return argument_take(param, given, list, out_args, err);
}

static hf_status apply_named(const hf_contract *contract, hf_value args, complaints *list,
                             hf_value *out_args, hf_err *err)
{
    hf_value_kind kind = hf_value_kind_of(args);
    hf_value_list *object = hf_value_object(list->mem);
    hf_value value = NULL;

    if (kind != HF_VALUE_NULL && kind != HF_VALUE_ARRAY && kind != HF_VALUE_OBJECT) {
        complain(list, HF_SLICE("arguments"),
                 "The arguments must be a list, or an object of named arguments.");
        return HF_OK;
    }
    for (size_t i = 0; i < contract->count; i++) {
        const hf_param *param = &contract->params[i];
        hf_value given = kind == HF_VALUE_ARRAY ? hf_at(args, i) : hf_value_find(args, param->name);
        hf_status st = argument_take(param, given, list, &value, err);

        if (st)
            return st;
        if (value)
            hf_value_set(object, param->name, value);
    }
    if (kind == HF_VALUE_ARRAY && hf_len(args) > contract->count)
        complain_many(list, hf_len(args), contract->count);
    if (kind == HF_VALUE_OBJECT)
        complain_unknown(list, contract, args);
    *out_args = hf_value_finish(object);
    return *out_args ? HF_OK : hf_err_nomem(err, "arguments");
}

hf_status hf_contract_apply(const hf_contract *contract, hf_value args, hf_mem *mem,
                            hf_value *out_args, hf_value *out_errors, hf_err *err)
{
    complaints list = {.mem = mem};
    hf_status st = HF_OK;

    list.end = &list.first;
    *out_args = NULL;
    *out_errors = NULL;
    switch (contract->form) {
    case HF_CONTRACT_UNDECLARED:
        *out_args = args;
        return HF_OK;
    case HF_CONTRACT_VALUE:
        HF_ASSERT(contract->count == 1);
        st = apply_value(&contract->params[0], args, &list, out_args, err);
        break;
    case HF_CONTRACT_NAMED:
        st = apply_named(contract, args, &list, out_args, err);
        break;
    }
    if (!st && (list.first || list.failed)) {
        *out_errors = complaints_value(&list);
        if (!*out_errors)
            st = hf_err_nomem(err, "the errors of arguments");
    }
    if (st || *out_errors)
        *out_args = NULL;
    return st;
}

hf_value hf_contract_received(hf_value args)
{
    if (hf_value_kind_of(args) != HF_VALUE_ARRAY || hf_len(args) > 1)
        return args;
    return hf_len(args) == 0 ? hf_value_bool(true) : hf_at(args, 0);
}
