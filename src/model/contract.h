/* contract.h: what a workflow, activity, signal, update or query takes as arguments.

   Authors write a contract as text:

       "name:type?=default, ..."     parameters in order
       "type?=default"               one value that has no name: "any", "int", "enum(a|b)=a"
       ""                            no parameters
       NULL                          undeclared: anything goes

   A name is [A-Za-z_][A-Za-z0-9_]{0,63}. White space may stand between any two parts.

       string          text
       int             a whole number of 64 bits; a double without a fraction, at most 2^53 either
                       way, becomes one
       number          any number
       bool            true or false; the integers 0 and 1 become these, as C callers write them
       array, object   any such value
       any             any value, null included
       enum(a|b)       one of the texts; each is a word of A-Z a-z 0-9 _ . : / + @ -
       time            text as RFC 3339 writes it in UTC: "2026-04-02T10:11:12.123456Z"; the
   fraction has up to six digits or is missing duration        milliseconds: a whole number, not
   negative, small enough that it can be counted in microseconds

   `?` allows null, and without `=` makes null the default. A default is a JSON literal; text, enum
   and time also take a bare word, made of the same characters as those of an enum. The word null
   is null, never text. A parameter without a default is required.

   Intake does not read that text: it validates against the JSON form, which is snapped into history
   when a run starts, because the code may be gone when a signal arrives. Everything here is pure;
   contracts live in the arena they were made in, never change, and may be read from any thread. */
#ifndef HF_MODEL_CONTRACT_H
#define HF_MODEL_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/slice.h"
#include "holdfast/mem.h"
#include "holdfast/value.h"

enum {
    HF_CONTRACT_PARAMS_MAX = 64,
    HF_CONTRACT_CHOICES_MAX = 64, /* of one enum */
    HF_CONTRACT_WORD_MAX = 64,    /* bytes of a name or of a choice */
    HF_CONTRACT_TEXT_MAX = 16384, /* bytes of a whole contract text */
    HF_CONTRACT_UNKNOWN_MAX = 64, /* unknown arguments that a rejection names one by one */
};

typedef enum hf_param_type {
    HF_PARAM_STRING,
    HF_PARAM_INT,
    HF_PARAM_NUMBER,
    HF_PARAM_BOOL,
    HF_PARAM_ARRAY,
    HF_PARAM_OBJECT,
    HF_PARAM_ANY,
    HF_PARAM_ENUM,
    HF_PARAM_TIME,
    HF_PARAM_DURATION,
} hf_param_type;

/* One parameter; its position is its place in the contract. */
typedef struct hf_param {
    hf_slice name; /* empty for the one value without a name */
    hf_param_type type;
    bool allows_null;
    hf_value fallback;       /* the default; NULL: none, the argument is required */
    const hf_slice *choices; /* of an enum, in declared order; NULL for other types */
    size_t choice_count;
} hf_param;

typedef enum hf_contract_form {
    HF_CONTRACT_UNDECLARED, /* anything goes */
    HF_CONTRACT_VALUE,      /* one value without a name: count is 1 */
    HF_CONTRACT_NAMED,      /* named parameters, possibly none */
} hf_contract_form;

typedef struct hf_contract {
    hf_contract_form form;
    const hf_param *params;
    size_t count;
} hf_contract;

/* The word of a type ("string"), and the type of a word; false when it is none. */
const char *hf_param_type_text(hf_param_type type);
bool hf_param_type_parse(hf_slice word, hf_param_type *out_type);

/* Whether `value` may be given for the parameter: *out_value is the value as code will see it
   (numbers made to fit, see above), or NULL when it may not. Fails with HF_NOMEM only. */
HF_NODISCARD hf_status hf_param_take(const hf_param *param, hf_value value, hf_mem *mem,
                                     hf_value *out_value, hf_err *err);

/* Whether a name, or a choice or bare default, is spelt as it must be. */
bool hf_param_name_valid(hf_slice name);
bool hf_param_word_valid(hf_slice word);

/* Reads the text above. HF_INVALID says "position N: expected ..., found ...", counted in bytes
   from 1; HF_NOMEM. The text is not kept. */
HF_NODISCARD hf_status hf_contract_parse(hf_mem *mem, const char *text,
                                         const hf_contract **out_contract, hf_err *err);

/* The JSON form: a list of entries in order,
       {"name", "position", "required", "variadic", "default_available", "default", "type",
        "allows_null"}
   and "enum", the list of texts, where the type is enum. "position" counts from 0, "variadic" is
   false, "default" is null when there is none, and the value without a name is called "". An
   undeclared contract is null. NULL when memory ran out. The value shares memory with the
   contract. */
HF_NODISCARD hf_value hf_contract_to_value(const hf_contract *contract, hf_mem *mem);

/* Reads that form again. Members it does not know are ignored; HF_INVALID names the parameter for
   everything else that is not as above, HF_NOMEM. The contract shares memory with the value. */
HF_NODISCARD hf_status hf_contract_from_value(hf_mem *mem, hf_value entries,
                                              const hf_contract **out_contract, hf_err *err);

/* The same from JSON text. */
HF_NODISCARD hf_status hf_contract_from_json(hf_mem *mem, hf_slice text,
                                             const hf_contract **out_contract, hf_err *err);

/* Holds arguments against a contract. `args` is an array of positional arguments, an object of
   named ones, or nothing (NULL; null as well, where parameters have names). A value without a name
   may also be given as it is, unless it is an array, which always is the list of arguments.

   Accepted: *out_errors is NULL and *out_args is what is recorded and handed to code: for named
   parameters an object with every one of them, in declared order, defaults filled in; for a value
   without a name that value; for an undeclared contract `args` as it came, where an array is the
   list of arguments and everything else, an object too, is one argument.

   Rejected: *out_args is NULL and *out_errors an object {name: [messages]}; what concerns no single
   parameter stands under "arguments", the value without a name under "value".

   Both share memory with `args` and the contract. A rejection is data, not a failure: HF_OK, else
   HF_NOMEM. */
HF_NODISCARD hf_status hf_contract_apply(const hf_contract *contract, hf_value args, hf_mem *mem,
                                         hf_value *out_args, hf_value *out_errors, hf_err *err);

/* What code that waits for a signal receives for its arguments: no argument gives true, one gives
   itself, several give an array; named ones come as an object. */
hf_value hf_contract_received(hf_value args);

#endif
