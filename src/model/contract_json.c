/* contract_json.c: contracts as they are stored, both ways. The form lives in histories for ever:
   what was once written must stay readable, so members are only ever added. What is read is checked
   as strictly as an author's text, because validation relies on it. */
#include "model/contract.h"

#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/value.h"

/* -- writing */

static hf_value choices_to_value(const hf_param *param, hf_mem *mem)
{
    hf_value_list *list = hf_value_array(mem);

    for (size_t i = 0; i < param->choice_count; i++)
        hf_value_append(list, hf_value_string(mem, param->choices[i]));
    return hf_value_finish(list);
}

static hf_value param_to_value(const hf_param *param, size_t position, hf_mem *mem)
{
    hf_value_list *entry = hf_value_object(mem);
    hf_slice type = hf_slice_of(hf_param_type_text(param->type));
    bool given = param->fallback != NULL;

    hf_value_set(entry, HF_SLICE("name"), hf_value_string(mem, param->name));
    hf_value_set(entry, HF_SLICE("position"), hf_value_int(mem, (int64_t)position));
    hf_value_set(entry, HF_SLICE("required"), hf_value_bool(!given));
    hf_value_set(entry, HF_SLICE("variadic"), hf_value_bool(false));
    hf_value_set(entry, HF_SLICE("default_available"), hf_value_bool(given));
    hf_value_set(entry, HF_SLICE("default"), given ? param->fallback : hf_value_null());
    hf_value_set(entry, HF_SLICE("type"), hf_value_string(mem, type));
    hf_value_set(entry, HF_SLICE("allows_null"), hf_value_bool(param->allows_null));
    if (param->type == HF_PARAM_ENUM)
        hf_value_set(entry, HF_SLICE("enum"), choices_to_value(param, mem));
    return hf_value_finish(entry);
}

/* -- reading */

static hf_status entry_flag(hf_value entry, const char *key, bool *out_flag, hf_err *err)
{
    hf_value value = hf_value_find(entry, hf_slice_of(key));

    if (hf_value_kind_of(value) != HF_VALUE_BOOL)
        return hf_err_set(err, HF_INVALID, "%s is not a boolean", key);
    *out_flag = hf_bool(value, "", false);
    return HF_OK;
}

static hf_status choices_read(hf_mem *mem, hf_value list, hf_param *param, hf_err *err)
{
    size_t count = hf_len(list);
    hf_slice *choices;

    if (hf_value_kind_of(list) != HF_VALUE_ARRAY || count == 0 || count > HF_CONTRACT_CHOICES_MAX)
        return hf_err_set(err, HF_INVALID, "enum is not a list of 1 to %d texts",
                          HF_CONTRACT_CHOICES_MAX);
    choices = hf_mem_array(mem, count, sizeof(*choices));
    if (!choices)
        return hf_err_nomem(err, "the texts of an enum");
    for (size_t i = 0; i < count; i++) {
        choices[i] = hf_value_slice(hf_at(list, i));
        if (hf_value_kind_of(hf_at(list, i)) != HF_VALUE_STRING || !hf_param_word_valid(choices[i]))
            return hf_err_set(err, HF_INVALID, "item %zu of enum is not a word", i);
        for (size_t j = 0; j < i; j++) {
            if (hf_slice_equal(choices[i], choices[j]))
                return hf_err_set(err, HF_INVALID, "item %zu of enum is there twice", i);
        }
    }
    param->choices = choices;
    param->choice_count = count;
    return HF_OK;
}

/* The default of an entry, which must be there exactly when the entry is not required. */
static hf_status default_read(hf_mem *mem, hf_value entry, hf_param *param, hf_err *err)
{
    bool required = false;
    bool available = false;
    hf_status st = entry_flag(entry, "required", &required, err);

    if (!st)
        st = entry_flag(entry, "default_available", &available, err);
    if (st)
        return st;
    if (required == available)
        return hf_err_set(err, HF_INVALID, "required and default_available contradict each other");
    if (!available)
        return HF_OK;
    st =
        hf_param_take(param, hf_value_find(entry, HF_SLICE("default")), mem, &param->fallback, err);
    if (!st && !param->fallback)
        st = hf_err_set(err, HF_INVALID, "the default is not of type %s",
                        hf_param_type_text(param->type));
    return st;
}

