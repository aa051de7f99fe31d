/* yaml.c - libyaml's events into a checked tree.
 *
 * libyaml reports what it sees one event at a time, each with its mark. One function (advance)
 * fetches the next event and refuses what no run file may hold, so the rest reads like the grammar:
 * a document is one value; a value is a scalar, a list of values or a mapping of keys to values.
 */
#include "io/yaml.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

typedef struct reader {
    const tsri_yaml_source *source;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one; YAML_NO_EVENT when there is none */
    int64_t nodes;      /* values so far */
    bool tabs;          /* does a line of the text start with a tab? */
} reader;

tsri_place tsri_place_of(const tsri_yaml_source *source, tsri_mark mark)
{
    tsri_place place;
    if (source->lines)
        (void)snprintf(place.text, sizeof place.text, "%s:%lld:%lld", tsri_quote(source->name),
                       (long long)mark.line, (long long)mark.column);
    else
        (void)snprintf(place.text, sizeof place.text, "%s", tsri_quote(source->name));
    return place;
}

static tsri_mark mark_of(yaml_mark_t mark)
{
    return (tsri_mark){(int64_t)mark.line + 1, (int64_t)mark.column + 1};
}

static tsr_status refuse(const reader *r, tsri_mark mark, const char *why)
{
    return tsri_fail(TSR_USAGE, "%s: %s", tsri_place_of(r->source, mark).text, why);
}

/* ---- Events ------------------------------------------------------------------------------- */

static tsr_status syntax_error(const reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return tsri_fail(TSR_RESOURCES, "%s: out of memory", tsri_quote(r->source->name));
    const char *problem = p->problem ? p->problem : "it cannot be read";
    const char *hint = "";
    if (strstr(problem, "cannot start any token")) {
        tsri_mark mark = mark_of(p->problem_mark);
        return refuse(r, mark,
                      r->tabs ? "not valid YAML here; indent with spaces, not tabs"
                              : "no value starts with this character; put it in quotes");
    }
    if (strstr(problem, "mapping values are not allowed"))
        hint = "; check the indentation, or put a text with ': ' in quotes";
    tsri_place place = tsri_place_of(r->source, mark_of(p->problem_mark));
    if (p->context && r->source->lines)
        return tsri_fail(TSR_USAGE, "%s: not valid YAML: %s %s that starts at line %lld%s",
                         place.text, problem, p->context, (long long)p->context_mark.line + 1,
                         hint);
    return tsri_fail(TSR_USAGE, "%s: not valid YAML: %s%s", place.text, problem, hint);
}

static bool has_anchor(const yaml_event_t *e)
{
    return (e->type == YAML_SCALAR_EVENT && e->data.scalar.anchor) ||
           (e->type == YAML_SEQUENCE_START_EVENT && e->data.sequence_start.anchor) ||
           (e->type == YAML_MAPPING_START_EVENT && e->data.mapping_start.anchor);
}

static bool has_tag(const yaml_event_t *e)
{
    return (e->type == YAML_SCALAR_EVENT && e->data.scalar.tag) ||
           (e->type == YAML_SEQUENCE_START_EVENT && e->data.sequence_start.tag) ||
           (e->type == YAML_MAPPING_START_EVENT && e->data.mapping_start.tag);
}

static tsr_status check_event(const reader *r)
{
    const yaml_event_t *e = &r->event;
    tsri_mark mark = mark_of(e->start_mark);
    if (e->type == YAML_ALIAS_EVENT)
        return refuse(r, mark, "aliases (*name) are not allowed here; write the value itself");
    if (has_anchor(e))
        return refuse(r, mark, "anchors (&name) are not allowed here; write the value itself");
    if (has_tag(e))
        return refuse(r, mark, "tags (!name) are not allowed here; write the plain value");
    if (e->type == YAML_DOCUMENT_START_EVENT &&
        e->data.document_start.tag_directives.start != e->data.document_start.tag_directives.end)
        return refuse(r, mark, "%TAG lines are not allowed here; remove them");
    if (e->type == YAML_SCALAR_EVENT && e->data.scalar.length > TSRI_YAML_SCALAR_MAX)
        return refuse(r, mark, "this text is longer than 65536 bytes");
    if (e->type == YAML_SCALAR_EVENT && memchr(e->data.scalar.value, 0, e->data.scalar.length))
        return refuse(r, mark, "there is a zero byte (\\0) in this text; remove it");
    return TSR_OK;
}

static void drop_event(reader *r)
{
    yaml_event_delete(&r->event); /* and back to YAML_NO_EVENT */
}

static tsr_status advance(reader *r)
{
    drop_event(r);
    if (!yaml_parser_parse(&r->parser, &r->event))
        return syntax_error(r);
    return check_event(r);
}

/* ---- Values ------------------------------------------------------------------------------- */

static tsr_status read_value(tsri_yaml_node **out, reader *r, int depth);

/* The first member of `map` with this key. A tree is small (TSRI_YAML_NODES): looking at all of
 * them is cheap enough. */
static const tsri_yaml_node *find_key(const tsri_yaml_node *map, const char *key)
{
    const tsri_yaml_node *m = map->child;
    while (m && strcmp(m->key, key) != 0)
        m = m->next;
    return m;
}

/* The current event is a key: reads it and its value. *out is set as soon as there is a value, so
 * that a failure after it frees it. */
