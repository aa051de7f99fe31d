/* pickle_machine.c - the stack machine of pickles, with the opcodes that state dicts need.
 *
 * Each opcode takes at least a byte and makes at most one value, so that memory grows with the
 * pickle and not with what it claims. Values refer to others by number and are never walked down:
 * a list that holds itself, or one nested a million times, is just a few numbers.
 */
#include "io/pickle_machine.h"

#include "base/alloc.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MARK = -2 };

/* ---- Failing ------------------------------------------------------------------------------ */

tsr_status tsri_machine_fail(const tsri_machine *m, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return tsri_fail(TSR_BAD_FILE, "%s: pickle, byte %lld: %s", tsri_quote(m->path),
                     (long long)(m->at - m->begin), text);
}

/* ---- Values, stack, memo ------------------------------------------------------------------ */

tsr_status tsri_machine_new(tsri_machine *m, int32_t *index, tsri_pickle_value like)
{
    tsr_status st = TSR_OK;
    if (m->values >= TSRI_PICKLE_VALUES)
        return tsri_machine_fail(m, "more than %d values", TSRI_PICKLE_VALUES);
    TSR_TRY(tsri_reserve(&m->value, &m->values_room, m->values, sizeof *m->value));
    *index = (int32_t)m->values;
    m->value[m->values++] = like;
done:
    return st;
}

static tsr_status push(tsri_machine *m, int32_t value)
{
    tsr_status st = TSR_OK;
    if (m->depth >= TSRI_PICKLE_VALUES)
        return tsri_machine_fail(m, "a stack of more than %d values", TSRI_PICKLE_VALUES);
    TSR_TRY(tsri_reserve(&m->stack, &m->stack_room, m->depth, sizeof *m->stack));
    m->stack[m->depth++] = value;
done:
    return st;
}

static tsr_status push_new(tsri_machine *m, tsri_pickle_value like)
{
    int32_t index = 0;
    tsr_status st = tsri_machine_new(m, &index, like);
    return st == TSR_OK ? push(m, index) : st;
}

static tsr_status push_container(tsri_machine *m, tsri_pickle_kind kind)
{
    return push_new(m, (tsri_pickle_value){.kind = kind, .items = {.first = -1, .last = -1}});
}

static tsr_status pop(tsri_machine *m, int32_t *value)
{
    if (m->depth == 0 || m->stack[m->depth - 1] == MARK)
        return tsri_machine_fail(m, "the stack has no value here");
    *value = m->stack[--m->depth];
    return TSR_OK;
}

/* *from = the place of the first value above the last mark. */
static tsr_status above_mark(const tsri_machine *m, int64_t *from)
{
    *from = m->depth;
    while (*from > 0 && m->stack[*from - 1] != MARK)
        --*from;
    return *from > 0 ? TSR_OK : tsri_machine_fail(m, "there is no mark on the stack");
}

static tsr_status append(tsri_machine *m, int32_t container, int32_t item)
{
    tsr_status st = TSR_OK;
    if (m->cells >= TSRI_PICKLE_VALUES)
        return tsri_machine_fail(m, "more than %d values in containers", TSRI_PICKLE_VALUES);
    TSR_TRY(tsri_reserve(&m->cell, &m->cells_room, m->cells, sizeof *m->cell));
    int32_t at = (int32_t)m->cells++;
    m->cell[at] = (tsri_pickle_cell){.value = item, .next = -1};
    tsri_pickle_value *v = &m->value[container];
    if (v->items.last >= 0)
        m->cell[v->items.last].next = at;
    else
        v->items.first = at;
    v->items.last = at;
    v->items.count++;
done:
    return st;
}

int32_t tsri_machine_item(const tsri_machine *m, int32_t tuple, int64_t i)
{
    const tsri_pickle_value *v = &m->value[tuple];
    int32_t cell = v->kind == TSRI_PICKLE_TUPLE ? v->items.first : -1;
    for (; cell >= 0 && i > 0; i--)
        cell = m->cell[cell].next;
    return cell >= 0 ? m->cell[cell].value : -1;
}

