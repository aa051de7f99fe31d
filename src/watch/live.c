/* live.c - the documents of the live page. */
#include "watch/live.h"

#include "report/markup.h"
#include "report/report.h"

#include <string.h>

/* Fills the list, or keeps a run's page new: what the run tells comes as events; the page itself is
 * fetched again, and `tessera.replace` (the report's own script) takes it over. Everything that
 * comes from files is set as text, never as markup. */
const char tsri_live_script[] =
    "'use strict';\n"
    "(() => {\n"
    "  const me = document.currentScript.dataset, base = me.base;\n"
    "  const list = document.getElementById('runs'), bar = document.createElement('div');\n"
    "  let state = null, shown = Number(me.version || 0), fetched = 0, busy = false;\n"
    "  const clock = s => s == null ? '' : s >= 3600 ? Math.floor(s / 3600) + ':' +\n"
    "    String(Math.floor(s / 60) % 60).padStart(2, '0') + ':' +\n"
    "    String(Math.floor(s) % 60).padStart(2, '0') :\n"
    "    Math.floor(s / 60) + ':' + String(Math.floor(s) % 60).padStart(2, '0');\n"
    "  const number = v => v == null ? '' : String(Number(v.toPrecision(4)));\n"
    "  const percent = v => v == null ? '' : (100 * v).toFixed(2) + ' %';\n"
    "  const say = (parent, tag, text, kind) => {\n"
    "    const e = document.createElement(tag);\n"
    "    e.textContent = text;\n"
    "    if (kind) e.className = kind;\n"
    "    return parent.appendChild(e);\n"
    "  };\n"
    "  const left = r => r.state === 'running' && r.seconds_left != null ?\n"
    "    clock(r.seconds_left) + ' left' : r.state === 'stalled' ?\n"
    "    'silent for ' + clock(r.seconds_silent) :\n"
    "    ['starting', 'running'].includes(r.state) || r.seconds == null ? '' : 'took ' + "
    "clock(r.seconds);\n"
    "  const address = r => base + 'run/' + (r.run ?\n"
    "    r.run.split('/').map(encodeURIComponent).join('/') + '/' : '');\n"
    "  const bars = (parent, r) => {\n"
    "    const p = document.createElement('progress');\n"
    "    p.max = 1;\n"
    "    if (r.done != null) p.value = r.done;\n"
    "    p.setAttribute('aria-label', 'done');\n"
    "    parent.appendChild(p);\n"
    "  };\n"
    "  const row = r => {\n"
    "    const tr = document.createElement('tr'), name = say(tr, 'td', ''), a = say(name, 'a', "
    "r.run || '(this folder)');\n"
    "    a.href = address(r);\n"
    "    if (r.kind !== 'run') say(name, 'span', ' ' + r.kind, 'quiet');\n"
    "    if (r.why) say(name, 'div', r.why, 'quiet');\n"
    "    say(tr, 'td', r.state, 'state ' + r.state);\n"
    "    bars(say(tr, 'td', ''), r);\n"
    "    say(tr, 'td', r.round == null ? '' : r.rounds ? r.round + ' / ' + r.rounds : r.round, "
    "'n');\n"
    "    say(tr, 'td', number(r.loss), 'n');\n"
    "    say(tr, 'td', r.test_accuracy != null ? percent(r.test_accuracy) : number(r.test_rmse), "
    "'n');\n"
    "    say(tr, 'td', left(r), 'n');\n"
    "    return tr;\n"
    "  };\n"
    "  const showList = () => {\n"
    "    list.replaceChildren(...state.runs.map(row));\n"
    "    const n = state.runs.filter(r => ['starting', 'running', "
    "'stalled'].includes(r.state)).length;\n"
    "    document.getElementById('count').textContent = state.runs.length + ' runs, ' + n + ' "
    "going on';\n"
    "  };\n"
    "  const showBar = r => {\n"
    "    bar.replaceChildren();\n"
    "    say(bar, 'a', 'all runs').href = base;\n"
    "    say(bar, 'b', r ? r.state : 'gone', 'state ' + (r ? r.state : 'failed'));\n"
    "    if (!r) return;\n"
    "    bars(bar, r);\n"
    "    if (r.round != null) say(bar, 'span', 'round ' + r.round + (r.rounds ? ' of ' + r.rounds "
    ": ''));\n"
    "    if (r.loss != null) say(bar, 'span', 'loss ' + number(r.loss));\n"
    "    if (r.test_accuracy != null) say(bar, 'span', 'test ' + percent(r.test_accuracy));\n"
    "    say(bar, 'span', left(r));\n"
    "    if (r.slowest >= 0) say(bar, 'span', 'workers wait for rank ' + r.slowest);\n"
    "    if (r.why) say(bar, 'span', r.why);\n"
    "  };\n"
    "  const take = text => {\n"
    "    if (window.tessera && window.tessera.replace) return window.tessera.replace(text);\n"
    "    const next = new DOMParser().parseFromString(text, 'text/html').querySelector('main');\n"
    "    const open = [...document.querySelectorAll('main details')].map(d => d.open);\n"
    "    if (next) document.querySelector('main').replaceChildren(...next.childNodes);\n"
    "    document.querySelectorAll('main details').forEach((d, i) => { d.open = !!open[i]; });\n"
    "  };\n"
    "  const renew = async () => {\n"
    "    const r = state && state.runs.find(one => one.run === me.run);\n"
    "    if (list || !r || busy || r.version === shown || Date.now() - fetched < 3000) return;\n"
    "    busy = true;\n"
    "    fetched = Date.now();\n"
    "    try {\n"
    "      const answer = await fetch(location.pathname, {cache: 'no-store'});\n"
    "      if (answer.ok) {\n"
    "        take(await answer.text());\n"
    "        shown = Number(answer.headers.get('X-Tessera-Version'));\n"
    "      }\n"
    "    } catch (e) { /* the server is away: the stream says so, and tries again */ }\n"
    "    busy = false;\n"
    "  };\n"
    "  const update = () => {\n"
    "    if (list) showList(); else showBar(state.runs.find(one => one.run === me.run));\n"
    "    document.body.dataset.live = 'yes';\n"
    "    renew();\n"
    "  };\n"
    "  const connect = () => {\n"
    "    const source = new EventSource(base + 'events');\n"
    "    source.addEventListener('state', e => { state = JSON.parse(e.data); update(); });\n"
    "    source.onerror = () => {\n"
    "      document.body.dataset.live = 'no';\n"
    "      if (list) document.getElementById('count').textContent = 'the server is away; trying "
    "again';\n"
    "      else bar.replaceChildren(document.createTextNode('the server is away; trying again'));\n"
    "      if (source.readyState === 2) { source.close(); setTimeout(connect, 3000); }\n"
    "    };\n"
    "  };\n"
    "  if (!list) {\n"
    "    bar.id = 'live';\n"
    "    bar.setAttribute('role', 'status');\n"
    "    document.body.prepend(bar);\n"
    "  }\n"
    "  connect();\n"
    "  setInterval(renew, 1000);\n"
    "})();\n";

