/* Charts: axes name round numbers, text cannot break out, every picture is well-formed whatever it
 * is made of, and the CSV has the numbers. */
#include "locale_testing.h"

#include "base/number.h"
#include "report/chart.h"
#include "report/colour.h"
#include "report/markup.h"
#include "report/png.h"
#include "report/scale.h"

#include <math.h>

/* ---- Axes ------------------------------------------------------------------------------------ */

static tsri_ticks ticks_of(double low, double high, bool log, int about, bool whole)
{
    tsri_span span = {low, high};
    tsri_scale scale = tsri_scale_of(&span, log, 0);
    tsri_ticks t;
    tsri_ticks_make(&t, &scale, about, whole);
    return t;
}

static void assert_labels(const tsri_ticks *t, const char *expected)
{
    char all[TSRI_TICKS_MAX * (TSRI_LABEL + 1)] = "";
    for (int i = 0; i < t->count; i++) {
        strcat(all, i ? " " : "");
        strcat(all, t->label[i]);
    }
    assert_string_equal(all, expected);
}

static void ticks_are_round(void **state)
{
    (void)state;
    tsri_ticks t = ticks_of(0, 1, false, 5, false);
    assert_labels(&t, "0.0 0.2 0.4 0.6 0.8 1.0");
    t = ticks_of(-0.31, 0.31, false, 6, false);
    assert_labels(&t, "-0.3 -0.2 -0.1 0.0 0.1 0.2 0.3");
    t = ticks_of(1, 3, false, 8, true); /* epochs are whole */
    assert_labels(&t, "1 2 3");
    t = ticks_of(0, 60000, false, 6, true);
    assert_labels(&t, "0 10,000 20,000 30,000 40,000 50,000 60,000");
    t = ticks_of(0.0001234, 0.0001239, false, 5, false);
    assert_labels(&t, "1.234 1.235 1.236 1.237 1.238 1.239");
    assert_string_equal(t.factor, "×10⁻⁴");
    t = ticks_of(0, 3.1e12, false, 3, false);
    assert_labels(&t, "0 1 2 3");
    assert_string_equal(t.factor, "×10¹²");
}

static void log_ticks(void **state)
{
    (void)state;
    tsri_ticks t = ticks_of(1, 1000, true, 6, false);
    assert_labels(&t, "1 10 100 1000");
    assert_int_equal(t.minor_count, 24);
    t = ticks_of(1e-7, 10, true, 4, false);
    assert_labels(&t, "10⁻⁷ 10⁻⁴ 10⁻¹");
    t = ticks_of(0.06, 3, true, 6, false);
    assert_labels(&t, "0.1 0.2 0.5 1 2");
    t = ticks_of(0.41, 0.48, true, 4, false); /* too narrow for 1, 2, 5 */
    assert_labels(&t, "0.42 0.44 0.46 0.48");
}

static void ticks_lie_on_the_axis_whatever_the_range(void **state)
{
    (void)state;
    static const double end[] = {0,    1e-320, 1e-300, 1e-9, 0.3,  1,      7,     1234.5,
                                 1e15, 1e100,  1e300,  -1,   -1e9, -1e300, -0.07, 3e7};
    enum { ENDS = sizeof end / sizeof *end };
    for (int i = 0; i < ENDS * ENDS; i++) {
        double low = fmin(end[i / ENDS], end[i % ENDS]), high = fmax(end[i / ENDS], end[i % ENDS]);
        for (int kind = 0; kind < 4; kind++) {
            bool log = kind & 1;
            tsri_span span = TSRI_SPAN_EMPTY;
            tsri_span_see(&span, low, log);
            tsri_span_see(&span, high, log);
            tsri_scale s = tsri_scale_of(&span, log, 0.05);
            tsri_ticks t;
            tsri_ticks_make(&t, &s, 6, kind & 2);
            assert_true(s.low < s.high && isfinite(s.low) && isfinite(s.high));
            for (int k = 0; k < t.count; k++) {
                double at = tsri_scale_at(&s, t.at[k]);
                if (!(at > -1e-6 && at < 1 + 1e-6))
                    fail_msg("%g to %g, kind %d: a tick at %g", low, high, kind, t.at[k]);
                assert_true(t.label[k][0] != '\0');
            }
        }
    }
}