/* Indices in real pickles count up, and each put takes two bytes. */
static tsr_status memo_put(tsri_machine *m, uint64_t index)
{
    tsr_status st = TSR_OK;
    if (index >= (uint64_t)(m->end - m->begin))
        return tsri_machine_fail(m, "memo %llu in a pickle of %lld bytes",
                                 (unsigned long long)index, (long long)(m->end - m->begin));
    if (m->depth == 0 || m->stack[m->depth - 1] == MARK)
        return tsri_machine_fail(m, "the stack has no value for the memo");
    while ((uint64_t)m->memos <= index) {
        TSR_TRY(tsri_reserve(&m->memo, &m->memo_room, m->memos, sizeof *m->memo));
        m->memo[m->memos++] = -1;
    }
    m->memo[index] = m->stack[m->depth - 1];
done:
    return st;
}

static tsr_status memo_get(tsri_machine *m, uint64_t index)
{
    if (index >= (uint64_t)m->memos || m->memo[index] < 0)
        return tsri_machine_fail(m, "memo %llu is empty", (unsigned long long)index);
    return push(m, m->memo[index]);
}

/* ---- Arguments of opcodes ----------------------------------------------------------------- */

/* The next n bytes as a little-endian number. */
static tsr_status number(tsri_machine *m, uint64_t *out, int n)
{
    *out = 0;
    if (m->end - m->at < n)
        return tsri_machine_fail(m, "the pickle is cut off");
    for (int i = 0; i < n; i++)
        *out |= (uint64_t)m->at[i] << 8 * i;
    m->at += n;
    return TSR_OK;
}

static tsr_status span(tsri_machine *m, tsri_pickle_text *out, uint64_t n)
{
    if ((uint64_t)(m->end - m->at) < n)
        return tsri_machine_fail(m, "a text of %llu bytes, but %lld are left",
                                 (unsigned long long)n, (long long)(m->end - m->at));
    *out = (tsri_pickle_text){(const char *)m->at, (int64_t)n};
    m->at += n;
    return TSR_OK;
}

static tsr_status line(tsri_machine *m, tsri_pickle_text *out)
{
    const unsigned char *end = memchr(m->at, '\n', (size_t)(m->end - m->at));
    if (!end)
        return tsri_machine_fail(m, "a name without an end");
    *out = (tsri_pickle_text){(const char *)m->at, end - m->at};
    m->at = end + 1;
    return TSR_OK;
}

/* ---- Opcodes ------------------------------------------------------------------------------ */

static tsr_status text(tsri_machine *m, int width)
{
    tsr_status st = TSR_OK;
    uint64_t n;
    tsri_pickle_value v = {.kind = TSRI_PICKLE_TEXT};
    TSR_TRY(number(m, &n, width));
    TSR_TRY(span(m, &v.text, n));
    TSR_TRY(push_new(m, v));
done:
    return st;
}

static tsr_status integer(tsri_machine *m, int width)
{
    tsr_status st = TSR_OK;
    uint64_t n;
    TSR_TRY(number(m, &n, width));
    int64_t value = width == 4 ? (int64_t)(int32_t)(uint32_t)n : (int64_t)n;
    TSR_TRY(push_new(m, (tsri_pickle_value){.kind = TSRI_PICKLE_INT, .integer = value}));
done:
    return st;
}

/* LONG1: up to eight bytes, the last of which has the sign. */
static tsr_status long_integer(tsri_machine *m)
{
    tsr_status st = TSR_OK;
    uint64_t n, value;
    TSR_TRY(number(m, &n, 1));
    if (n > 8)
        return tsri_machine_fail(m, "a whole number of %llu bytes", (unsigned long long)n);
    TSR_TRY(number(m, &value, (int)n));
    if (n > 0 && n < 8 && value >> (8 * n - 1))
        value |= ~(uint64_t)0 << 8 * n;
    TSR_TRY(push_new(m, (tsri_pickle_value){.kind = TSRI_PICKLE_INT, .integer = (int64_t)value}));
done:
    return st;
}

/* A real number is ignored: no tensor needs one. */
static tsr_status real(tsri_machine *m)
{
    uint64_t bits;
    tsr_status st = number(m, &bits, 8);
    return st == TSR_OK ? push_new(m, (tsri_pickle_value){.kind = TSRI_PICKLE_REAL}) : st;
}