static hf_status entry_read(hf_mem *mem, hf_value entry, size_t position, hf_param *param,
                            hf_err *err)
{
    hf_value name = hf_value_find(entry, HF_SLICE("name"));
    hf_value type = hf_value_find(entry, HF_SLICE("type"));
    bool variadic = false;
    hf_status st;

    if (hf_value_kind_of(entry) != HF_VALUE_OBJECT)
        return hf_err_set(err, HF_INVALID, "it is not an object");
    if (hf_value_kind_of(name) != HF_VALUE_STRING)
        return hf_err_set(err, HF_INVALID, "name is not text");
    param->name = hf_value_slice(name);
    if (hf_value_kind_of(hf_value_find(entry, HF_SLICE("position"))) != HF_VALUE_INT ||
        hf_int(entry, "position", -1) != (int64_t)position)
        return hf_err_set(err, HF_INVALID, "position is not %zu", position);
    if (hf_value_kind_of(type) != HF_VALUE_STRING ||
        !hf_param_type_parse(hf_value_slice(type), &param->type))
        return hf_err_set(err, HF_INVALID, "type is none of ours");
    st = entry_flag(entry, "variadic", &variadic, err);
    if (!st)
        st = entry_flag(entry, "allows_null", &param->allows_null, err);
    if (!st && variadic)
        st = hf_err_set(err, HF_INVALID, "variadic parameters are not supported");
    if (!st && param->type == HF_PARAM_ENUM)
        st = choices_read(mem, hf_value_find(entry, HF_SLICE("enum")), param, err);
    if (!st)
        st = default_read(mem, entry, param, err);
    return st;
}

/* Only a parameter that stands alone may have no name. */
static hf_status name_check(const hf_param *params, size_t i, size_t count, hf_err *err)
{
    if (params[i].name.len == 0 && count == 1)
        return HF_OK;
    if (!hf_param_name_valid(params[i].name))
        return hf_err_set(err, HF_INVALID, "name is not a parameter's name");
    for (size_t j = 0; j < i; j++) {
        if (hf_slice_equal(params[j].name, params[i].name))
            return hf_err_set(err, HF_INVALID, "its name is the one of parameter %zu", j);
    }
    return HF_OK;
}

hf_value hf_contract_to_value(const hf_contract *contract, hf_mem *mem)
{
    hf_value_list *list;

    if (contract->form == HF_CONTRACT_UNDECLARED)
        return hf_value_null();
    list = hf_value_array(mem);
    for (size_t i = 0; i < contract->count; i++)
        hf_value_append(list, param_to_value(&contract->params[i], i, mem));
    return hf_value_finish(list);
}

hf_status hf_contract_from_value(hf_mem *mem, hf_value entries, const hf_contract **out_contract,
                                 hf_err *err)
{
    size_t count = hf_len(entries);
    hf_contract *contract = NULL;
    hf_param *params = NULL;

    *out_contract = NULL;
    if (hf_value_kind_of(entries) != HF_VALUE_ARRAY && hf_value_kind_of(entries) != HF_VALUE_NULL)
        return hf_err_set(err, HF_INVALID, "a contract is neither a list of parameters nor null");
    if (count > HF_CONTRACT_PARAMS_MAX)
        return hf_err_set(err, HF_INVALID, "a contract has %zu parameters; at most %d are allowed",
                          count, HF_CONTRACT_PARAMS_MAX);
    contract = hf_mem_alloc(mem, sizeof(*contract));
    if (contract && count > 0)
        params = hf_mem_array(mem, count, sizeof(*params));
    if (!contract || (count > 0 && !params))
        return hf_err_nomem(err, "a contract");
    for (size_t i = 0; i < count; i++) {
        hf_status st = entry_read(mem, hf_at(entries, i), i, &params[i], err);

        if (!st)
            st = name_check(params, i, count, err);
        if (st)
            return hf_err_because(err, st, "parameter %zu of a contract", i);
    }
    contract->params = params;
    contract->count = count;
    contract->form = HF_CONTRACT_NAMED;
    if (hf_value_kind_of(entries) == HF_VALUE_NULL)
        contract->form = HF_CONTRACT_UNDECLARED;
    else if (count == 1 && params[0].name.len == 0)
        contract->form = HF_CONTRACT_VALUE;
    *out_contract = contract;
    return HF_OK;
}

hf_status hf_contract_from_json(hf_mem *mem, hf_slice text, const hf_contract **out_contract,
                                hf_err *err)
{
    hf_value entries = NULL;
    hf_status st = hf_json_read(mem, text, NULL, &entries, err);

    *out_contract = NULL;
    if (st)
        return hf_err_because(err, st, "read a contract");
    return hf_contract_from_value(mem, entries, out_contract, err);
}
