/* Which ticket is shown (ticket/best.h): the page once praised the most accurate, the last line of
 * the terminal the smallest. */
#include "testing.h"

#include "ticket/best.h"

#include <math.h>

typedef struct example {
    const char *story;
    double whole,
        accuracy[3]; /* of the whole; of tickets with 900, 500 and 100 of 1000 parameters */
    double best;     /* its parameters */
    bool as_accurate;
} example;

static tsri_ticket_row row(tsri_ticket_kind kind, double accuracy, int64_t params, double ms)
{
    tsri_duration d = {ms, ms, ms};
    tsri_ticket_row r = {.kind = kind, .accuracy = accuracy, .loss = 1, .params = params};
    r.time = (tsri_latency){.infer = d, .step = d};
    (void)snprintf(r.name, sizeof r.name, "ticket-%lld", (long long)params);
    return r;
}

static void chosen_once(void **state)
{
    (void)state;
    static const example examples[] = {
        {"the smallest of those that are as good", 0.85, {0.86, 0.85, 0.84}, 500, true},
        {"none is: the most accurate", 0.87, {0.86, 0.85, 0.84}, 900, false},
        {"none is, and two are equal: the smaller", 0.87, {0.85, 0.85, 0.84}, 500, false},
        {"equal in the digits shown is equal", 0.85004, {0.80, 0.84996, 0.80}, 500, true},
        {"a digit less is less", 0.8500, {0.80, 0.8499, 0.80}, 500, false},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const example *e = &examples[i];
        tsri_ticket_row rows[] = {
            row(TSRI_TICKET_PRETRAINED, 0.5, 1000, 10),
            row(TSRI_TICKET_WHOLE, e->whole, 1000, 10),
            row(TSRI_TICKET_RANDOM, 0.99, 10, 1),
            row(TSRI_TICKET_PRUNED, e->accuracy[0], 900, 9),
            row(TSRI_TICKET_PRUNED, e->accuracy[1], 500, 5),
            row(TSRI_TICKET_PRUNED, e->accuracy[2], 100, 2),
        };
        tsri_tickets t = {.row = rows, .rows = 6};
        tsri_best b = tsri_tickets_best(&t);
        if ((double)b.ticket->params != e->best || b.as_accurate != e->as_accurate)
            fail_msg("%s: %s", e->story, b.ticket->name);
        assert_ptr_equal(b.whole, &rows[1]);
        assert_int_equal(b.speed, TSRI_FASTER);
    }
}

static void expect(const tsri_tickets *t, const char *words)
{
    tsri_text text = {0};
    tsri_best b = tsri_tickets_best(t);
    assert_ok(tsri_best_sentence(&text, &b));
    assert_string_equal(text.data, words);
    tsri_text_fini(&text);
}

static void said_in_words(void **state)
{
    (void)state;
    tsri_ticket_row rows[] = {row(TSRI_TICKET_PRETRAINED, 0.8, 1000, 10),
                              row(TSRI_TICKET_PRUNED, 0.81, 250, 5)};
    tsri_tickets t = {.row = rows, .rows = 2};
    expect(&t,
           "ticket-250 is as accurate as the pretrained one (81.00 % against 80.00 %), has 25.0 "
           "% of its parameters and runs 2.00 times as fast");
    rows[0].samples = rows[1].samples = 100; /* 20 of them are wrong in one, 19 in the other */
    expect(&t, "ticket-250 is as accurate as the pretrained one (81.00 % against 80.00 % of 100 "
               "samples), has 25.0 % of its parameters and runs 2.00 times as fast");
    rows[0].samples = rows[1].samples = 0; /* not known */
    rows[0].kind = TSRI_TICKET_WHOLE;
    rows[0].accuracy = 0.9;
    rows[1].time.infer = (tsri_duration){.least = 9, .worst = 12};
    expect(&t,
           "ticket-250 is less accurate than the whole network (81.00 % against 90.00 %), has "
           "25.0 % of its parameters and may be faster (9.00 ms against 10.00, within the noise "
           "of this machine)");
    rows[0].accuracy = rows[1].accuracy = (double)NAN; /* targets are numbers */
    rows[0].loss = 0.25;
    rows[1].loss = 0.125;
    rows[1].time.infer = (tsri_duration){.least = 11, .worst = 12};
    expect(&t,
           "ticket-250 fits as well as the whole network (loss 0.1250 against 0.2500), has 25.0 "
           "% of its parameters and is not faster (11.00 ms against 10.00)");
    t.rows = 1;
    assert_null(tsri_tickets_best(&t).ticket);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chosen_once),
                                       cmocka_unit_test(said_in_words)};
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
