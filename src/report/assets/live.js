// live.js - fills the list of runs, or keeps a run's page new: what the run tells comes as events; the page itself is fetched again,
// and `tessera.replace` (page.js) takes it over. Everything that comes from files is set as text, never as markup.
'use strict';
(() => {
  const me = document.currentScript.dataset, base = me.base;
  const list = document.getElementById('runs'), bar = document.createElement('div');
  const home = document.createElement('a'), voice = document.createElement('div'), AWAY = 'the server is away; trying again';
  let state = null, shown = Number(me.version || 0), fetched = 0, busy = false;
  const two = n => String(Math.floor(n) % 60).padStart(2, '0');
  const clock = seconds => { // "0:42", "1:02:03", "2 d 03:04", as in a terminal
    const s = Math.round(seconds), hours = Math.floor(s / 3600);
    if (hours >= 24) return Math.floor(hours / 24) + ' d ' + two(hours % 24) + ':' + two(s / 60);
    return hours > 0 ? hours + ':' + two(s / 60) + ':' + two(s) : Math.floor(s / 60) + ':' + two(s);
  };
  // 0.4321, 27,224.7, 3.1e+12: as many digits as the page itself shows
  const number = v => v == null ? '' : Math.abs(v) >= 1e9 ? v.toExponential(2) : Math.abs(v) < 1000 ? String(Number(v.toPrecision(4))) :
    v.toLocaleString('en-US', {maximumFractionDigits: 1, useGrouping: 'min2'});
  const count = n => n.toLocaleString('en-US', {useGrouping: 'min2'});
  const percent = v => v == null ? '' : (100 * v).toFixed(2) + ' %';
  const say = (parent, tag, text, kind) => {
    const e = document.createElement(tag);
    e.textContent = text;
    if (kind) e.className = kind;
    return parent.appendChild(e);
  };
  const left = r => r.state === 'running' && r.seconds_left != null ?
    clock(r.seconds_left) + ' left' : r.state === 'stalled' ?
    'silent for ' + clock(r.seconds_silent) :
    ['starting', 'running'].includes(r.state) || r.seconds == null ? '' : 'took ' + clock(r.seconds);
  const address = r => base + 'run/' + (r.run ?
    r.run.split('/').map(encodeURIComponent).join('/') + '/' : '');
  const bars = (parent, r) => {
    const p = document.createElement('progress');
    p.max = 1;
    if (r.done != null) p.value = r.done;
    p.setAttribute('aria-label', 'done');
    parent.appendChild(p);
  };
  const row = r => {
    const tr = document.createElement('tr'), name = say(tr, 'td', ''), a = say(name, 'a', r.run || '(this folder)');
    a.href = address(r);
    if (r.kind !== 'run') say(name, 'span', ' ' + r.kind, 'quiet');
    if (r.why) say(name, 'div', r.why, 'quiet');
    say(tr, 'td', r.state, 'state ' + r.state);
    bars(say(tr, 'td', ''), r);
    say(tr, 'td', r.round == null ? '' : r.rounds ? count(r.round) + ' / ' + count(r.rounds) : count(r.round), 'n');
    say(tr, 'td', number(r.loss), 'n');
    say(tr, 'td', r.test_accuracy != null ? percent(r.test_accuracy) : number(r.test_rmse), 'n');
    say(tr, 'td', left(r), 'n');
    return tr;
  };
  const goesOn = r => ['starting', 'running', 'stalled'].includes(r.state);
  const tell = (e, text) => { if (e.textContent !== text) e.textContent = text; }; // a screen reader says what changes, no more
  const showList = () => {
    const reached = list.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
    list.replaceChildren(...[...state.runs].sort((a, b) => goesOn(b) - goesOn(a)).map(row)); // what goes on is on top
    if (reached) [...list.querySelectorAll('a')].find(a => a.getAttribute('href') === reached)?.focus({preventScroll: true});
    const n = state.runs.filter(goesOn).length, all = state.runs.length;
    tell(document.getElementById('count'), all + (all === 1 ? ' run, ' : ' runs, ') + n + ' going on');
  };
  const showBar = r => {
    while (home.nextSibling) home.nextSibling.remove(); // the link stays: it may have the focus
    tell(voice, r ? r.state + (r.why ? ': ' + r.why : '') : 'gone');
    say(bar, 'b', r ? r.state : 'gone', 'state ' + (r ? r.state : 'failed'));
    if (!r) {
      say(bar, 'span', 'its folder is no longer there');
      return;
    }
    bars(bar, r);
    if (r.round != null) say(bar, 'span', (r.kind === 'sweep' ? 'run ' : 'round ') + count(r.round) + (r.rounds ? ' of ' + count(r.rounds) : ''));
    if (r.loss != null) say(bar, 'span', 'loss ' + number(r.loss));
    if (r.test_accuracy != null) say(bar, 'span', 'test ' + percent(r.test_accuracy));
    else if (r.test_rmse != null) say(bar, 'span', 'test error ' + number(r.test_rmse));
    say(bar, 'span', left(r));
    if (r.slowest >= 0) say(bar, 'span', 'workers wait for rank ' + r.slowest);
    if (r.why) say(bar, 'span', r.why);
  };
  const take = text => {
    if (window.tessera && window.tessera.replace) return window.tessera.replace(text);
    const next = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
    const open = [...document.querySelectorAll('main details')].map(d => d.open);
    if (next) document.querySelector('main').replaceChildren(...next.childNodes);
    document.querySelectorAll('main details').forEach((d, i) => { d.open = !!open[i]; });
  };
  const renew = async () => {
    const r = state && state.runs.find(one => one.run === me.run);
    if (list || !r || busy || r.version === shown || Date.now() - fetched < 3000) return;
    if (document.querySelector('.shade')) return; // its reader is choosing a range
    busy = true;
    fetched = Date.now();
    try {
      const answer = await fetch(location.pathname, {cache: 'no-store'});
      if (answer.ok) {
        take(await answer.text());
        shown = Number(answer.headers.get('X-Tessera-Version'));
      }
    } catch (e) { /* the server is away: the stream says so, and tries again */ }
    busy = false;
  };
  const update = () => {
    if (list) showList(); else showBar(state.runs.find(one => one.run === me.run));
    document.body.dataset.live = 'yes';
    renew();
  };
  let source = null; // while the page is seen: a browser opens six connections to a server, and hidden tabs would hold them all
  const connect = () => {
    if (document.hidden || source) return;
    source = new EventSource(base + 'events');
    source.addEventListener('state', e => { state = JSON.parse(e.data); update(); });
    source.onerror = () => {
      document.body.dataset.live = 'no';
      if (list) tell(document.getElementById('count'), AWAY);
      else {
        while (home.nextSibling) home.nextSibling.remove();
        say(bar, 'span', AWAY);
        tell(voice, AWAY);
      }
      if (source.readyState === 2) { disconnect(); setTimeout(connect, 3000); }
    };
  };
  const disconnect = () => {
    source?.close();
    source = null;
  };
  if (!list) {
    bar.id = 'live';
    bar.setAttribute('role', 'group');
    bar.setAttribute('aria-label', 'this run');
    home.href = base;
    home.textContent = 'all runs';
    bar.append(home);
    voice.className = 'voice'; // the bar changes every second: of it, only the state is said aloud
    voice.setAttribute('role', 'status');
    document.body.prepend(bar, voice);
  }
  connect();
  document.addEventListener('visibilitychange', () => document.hidden ? disconnect() : connect());
  setInterval(renew, 1000);
})();