static void numbers_without_place(void **state)
{
    (void)state;
    tsri_span span = TSRI_SPAN_EMPTY;
    tsri_span_see(&span, (double)NAN, false);
    tsri_span_see(&span, (double)INFINITY, false);
    tsri_span_see(&span, 1.7e308, false);
    assert_true(tsri_span_empty(&span));
    tsri_scale s = tsri_scale_of(&span, false, 0);
    assert_true(s.low == 0 && s.high == 1);
    assert_true(isnan(tsri_scale_at(&s, (double)NAN)));
    assert_true(isnan(tsri_scale_at(&s, -1.7e308)));
    s = tsri_scale_of(&span, true, 0);
    assert_true(isnan(tsri_scale_at(&s, 0)));
    assert_true(isnan(tsri_scale_at(&s, -1)));
}

static void whole_numbers_in_groups(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        const char *text;
    } one[] = {{0, "0"},
               {-1234, "-1234"},
               {12345, "12,345"},
               {-123456, "-123,456"},
               {1000000, "1,000,000"},
               {INT64_MIN, "-9,223,372,036,854,775,808"}};
    char text[TSRI_NUMBER_TEXT];
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        assert_string_equal(tsri_grouped(text, one[i].value), one[i].text);
}

static void numbers_in_few_characters(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } one[] = {{0, "0"},
               {1, "1"},
               {-2.5, "-2.5"},
               {0.05, "0.05"},
               {1000, "1000"},
               {20000, "20,000"},
               {262144, "262,144"},
               {3.2e7, "3.2×10⁷"},
               {1e9, "10⁹"},
               {1e-9, "10⁻⁹"},
               {0.00012345, "0.0001235"},
               {1.0 / 3, "0.3333"},
               {(double)NAN, "–"}};
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        char text[TSRI_LABEL];
        tsri_tick_text(text, one[i].value);
        assert_string_equal(text, one[i].text);
    }
}

/* ---- Text and colours -------------------------------------------------------------------------*/

static void text_cannot_break_out(void **state)
{
    (void)state;
    tsri_markup m = {0};
    tsri_markup_text(&m, "<script>\"a\" & 'b'</script> \x1b[31m bad\xFF\xC3 \xEF\xBF\xBF é");
    assert_ok(tsri_markup_end(&m));
    assert_string_equal(m.text.data, "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt; "
                                     "\xEF\xBF\xBD[31m bad\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD é");
    tsri_markup_fini(&m);
}

static void coordinates_in_every_locale(void **state)
{
    (void)state;
    german_locale(LC_ALL);
    assert_string_equal(tsri_px(1.5), "1.5");
    assert_string_equal(tsri_px(-0.004), "0");
    assert_string_equal(tsri_px(-12.345), "-12.35");
    assert_string_equal(tsri_px(100), "100");
    assert_string_equal(tsri_px(3.07), "3.07");
    assert_string_equal(tsri_px((double)NAN), "0");
    assert_string_equal(tsri_px(1e300), "1000000");
    (void)setlocale(LC_ALL, "C");
}

static double lightness(const char *colour)
{
    unsigned r, g, b;
    assert_int_equal(sscanf(colour, "#%2x%2x%2x", &r, &g, &b), 3);
    return 0.2126 * pow(r / 255.0, 2.2) + 0.7152 * pow(g / 255.0, 2.2) +
           0.0722 * pow(b / 255.0, 2.2);
}

static void the_ramp_gets_lighter(void **state)
{
    (void)state;
    char text[TSRI_COLOUR_TEXT];
    double before = -1;
    for (int i = 0; i <= 50; i++) {
        double now = lightness(tsri_ramp(text, i / 50.0));
        assert_true(now > before);
        before = now;
    }
}

