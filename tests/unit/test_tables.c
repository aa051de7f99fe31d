/* The rows of models, losses, schemes and papers: that they are the ones their lists name, that
 * what one row says of another is so, and that the help of the run file tells what the rows do. */
#include "testing.h"

#include "backend/backend.h"
#include "net/models.h"
#include "scheme/schemes.h"
#include "theory/papers.h"

static bool named(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        bool begins = at == text || strchr(" ,;:(", at[-1]);
        if (begins && (at[n] == 0 || strchr(" ,;:)", at[n])))
            return true;
    }
    return false;
}

static const char *help_of(const char *key)
{
    return tsri_schema[tsri_schema_find(key)].help;
}

static const char *choices_of(const char *key)
{
    return tsri_schema[tsri_schema_find(key)].choices;
}

/* A row says its own name, once more than the list does: a slip would make it answer to another. */
static void rows_have_the_names_of_their_lists(void **state)
{
    (void)state;
#define X(id)                                                                                      \
    assert_string_equal(tsri_model_##id.name, #id);                                                \
    assert_true(strlen(tsri_model_##id.help) > 0 && tsri_model_##id.build);
    TSRI_MODEL_NAMES(X)
#undef X
#define X(id)                                                                                      \
    assert_string_equal(tsri_loss_##id.name, #id);                                                 \
    assert_true(strlen(tsri_loss_##id.help) > 0 && tsri_loss_##id.position);
    TSRI_LOSS_NAMES(X)
#undef X
#define X(id)                                                                                      \
    assert_string_equal(tsri_scheme_##id.name, #id);                                               \
    assert_true(strlen(tsri_scheme_##id.help) > 0 && tsri_scheme_##id.round);
    TSRI_SCHEME_NAMES(X)
#undef X
#define X(id) assert_string_equal(tsri_backend_##id.name, #id);
    TSRI_BACKEND_NAMES(X)
#undef X
}

/* The run file's choices are made from the lists, without a bar too many. */
static void choices_are_the_lists(void **state)
{
    (void)state;
    assert_int_equal(strncmp(choices_of("scheme.name"), "dense|dropout|multisample|", 26), 0);
    assert_int_equal(strncmp(choices_of("model.name"), "mlp|shallow|", 12), 0);
    assert_int_equal(strncmp(choices_of("loss"), "auto|cross_entropy|mse|", 23), 0);
    assert_null(tsri_loss_named("auto"));
    assert_ptr_equal(tsri_loss_named("huber"), &tsri_loss_huber);
    assert_null(tsri_model_named("resnet"));
}

static void losses_agree_with_themselves(void **state)
{
    (void)state;
    for (int i = 0; tsri_loss_kinds[i]; i++) {
        const tsri_loss_kind *l = tsri_loss_kinds[i];
        assert_int_equal(l->sum, l->judged > 0);
        assert_true(!l->squares || l->sum);
        assert_true(!l->softens || l->classes);
        assert_int_equal(l->margin != NULL, l->steepest > 0); /* what theory asks of l(z) */
        assert_true(!l->margin || l->after > 0);
    }
}

static bool paper_known(const char *name)
{
#define X(id)                                                                                      \
    if (strcmp(tsri_paper_##id.name, name) == 0)                                                   \
        return true;
    TSRI_PAPER_NAMES(X)
#undef X
    return false;
}

static void models_name_what_there_is(void **state)
{
    (void)state;
    for (int i = 0; tsri_models[i]; i++) {
        const tsri_model *m = tsri_models[i];
        const tsri_model *twin = m->twin ? tsri_model_named(m->twin) : NULL;
        assert_true(!m->paper || paper_known(m->paper));
        assert_true(!m->twin || (twin && twin->gated != m->gated));
        assert_true(!twin || tsri_model_named(twin->twin) == m);
        assert_int_equal(m->first != NULL, m->last != NULL);
        assert_true(!m->normalize || strstr(choices_of("data.normalize"), m->normalize));
    }
}

/* Help that lists models is prose; what it lists are the rows that say so, and no others. */
static void help_tells_what_rows_do(void **state)
{
    (void)state;
    for (int i = 0; tsri_models[i]; i++) {
        const tsri_model *m = tsri_models[i];
        assert_int_equal(named(help_of("data.normalize"), m->name), m->normalize != NULL);
        assert_int_equal(named(help_of("loss"), m->name), m->loss || m->target_loss);
        assert_int_equal(named(help_of("optim.keep"), m->name), m->keeps_best);
    }
    for (int i = 0; tsri_schemes[i]; i++)
        assert_int_equal(named(help_of("scheme.draw"), tsri_schemes[i]->name),
                         tsri_reads(tsri_schemes[i]->keys, "draw"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_the_names_of_their_lists),
        cmocka_unit_test(choices_are_the_lists),
        cmocka_unit_test(losses_agree_with_themselves),
        cmocka_unit_test(models_name_what_there_is),
        cmocka_unit_test(help_tells_what_rows_do),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