static const char style[] =
    ":root{color-scheme:light dark;--page:#ffffff;--edge:#dfe2e6;--text:#1d2126;--quiet:#5b6570;"
    "--good:#00704f;--bad:#b3400a}\n"
    "@media (prefers-color-scheme:dark){:root{--page:#15181c;--edge:#343a42;--text:#e4e7ea;"
    "--quiet:#9aa4ae;--good:#3ecf9f;--bad:#ff9a5c}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--text);font:16px/1.55 "
    "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}\n"
    "main{max-width:1060px;margin:0 auto;padding:28px 20px 60px}h1{font-size:1.7rem;"
    "overflow-wrap:anywhere;margin:0}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem;"
    "font-variant-numeric:tabular-nums}th,td{text-align:left;padding:6px 12px 6px 0;border-bottom:"
    "1px solid var(--edge);vertical-align:top}th{color:var(--quiet)}.n{text-align:right;"
    "white-space:nowrap}td:first-child{overflow-wrap:anywhere}\n";

/* For both kinds of page: the line at the top, and the words for states. */
static const char bar_style[] =
    "#live{position:sticky;top:0;z-index:9;display:flex;flex-wrap:wrap;gap:4px 16px;align-items:"
    "center;padding:6px 20px;font:14px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums;"
    "background:var(--page,#fff);color:var(--text,#1d2126);border-bottom:1px solid "
    "var(--edge,#dfe2e6)}\n"
    "#live a,#runs "
    "a{color:inherit}progress{width:110px;height:9px;accent-color:#0072b2}.quiet{color:"
    "var(--quiet);font-size:.85rem}\n"
    ".state.running,.state.starting,.state.finished{color:var(--good,#00704f)}"
    ".state.stalled,.state.interrupted,.state.diverged,.state.failed{color:var(--bad,#b3400a)}\n"
    "@media print{#live{display:none}}\n";

