/* row_build.c: see row_build.h. */
#include "store/row_build.h"

#include "base/assert.h"

hf_row_builder hf_row_begin(hf_mem *mem, hf_op op)
{
    hf_row_builder builder = {.mem = mem, .row = hf_mem_alloc(mem, sizeof(hf_row))};

    if (!builder.row)
        return builder;
    builder.row->op = op;
    builder.row->command_cell = -1;
    builder.row->message_cell = -1;
    builder.row->cells = hf_mem_array(mem, hf_op_infos[op].cells, sizeof(hf_db_value));
    if (!builder.row->cells)
        builder.row = NULL;
    return builder;
}

hf_row *hf_row_end(hf_row_builder *builder)
{
    HF_ASSERT(!builder->row || builder->used == hf_op_infos[builder->row->op].cells);
    return builder->row;
}

void hf_row_put(hf_row_builder *builder, hf_db_value value)
{
    if (!builder->row)
        return;
    HF_ASSERT(builder->used < hf_op_infos[builder->row->op].cells);
    builder->row->cells[builder->used++] = value;
}

void hf_row_put_int(hf_row_builder *builder, int64_t number)
{
    hf_row_put(builder, number == HF_NONE ? hf_db_null(HF_DB_INT) : hf_db_int(number));
}

void hf_row_put_bytes(hf_row_builder *builder, hf_slice bytes, hf_db_type type)
{
    char *copy;

    if (!bytes.ptr) {
        hf_row_put(builder, hf_db_null(type));
        return;
    }
    copy = hf_mem_text(builder->mem, bytes);
    if (!copy)
        builder->row = NULL;
    hf_row_put(builder, (hf_db_value){.type = type, .bytes = hf_slice_from(copy, bytes.len)});
}

void hf_row_put_text(hf_row_builder *builder, hf_slice text)
{
    hf_row_put_bytes(builder, text, HF_DB_TEXT);
}

void hf_row_put_blob(hf_row_builder *builder, hf_slice bytes)
{
    hf_row_put_bytes(builder, bytes, HF_DB_BLOB);
}

void hf_row_put_instance(hf_row_builder *builder, const hf_instance_row *row)
{
    hf_row_put_int(builder, row->key);
    hf_row_put_int(builder, row->namespace_key);
    hf_row_put_text(builder, row->id);
    hf_row_put_int(builder, row->shard);
    hf_row_put_text(builder, row->type);
    hf_row_put_text(builder, row->business_key);
    hf_row_put_int(builder, row->current_run);
    hf_row_put_int(builder, row->run_count);
    hf_row_put_int(builder, row->created_us);
}

hf_row *hf_row_pair(hf_mem *mem, hf_op op, int64_t first, int64_t second)
{
    hf_row_builder b = hf_row_begin(mem, op);

    hf_row_put_int(&b, first);
    hf_row_put_int(&b, second);
    return hf_row_end(&b);
}

void hf_row_put_int_or_null(hf_row_builder *builder, int64_t number)
{
    hf_row_put_int(builder, number ? number : HF_NONE);
}