static tsr_status read_member(tsri_yaml_node **out, reader *r, const tsri_yaml_node *map, int depth)
{
    tsr_status st = TSR_OK;
    char *key = NULL;
    tsri_mark mark = mark_of(r->event.start_mark);
    if (r->event.type != YAML_SCALAR_EVENT)
        return refuse(r, mark, "a key must be a word, not a list or a mapping");
    TSR_TRY(tsri_strndup(&key, (char *)r->event.data.scalar.value, r->event.data.scalar.length));
    const tsri_yaml_node *twin = find_key(map, key);
    TSR_CHECK(!twin, TSR_USAGE, "%s: '%s' is given twice, first at line %lld; keep one",
              tsri_place_of(r->source, mark).text, tsri_quote(key), (long long)twin->key_mark.line);
    TSR_TRY(advance(r));
    TSR_TRY(read_value(out, r, depth));
    (*out)->key = key;
    (*out)->key_mark = mark;
    key = NULL;
done:
    tsri_free(key);
    return st;
}

/* Children up to the event `end`. */
static tsr_status read_children(tsri_yaml_node *parent, reader *r, yaml_event_type_t end, int depth)
{
    tsr_status st = TSR_OK;
    tsri_yaml_node **tail = &parent->child;
    TSR_TRY(advance(r));
    while (r->event.type != end) {
        if (parent->kind == TSRI_YAML_MAP)
            TSR_TRY(read_member(tail, r, parent, depth));
        else
            TSR_TRY(read_value(tail, r, depth));
        tail = &(*tail)->next;
        parent->count++;
        TSR_TRY(advance(r));
    }
done:
    return st;
}

/* The value that starts at the current event. A part that was read before a failure hangs in the
 * tree and is freed with it; but a member is linked in before it has its key, so find_key is never
 * called on a mapping whose last member is unfinished. */
static tsr_status read_value(tsri_yaml_node **out, reader *r, int depth)
{
    tsr_status st = TSR_OK;
    const yaml_event_t *e = &r->event;
    tsri_mark mark = mark_of(e->start_mark);
    TSR_CHECK(depth < TSRI_YAML_DEPTH, TSR_USAGE, "%s: nested deeper than %d levels",
              tsri_place_of(r->source, mark).text, TSRI_YAML_DEPTH);
    TSR_CHECK(r->nodes++ < TSRI_YAML_NODES, TSR_USAGE, "%s: more than %d values",
              tsri_place_of(r->source, mark).text, TSRI_YAML_NODES);
    TSR_TRY(tsri_alloc(out, 1, sizeof **out));
    tsri_yaml_node *node = *out;
    node->mark = mark;
    if (e->type == YAML_SCALAR_EVENT) {
        node->quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        TSR_TRY(tsri_strndup(&node->text, (char *)e->data.scalar.value, e->data.scalar.length));
    } else if (e->type == YAML_SEQUENCE_START_EVENT) {
        node->kind = TSRI_YAML_LIST;
        TSR_TRY(read_children(node, r, YAML_SEQUENCE_END_EVENT, depth + 1));
    } else {
        node->kind = TSRI_YAML_MAP;
        TSR_TRY(read_children(node, r, YAML_MAPPING_END_EVENT, depth + 1));
    }
done:
    return st;
}

/* ---- The document ------------------------------------------------------------------------- */

static tsr_status read_document(tsri_yaml_node **out, reader *r)
{
    tsr_status st = TSR_OK;
    TSR_TRY(advance(r)); /* start of the stream */
    TSR_TRY(advance(r));
    if (r->event.type == YAML_STREAM_END_EVENT)
        return TSR_OK; /* nothing but comments */
    TSR_TRY(advance(r));
    TSR_TRY(read_value(out, r, 0));
    TSR_TRY(advance(r)); /* end of the document */
    TSR_TRY(advance(r));
    if (r->event.type != YAML_STREAM_END_EVENT)
        st = refuse(r, mark_of(r->event.start_mark),
                    "a second document starts here (---); one file holds one document");
done:
    return st;
}

static bool some_line_starts_with_tab(const char *text, int64_t n)
{
    return n > 0 && (text[0] == '\t' || memmem(text, (size_t)n, "\n\t", 2) ||
                     memmem(text, (size_t)n, " \t", 2));
}

static bool starts_with_bom(const char *text, int64_t n)
{
    return n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
}

tsr_status tsri_yaml_parse(tsri_yaml_node **out, const char *text, int64_t n,
                           const tsri_yaml_source *source)
{
    tsr_status st = TSR_OK;
    reader r = {.source = source, .tabs = some_line_starts_with_tab(text, n)};
    tsri_mark mark;
    const char *problem = NULL;
    bool empty = false;
    *out = NULL;
    if (starts_with_bom(text, n)) {
        text += 3;
        n -= 3;
    }
    if (!tsri_yaml_characters(text, n, &mark, &problem))
        return refuse(&r, mark, problem);
    if (!yaml_parser_initialize(&r.parser))
        return tsri_fail(TSR_RESOURCES, "%s: out of memory", tsri_quote(source->name));
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, (size_t)n);
    TSR_TRY(read_document(out, &r));
    empty = *out && (*out)->kind == TSRI_YAML_SCALAR && !(*out)->quoted && !*(*out)->text;
done:
    drop_event(&r);
    yaml_parser_delete(&r.parser);
    if (st != TSR_OK || empty) {
        tsri_yaml_destroy(*out);
        *out = NULL;
    }
    return st;
}

void tsri_yaml_destroy(tsri_yaml_node *node)
{
    while (node) {
        tsri_yaml_node *next = node->next;
        tsri_yaml_destroy(node->child);
        tsri_free(node->text);
        tsri_free(node->key);
        tsri_free(node);
        node = next;
    }
}