/* The values from place `from` of the stack become a tuple. */
static tsr_status tuple_from(tsri_machine *m, int64_t from, bool marked)
{
    tsr_status st = TSR_OK;
    int32_t tuple = -1;
    tsri_pickle_value empty = {.kind = TSRI_PICKLE_TUPLE, .items = {.first = -1, .last = -1}};
    TSR_TRY(tsri_machine_new(m, &tuple, empty));
    for (int64_t i = from; i < m->depth; i++)
        TSR_TRY(append(m, tuple, m->stack[i]));
    m->depth = from - marked;
    TSR_TRY(push(m, tuple));
done:
    return st;
}

static tsr_status short_tuple(tsri_machine *m, int64_t count)
{
    for (int64_t i = 1; i <= count; i++)
        if (m->depth < i || m->stack[m->depth - i] == MARK)
            return tsri_machine_fail(m, "too few values for a tuple");
    return tuple_from(m, m->depth - count, false);
}

static tsr_status marked_tuple(tsri_machine *m)
{
    int64_t from;
    tsr_status st = above_mark(m, &from);
    return st == TSR_OK ? tuple_from(m, from, true) : st;
}

/* The values from place `from` go into the container that stands before them. */
static tsr_status fill(tsri_machine *m, tsri_pickle_kind kind, int64_t from, bool marked)
{
    tsr_status st = TSR_OK;
    int64_t at = from - marked - 1, count = m->depth - from;
    bool dict = kind == TSRI_PICKLE_DICT;
    if (at < 0 || m->stack[at] == MARK || m->value[m->stack[at]].kind != kind)
        return tsri_machine_fail(m, "items for what is not a %s", dict ? "dictionary" : "list");
    if (dict && count % 2)
        return tsri_machine_fail(m, "a key without a value");
    for (int64_t i = from; i < m->depth; i++)
        TSR_TRY(append(m, m->stack[at], m->stack[i]));
    m->depth = at + 1;
done:
    return st;
}

static tsr_status fill_last(tsri_machine *m, tsri_pickle_kind kind, int64_t count)
{
    for (int64_t i = 1; i <= count; i++)
        if (m->depth < i || m->stack[m->depth - i] == MARK)
            return tsri_machine_fail(m, "too few values for a container");
    return fill(m, kind, m->depth - count, false);
}

static tsr_status fill_marked(tsri_machine *m, tsri_pickle_kind kind)
{
    int64_t from;
    tsr_status st = above_mark(m, &from);
    return st == TSR_OK ? fill(m, kind, from, true) : st;
}

static tsr_status global(tsri_machine *m)
{
    tsr_status st = TSR_OK;
    tsri_pickle_text module = {0}, name = {0};
    int32_t index = -1;
    TSR_TRY(line(m, &module));
    TSR_TRY(line(m, &name));
    TSR_TRY(tsri_machine_name(m, &index, module, name));
    TSR_TRY(push(m, index));
done:
    return st;
}

static tsr_status stack_global(tsri_machine *m)
{
    tsr_status st = TSR_OK;
    int32_t module = -1, name = -1, index = -1;
    TSR_TRY(pop(m, &name));
    TSR_TRY(pop(m, &module));
    if (m->value[module].kind != TSRI_PICKLE_TEXT || m->value[name].kind != TSRI_PICKLE_TEXT)
        return tsri_machine_fail(m, "a name that is not text");
    TSR_TRY(tsri_machine_name(m, &index, m->value[module].text, m->value[name].text));
    TSR_TRY(push(m, index));
done:
    return st;
}

static tsr_status reduce(tsri_machine *m)
{
    tsr_status st = TSR_OK;
    int32_t name = -1, arguments = -1, index = -1;
    TSR_TRY(pop(m, &arguments));
    TSR_TRY(pop(m, &name));
    TSR_TRY(tsri_machine_call(m, &index, name, arguments));
    TSR_TRY(push(m, index));
done:
    return st;
}

/* The state of an OrderedDict (_metadata: versions of its modules) says nothing about numbers. */
static tsr_status build(tsri_machine *m)
{
    tsr_status st = TSR_OK;
    int32_t state = -1;
    TSR_TRY(pop(m, &state));
    if (m->depth == 0 || m->stack[m->depth - 1] == MARK ||
        m->value[m->stack[m->depth - 1]].kind != TSRI_PICKLE_DICT)
        return tsri_machine_fail(m, "a state for what is not a dictionary");
done:
    return st;
}