/* ---- Whole charts -----------------------------------------------------------------------------*/

static const double weird[] = {1,      2,   (double)NAN,      4,  -5, 0, 1e305, -1e299,
                               1e-310, 1e9, (double)INFINITY, 3.5};
enum { WEIRD = sizeof weird / sizeof *weird };

static void add_all_kinds(tsri_chart *c, const tsri_panel *panel, int64_t n)
{
    static const tsri_marks marks[] = {TSRI_MARKS_LINE, TSRI_MARKS_POINTS, TSRI_MARKS_BOTH,
                                       TSRI_MARKS_BARS};
    for (size_t i = 0; i < 4; i++) {
        tsri_chart_panel(c, panel);
        tsri_chart_series(c,
                          &(tsri_series){.name = "a <b>", .n = n, .y = weird, .marks = marks[i]});
        tsri_chart_series(c, &(tsri_series){.name = "c & d",
                                            .n = n,
                                            .x = weird,
                                            .y = weird,
                                            .low = weird,
                                            .high = weird,
                                            .marks = marks[i],
                                            .dashed = true});
    }
}

static void assert_well_formed(const tsri_text *svg)
{
    tsri_text png = {0};
    assert_memory_equal(svg->data, "<svg ", 5);
    assert_null(strstr(svg->data, "nan"));
    assert_null(strstr(svg->data, "inf"));
    assert_null(strstr(svg->data, "<b>"));
    if (tsri_png_available()) { /* librsvg reads with a strict parser */
        assert_ok(tsri_png_from_svg(&png, svg, 1));
        assert_memory_equal(png.data, "\x89PNG", 4);
    } else {
        assert_fails(tsri_png_from_svg(&png, svg, 1), TSR_FAILURE, "librsvg2-dev");
    }
    tsri_text_fini(&png);
}

static void any_numbers_make_a_picture(void **state)
{
    (void)state;
    static const char *const category[] = {"x", "a very long name that has to lean", "\"z\"", "w"};
    static const int64_t length[] = {0, 1, 2, WEIRD};
    for (int kind = 0; kind < 16; kind++) {
        tsri_chart c;
        tsri_text svg = {0};
        tsri_panel panel = {.title = "<title>",
                            .x_label = "x & y",
                            .x_log = kind & 1,
                            .y_log = kind & 2,
                            .category = category,
                            .categories = 4};
        tsri_chart_begin(&c, "any \"numbers\"");
        add_all_kinds(&c, &panel, length[kind / 4]);
        assert_ok(tsri_chart_svg(&svg, &c));
        assert_well_formed(&svg);
        tsri_text_fini(&svg);
        tsri_chart_fini(&c);
    }
}

static void maps_of_any_size(void **state)
{
    (void)state;
    for (int64_t rows = 1; rows <= 4; rows++) {
        tsri_chart c;
        tsri_text svg = {0};
        tsri_chart_begin(&c, NULL);
        tsri_chart_panel(&c, &(tsri_panel){.title = "map"});
        tsri_chart_map(
            &c, &(tsri_map){
                    .rows = rows, .columns = WEIRD / rows, .value = weird, .label = "value <b>"});
        tsri_chart_panel(&c, &(tsri_panel){.title = "nothing in it"});
        assert_ok(tsri_chart_svg(&svg, &c));
        assert_well_formed(&svg);
        tsri_text_fini(&svg);
        tsri_chart_fini(&c);
    }
}

