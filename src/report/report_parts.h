/* report_parts.h - the sections of a report; private to report*.c. */
#ifndef TSRI_REPORT_PARTS_H
#define TSRI_REPORT_PARTS_H

#include "io/config.h"
#include "io/json.h"
#include "report/chart.h"
#include "report/chart_json.h"
#include "report/curves.h"
#include "report/markup.h"

typedef struct tsri_page {
    tsri_markup head, contents, html; /* up to the headline, the list of sections, the rest */
    tsri_chart_data data;             /* the numbers of its charts */
    int64_t sections;
    const char *pictures; /* charts become files, too: BASE-SECTION.svg, ...; or NULL */
    char section[80];     /* the one that is open, as in addresses: "traffic-and-time" */
    int64_t charts;       /* in it */
    int64_t drawn;        /* in all */
    bool live;            /* its server sends the policy for what it may load (report.h) */
    const char *folder;
    tsr_config *config;
    tsri_curves lines; /* evaluations */
    tsri_curves puts;  /* rounds put back, if scheme.events wrote them */
} tsri_page;

/* The page up to its headline; and all of it, appended to out. Both return the first failure of
 * what was written. */
tsr_status tsri_page_begin(tsri_page *p, const char *title);
tsr_status tsri_page_end(tsri_text *out, tsri_page *p);
void tsri_page_fini(tsri_page *p);

/* The folder's last name: "runs/a/" is a, and so is "." inside it. */
tsr_status tsri_last_name(char **name, const char *folder);

/* A suitable unit for a number of bytes, "MB", and how many bytes that unit is. */
const char *tsri_byte_unit(double most, double *size);

/* <section><h2>title</h2> ... </section> */
void tsri_section_open(tsri_page *p, const char *title);
void tsri_section_close(tsri_page *p);

/* One of our own sentences; and a chart with a line below it (or NULL). */
void tsri_page_say(tsri_page *p, const char *fmt, ...) TSR_PRINTF(2, 3);
void tsri_page_chart(tsri_page *p, const tsri_chart *chart, const char *caption);

/* A picture that is no chart, with a line below it: the start of its <svg>, and the page's figure.
 * Where charts become files, it does too. */
void tsri_svg_begin(tsri_markup *m, const char *class, double width, double height,
                    const char *title);
void tsri_page_svg(tsri_page *p, const tsri_text *svg, const char *caption);

/* One box of a list with class "facts"; NaN gets none. */
void tsri_page_fact(tsri_page *p, const char *name, const char *value);
void tsri_page_number(tsri_page *p, const char *name, double value, int digits, const char *unit);

/* *root = the parsed FOLDER/name, or NULL when there is no such file. */
tsr_status tsri_page_json(tsri_json_value **root, const tsri_page *p, const char *name);

/* Member `key` of an object: "" and NaN when it is not there, or of another kind. */
const char *tsri_text_at(const tsri_json_value *object, const char *key);
double tsri_number_at(const tsri_json_value *object, const char *key);

/* report_curves.c; `pretraining`: the run is only the first step of what the page shows */
void tsri_report_subtitle(tsri_page *p);
tsr_status tsri_report_device(tsri_page *p); /* report_device.c */
void tsri_report_learning(tsri_page *p, bool pretraining);
void tsri_report_cost(tsri_page *p);

/* report_ticket.c; *found: there are tickets, and what follows is about pretraining */
tsr_status tsri_report_ticket(tsri_page *p, bool *found);

/* The name of the ticket to take, its folder inside the page's; "" without. The caller frees it. */
tsr_status tsri_best_ticket(char **network, const tsri_page *p);

/* report_phases.c: how each row of ticket.json learned, all on one axis; and whether a network's
 * name can be that of its folder: names come from files, and must not lead out of the run's. */
bool tsri_folder_named(const char *network);
tsr_status tsri_report_phases(tsri_page *p, const tsri_json_value *rows);

/* report_evaluation.c: evaluation.json of the networks named, folders inside the page's; "" is the
 * page's own. The confusions are those of the first. */
tsr_status tsri_report_evaluation(tsri_page *p, const char *const *network, int count);

/* report_distance.c */
tsr_status tsri_report_distance(tsri_page *p);

/* report_sweep.c: the whole page but its run file and its end. */
tsr_status tsri_report_sweep(tsri_page *p);

/* report_network.c: what is inside the network of that folder ("": the page's own). */
tsr_status tsri_report_network(tsri_page *p, const char *network);

/* report_graph.c: the network as a drawing. */
struct tsri_net;
/* "16 x 28 x 28", channels first; "64" where the network reads no images, "6 x 4" of sequences. */
struct tsri_shape;
enum { TSRI_SHAPE_TEXT = 72 };
const char *tsri_shape_text(char text[TSRI_SHAPE_TEXT], const struct tsri_shape *s,
                            const struct tsri_shape *input);

tsr_status tsri_report_graph(tsri_page *p, const struct tsri_net *net);

/* report_workers.c: where the time of each rank went, of runs in several processes. */
tsr_status tsri_report_workers(tsri_page *p);

/* report_theory.c: certificates along the run; and the box among the first facts that says whether
 * a theorem holds, none where there is nothing to say unless `always`. */
tsr_status tsri_report_theory(tsri_page *p);
void tsri_report_verdict(tsri_page *p, bool always);

/* report_certificate.c: the last of each paper. */
tsr_status tsri_report_certificates(tsri_page *p);

#endif