static void add_script(tsri_markup *m, const char *token, const tsri_followed *run)
{
    tsri_markup_add(m, "<script src=\"/%s/live.js\" data-base=\"/%s/\"", token, token);
    if (run) {
        tsri_markup_add(m, " data-version=\"%lld\" data-run=\"", (long long)run->version);
        tsri_markup_text(m, run->name);
        tsri_markup_add(m, "\"");
    }
    tsri_markup_add(m, "></script>\n");
}

/* Our own text of any length; tsri_markup_add is for short ones. */
static void add_whole(tsri_markup *m, const char *text)
{
    if (m->st == TSR_OK)
        m->st = tsri_text_add_bytes(&m->text, text, strlen(text));
}

tsr_status tsri_live_list(tsri_text *out, const tsri_lookout *w, const char *token)
{
    tsr_status st = TSR_OK;
    tsri_markup m = {0};
    add_whole(&m, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                  "<title>runs - tessera</title>\n<style>");
    add_whole(&m, style);
    add_whole(&m, bar_style);
    add_whole(&m, "</style></head>\n<body><main><h1>");
    tsri_markup_text(&m, w->folder);
    add_whole(&m,
              "</h1>\n<p id=\"count\" role=\"status\">looking</p>\n<noscript><p>This list needs "
              "its script; <code>tessera watch --once</code> does without.</p></noscript>\n"
              "<div class=\"wide\"><table><thead><tr><th>run</th><th>state</th><th>done</th>"
              "<th class=\"n\">round</th><th class=\"n\">loss</th><th class=\"n\">test</th>"
              "<th class=\"n\">time</th></tr></thead>\n<tbody id=\"runs\"></tbody></table>"
              "</div>\n");
    add_script(&m, token, NULL);
    add_whole(&m, "</main></body></html>\n");
    TSR_TRY(tsri_markup_end(&m));
    TSR_TRY(tsri_text_add_bytes(out, m.text.data, (size_t)m.text.length));
done:
    tsri_markup_fini(&m);
    return st;
}

/* Where the last `what` begins, or NULL. */
static const char *last(const tsri_text *text, const char *what)
{
    const char *found = NULL, *at = text->data;
    while (at && (at = strstr(at, what)))
        found = at++;
    return found;
}

tsr_status tsri_live_run(tsri_text *out, const tsri_followed *run, const char *token)
{
    tsr_status st = TSR_OK;
    tsri_text page = {0};
    tsri_markup m = {0};
    TSR_TRY(tsri_report_text(&page, run->folder, true));
    const char *end = last(&page, "</body>");
    TSR_CHECK(end, TSR_FAILURE, "the report has no end");
    add_whole(&m, "<style>");
    add_whole(&m, bar_style);
    add_whole(&m, "</style>\n");
    add_script(&m, token, run);
    TSR_TRY(tsri_markup_end(&m));
    TSR_TRY(tsri_text_add_bytes(out, page.data, (size_t)(end - page.data)));
    TSR_TRY(tsri_text_add_bytes(out, m.text.data, (size_t)m.text.length));
    TSR_TRY(tsri_text_add(out, "%s", end));
done:
    tsri_text_fini(&page);
    tsri_markup_fini(&m);
    return st;
}

tsr_status tsri_live_policy(tsri_text *out)
{
    tsr_status st = TSR_OK;
    tsri_text script = {0};
    TSR_TRY(tsri_page_script(&script));
    TSR_TRY(tsri_text_add(out, "default-src 'none'; script-src 'self' "));
    TSR_TRY(tsri_script_digest(out, script.data, script.length));
    TSR_TRY(tsri_text_add(out, "; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
                               "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"));
done:
    tsri_text_fini(&script);
    return st;
}

tsr_status tsri_live_event(tsri_text *out, const tsri_lookout *w)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_text_add(out, "event: state\ndata: "));
    TSR_TRY(tsri_lookout_json(out, w));
    TSR_TRY(tsri_text_add(out, "\n\n"));
done:
    return st;
}