/* Tickets of epochs 5, 10, 15, 20 are named so; seconds that lie anyhow get round numbers. */
static void few_even_places_are_named(void **state)
{
    (void)state;
    static const double even[] = {5, 10, 15, 20}, uneven[] = {5, 10, 15, 21}, y[] = {1, 2, 3, 4};
    for (int k = 0; k < 2; k++) {
        tsri_chart c;
        tsri_text svg = {0};
        tsri_chart_begin(&c, NULL);
        tsri_chart_panel(&c, &(tsri_panel){0});
        tsri_chart_series(&c, &(tsri_series){.n = 4, .x = k ? uneven : even, .y = y});
        assert_ok(tsri_chart_svg(&svg, &c));
        assert_true((strstr(svg.data, ">15<") != NULL) == (k == 0));
        assert_true((strstr(svg.data, ">12<") != NULL) == (k == 1));
        tsri_text_fini(&svg);
        tsri_chart_fini(&c);
    }
}

/* A layer whose ranking never moves: the bar has its one number, and none that was not seen. */
static void a_flat_map_names_one_number(void **state)
{
    (void)state;
    static const double alike[] = {7, 7, 7, 7}, two[] = {7, 7, 7, 8};
    static const double epoch[] = {1, 2};
    for (int flat = 0; flat < 2; flat++) {
        tsri_chart c;
        tsri_text svg = {0};
        tsri_chart_begin(&c, NULL);
        tsri_chart_panel(&c, &(tsri_panel){0});
        tsri_chart_map(
            &c, &(tsri_map){
                    .rows = 2, .columns = 2, .value = flat ? alike : two, .x = epoch, .y = epoch});
        assert_ok(tsri_chart_svg(&svg, &c));
        assert_well_formed(&svg);
        assert_non_null(strstr(svg.data, flat ? ">7<" : ">7.2<"));
        assert_true((strstr(svg.data, ">8") == NULL) == flat);
        tsri_text_fini(&svg);
        tsri_chart_fini(&c);
    }
}

/* A hundred thousand points on five hundred pixels: a small file that keeps the spike. */
static void long_lines_are_thinned(void **state)
{
    (void)state;
    enum { N = 100000 };
    double *y;
    tsri_chart c;
    tsri_text svg = {0};
    assert_ok(tsri_alloc(&y, N, sizeof *y));
    for (int i = 0; i < N; i++)
        y[i] = sin(i * 1e-3);
    y[54321] = 5;
    tsri_chart_begin(&c, NULL);
    tsri_chart_panel(&c, &(tsri_panel){0});
    tsri_chart_series(&c, &(tsri_series){.n = N, .y = y});
    assert_ok(tsri_chart_svg(&svg, &c));
    assert_in_range(svg.length, 5000, 60000);
    /* The spike is the highest point of all: its y is that of the top, 5 % of the range below. */
    tsri_span span = {-1, 5};
    tsri_scale s = tsri_scale_of(&span, false, 0.05);
    char top[32];
    (void)snprintf(top, sizeof top, " %sL",
                   tsri_px(14 + (400 - 6 - 22) * (1 - tsri_scale_at(&s, 5))));
    assert_non_null(strstr(svg.data, top));
    tsri_text_fini(&svg);
    tsri_chart_fini(&c);
    tsri_free(y);
}

static void lines_have_gaps(void **state)
{
    (void)state;
    static const double y[] = {1, 2, (double)NAN, 3, 4, -1, 5};
    for (int log = 0; log < 2; log++) {
        tsri_chart c;
        tsri_text svg = {0};
        tsri_chart_begin(&c, NULL);
        tsri_chart_panel(&c, &(tsri_panel){.y_log = log});
        tsri_chart_series(&c, &(tsri_series){.n = 7, .y = y});
        assert_ok(tsri_chart_svg(&svg, &c));
        const char *path = strstr(svg.data, "stroke-linejoin");
        assert_non_null(path);
        int moves = 0;
        for (path = strstr(path, " d=\"") + 4; *path != '"'; path++)
            moves += *path == 'M';
        assert_int_equal(moves, log ? 3 : 2); /* on a log axis -1 is a gap too */
        tsri_text_fini(&svg);
        tsri_chart_fini(&c);
    }
}