static tsr_status persistent(tsri_machine *m)
{
    tsr_status st = TSR_OK;
    int32_t tuple = -1, index = -1;
    TSR_TRY(pop(m, &tuple));
    TSR_TRY(tsri_machine_storage(m, &index, tuple));
    TSR_TRY(push(m, index));
done:
    return st;
}

static tsr_status memo(tsri_machine *m, int width, bool put)
{
    uint64_t index;
    tsr_status st = number(m, &index, width);
    if (st != TSR_OK)
        return st;
    return put ? memo_put(m, index) : memo_get(m, index);
}

static tsr_status protocol(tsri_machine *m)
{
    uint64_t version;
    tsr_status st = number(m, &version, 1);
    if (st == TSR_OK && (version < 2 || version > 5))
        st = tsri_machine_fail(m, "protocol %llu; 2 to 5 are known", (unsigned long long)version);
    return st;
}

static tsr_status frame(tsri_machine *m)
{
    uint64_t n;
    tsr_status st = number(m, &n, 8);
    if (st == TSR_OK && n > (uint64_t)(m->end - m->at))
        st = tsri_machine_fail(m, "a frame of %llu bytes, but %lld are left", (unsigned long long)n,
                               (long long)(m->end - m->at));
    return st;
}

/* clang-format off */
static tsr_status step(tsri_machine *m, unsigned char opcode)
{
    switch (opcode) {
    case 0x80: return protocol(m);
    case 0x95: return frame(m);
    case '(':  return push(m, MARK);
    case 'N':  return push_new(m, (tsri_pickle_value){.kind = TSRI_PICKLE_NONE});
    case 0x88: return push_new(m, (tsri_pickle_value){.kind = TSRI_PICKLE_BOOL, .integer = 1});
    case 0x89: return push_new(m, (tsri_pickle_value){.kind = TSRI_PICKLE_BOOL});
    case 'K':  return integer(m, 1);
    case 'M':  return integer(m, 2);
    case 'J':  return integer(m, 4);
    case 0x8a: return long_integer(m);
    case 'G':  return real(m);
    case 0x8c: return text(m, 1);
    case 'X':  return text(m, 4);
    case 0x8d: return text(m, 8);
    case ')':  return push_container(m, TSRI_PICKLE_TUPLE);
    case 0x85: return short_tuple(m, 1);
    case 0x86: return short_tuple(m, 2);
    case 0x87: return short_tuple(m, 3);
    case 't':  return marked_tuple(m);
    case ']':  return push_container(m, TSRI_PICKLE_LIST);
    case 'a':  return fill_last(m, TSRI_PICKLE_LIST, 1);
    case 'e':  return fill_marked(m, TSRI_PICKLE_LIST);
    case '}':  return push_container(m, TSRI_PICKLE_DICT);
    case 's':  return fill_last(m, TSRI_PICKLE_DICT, 2);
    case 'u':  return fill_marked(m, TSRI_PICKLE_DICT);
    case 'c':  return global(m);
    case 0x93: return stack_global(m);
    case 'R':  return reduce(m);
    case 'b':  return build(m);
    case 'Q':  return persistent(m);
    case 'q':  return memo(m, 1, true);
    case 'r':  return memo(m, 4, true);
    case 0x94: return memo_put(m, (uint64_t)m->memos);
    case 'h':  return memo(m, 1, false);
    case 'j':  return memo(m, 4, false);
    default:   return tsri_machine_fail(m, "opcode 0x%02x, which no dictionary of tensors needs",
                                        opcode);
    }
}
/* clang-format on */

tsr_status tsri_machine_run(tsri_machine *m, int32_t *root)
{
    tsr_status st = TSR_OK;
    for (;;) {
        if (m->at == m->end)
            return tsri_machine_fail(m, "the pickle is cut off: it does not end");
        unsigned char opcode = *m->at++;
        if (opcode == '.')
            break;
        TSR_TRY(step(m, opcode));
    }
    TSR_TRY(pop(m, root));
    if (m->depth > 0)
        return tsri_machine_fail(m, "%lld values are left on the stack", (long long)m->depth);
done:
    return st;
}

void tsri_machine_fini(tsri_machine *m)
{
    tsri_free(m->value);
    tsri_free(m->cell);
    tsri_free(m->stack);
    tsri_free(m->memo);
}