static void numbers_as_csv(void **state)
{
    (void)state;
    static const double x[] = {1, 2.5}, y[] = {0.1, (double)NAN}, low[] = {0, 1}, high[] = {1, 2};
    static const char *const category[] = {"a,b", "c"};
    tsri_chart c;
    tsri_text csv = {0};
    tsri_chart_begin(&c, "t");
    tsri_chart_panel(&c, &(tsri_panel){.title = "p \"1\""});
    tsri_chart_series(&c, &(tsri_series){.name = "s", .n = 2, .x = x, .y = y});
    assert_ok(tsri_chart_csv(&csv, &c));
    assert_string_equal(csv.data,
                        "panel,series,x,y\n\"p \"\"1\"\"\",s,1.0,0.1\n\"p \"\"1\"\"\",s,2.5,\n");
    csv.length = 0;
    tsri_chart_panel(&c, &(tsri_panel){.category = category, .categories = 2});
    tsri_chart_series(
        &c, &(tsri_series){
                .name = "b", .n = 2, .y = x, .low = low, .high = high, .marks = TSRI_MARKS_BARS});
    tsri_chart_panel(&c, &(tsri_panel){.title = "m"});
    tsri_chart_map(&c, &(tsri_map){.rows = 1, .columns = 2, .value = x, .x = high});
    assert_ok(tsri_chart_csv(&csv, &c));
    assert_string_equal(csv.data, "panel,series,x,y,low,high,value\n"
                                  "\"p \"\"1\"\"\",s,1.0,0.1,,,\n\"p \"\"1\"\"\",s,2.5,,,,\n"
                                  ",b,\"a,b\",1.0,0.0,1.0,\n,b,c,2.5,1.0,2.0,\n"
                                  "m,,1.0,0.0,,,1.0\nm,,2.0,0.0,,,2.5\n");
    tsri_text_fini(&csv);
    tsri_chart_fini(&c);
}

static tsr_status make_one(void)
{
    tsr_status st = TSR_OK;
    tsri_chart c;
    tsri_text svg = {0}, csv = {0};
    tsri_panel panel = {
        .title = "t", .x_label = "x", .category = (const char *const[]){"a"}, .categories = 1};
    tsri_chart_begin(&c, "title");
    add_all_kinds(&c, &panel, 3);
    tsri_chart_panel(&c, &(tsri_panel){0});
    tsri_chart_map(&c, &(tsri_map){.rows = 2, .columns = 2, .value = weird, .label = "l"});
    TSR_TRY(tsri_chart_svg(&svg, &c));
    TSR_TRY(tsri_chart_csv(&csv, &c));
done:
    tsri_text_fini(&svg);
    tsri_text_fini(&csv);
    tsri_chart_fini(&c);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    int64_t n = 0;
    for (; n < 1000; n++) {
        (void)tsri_alloc_fail_after(n, false);
        tsr_status st = make_one();
        (void)tsri_alloc_fail_after(-1, false);
        if (st == TSR_OK)
            break;
        assert_int_equal(st, TSR_RESOURCES);
    }
    assert_in_range(n, 20, 999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(log_ticks),
        cmocka_unit_test(ticks_lie_on_the_axis_whatever_the_range),
        cmocka_unit_test(numbers_without_place),
        cmocka_unit_test(whole_numbers_in_groups),
        cmocka_unit_test(numbers_in_few_characters),
        cmocka_unit_test(text_cannot_break_out),
        cmocka_unit_test(coordinates_in_every_locale),
        cmocka_unit_test(the_ramp_gets_lighter),
        cmocka_unit_test(any_numbers_make_a_picture),
        cmocka_unit_test(maps_of_any_size),
        cmocka_unit_test(few_even_places_are_named),
        cmocka_unit_test(a_flat_map_names_one_number),
        cmocka_unit_test(long_lines_are_thinned),
        cmocka_unit_test(lines_have_gaps),
        cmocka_unit_test(numbers_as_csv),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
