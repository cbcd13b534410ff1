// The page: tables that sort, details that print, and the form.
(() => {
  const at = id => document.getElementById(id);
  const make = (tag, attributes, ...children) => {
    const svg = ['svg', 'path', 'line', 'text', 'circle', 'title'].includes(tag);
    const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
    for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
    e.append(...children.map(c => typeof c === 'string' ? shown(c) : c));
    return e;
  };
  // shown is a text of the data without what turns the direction of the lines about it.
  const shown = text => text.replace(/\p{Bidi_Control}/gu, '\ufffd');
  for (const table of document.querySelectorAll('table.sortable')) {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    const value = (row, k) => { const t = row.cells[k].textContent, v = parseFloat(t.replace(/[−]/g, '-').replace(/[,\s]/g, '')); return [Number.isNaN(v) ? Infinity : v, t]; };
    heads.forEach((head, k) => {
      const button = make('button', {type: 'button'}, head.textContent);
      head.replaceChildren(button);
      button.addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') !== 'descending', sign = down ? -1 : 1;
        heads.forEach(h => h.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const rows = [...body.rows].map(r => [value(r, k), r]);
        rows.sort(([a], [b]) => sign * (a[0] === b[0] ? a[1].localeCompare(b[1]) : a[0] - b[0]));
        body.append(...rows.map(r => r[1]));
      });
    });
  }
  addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(d => { d.open = true; }));
  if (!at('model')) return;

  const model = JSON.parse(at('model').textContent), text = atob(JSON.parse(at('model-numbers').textContent));
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const form = window.form = credence(model, bytes.buffer), fields = new Map();
  const day = v => new Date(Math.round(v) * 864e5).toISOString().slice(0, 10);
  const moment = v => new Date(Math.round(v * 1440) * 6e4).toISOString().slice(0, 16); // as datetime-local has it
  const short = (v, unit) => {
    if (v === null || !Number.isFinite(v)) return 'none';
    const digits = Math.max(0, Math.min(12, 2 - Math.floor(Math.log10(unit > 0 ? unit : Math.abs(v) || 1))));
    return Math.abs(v) >= 1e9 || v !== 0 && Math.abs(v) < 1e-6 ? v.toPrecision(4) : v.toLocaleString('en', {maximumFractionDigits: digits, minimumFractionDigits: unit > 0 ? Math.min(digits, 2) : 0});
  };
  const percent = p => (100 * p).toFixed(p > 0.001 && p < 0.999 ? 1 : 3) + ' %';

  // The fields: a box for each column, with a slider over the middle of the data; blank is missing.
  model.columns.forEach((c, k) => {
    const id = 'field-' + k, box = make('div');
    let input;
    if (c.kind === 'category' || c.kind === 'boolean') {
      const of = c.kind === 'boolean' ? ['true', 'false'] : model.inputs[c.input].levels.filter(l => l !== '(missing)');
      const known = c.kind === 'boolean' || !model.inputs[c.input].lenient;
      if (of.length <= 500 && known) {
        input = make('select', {id}, make('option', {value: ''}, '(missing)'), ...of.map(l => make('option', {value: l}, l)));
      } else {
        input = make('input', {id, list: id + '-list'});
        box.append(make('datalist', {id: id + '-list'}, ...of.slice(0, 2000).map(l => make('option', {value: l}))));
      }
      input.value = c.text === '(missing)' ? '' : c.text;
    } else {
      input = make('input', c.kind === 'date' ? {id, type: c.times ? 'datetime-local' : 'date'} : {id, inputmode: 'decimal'});
      input.value = c.kind === 'date' ? (c.text ? (c.times ? moment : day)(+c.text) : '') : c.text;
    }
    box.prepend(make('label', {for: id, title: c.name}, c.name), input);
    if (c.kind === 'number' && c.to > c.from) {
      const slide = make('input', {type: 'range', min: c.from, max: c.to, step: 'any', 'aria-label': c.name + ', slider', tabindex: '-1'});
      slide.value = c.text;
      slide.addEventListener('input', () => { input.value = String(+(+slide.value).toPrecision(4)); show(); });
      input.addEventListener('input', () => { slide.value = input.value; });
      box.append(slide);
    }
    input.addEventListener('input', show);
    fields.set(c.name, {input, box});
    at('form').append(box);
    if (c.kind !== 'text') at('vary').append(make('option', {value: c.name}, c.name));
  });
  at('form').addEventListener('submit', e => e.preventDefault());
  at('vary').addEventListener('change', show);
  const first = model.columns.find(c => c.name === at('form').dataset.first) || model.columns.find(c => c.to > c.from);
  if (first) at('vary').value = first.name;
  const values = () => Object.fromEntries([...fields].map(([name, f]) => [name, f.input.value]));

  // words says an answer: what is expected, and the interval.
  function words(a) {
    const level = `${+(100 * model.interval).toPrecision(4)} % of such rows lie in `;
    if (model.binary) {
      const more = a.probability_lower < a.probability_upper ? `calibrated: between ${percent(a.probability_lower)} and ${percent(a.probability_upper)}` : `as far as is known: ${percent(a.band[0])} to ${percent(a.band[1])}`;
      return [`P(${model.target} = ${model.classes[1]}) is ${percent(a.probability)}`, more];
    }
    if (a.original) return [`${model.original.column}: ${short(a.original[1], (a.original[2] - a.original[0]) / 10)}`, `median; ${level}${a.original.filter((_, k) => k !== 1).map(v => short(v, (a.original[2] - a.original[0]) / 10)).join(' to ')}; ${model.target} ${short(a.mean, a.sd)} ± ${short(a.sd, a.sd)}`];
    const grades = a.probabilities ? '; ' + a.probabilities.map((p, k) => `P(${model.grades[k]}) ${percent(p)}`).join(', ') : '';
    return [`${model.target}: ${short(a.mean, a.sd)}`, `mean; ${level}${short(a.lower, a.sd)} to ${short(a.upper, a.sd)}; standard deviation ${short(a.sd, a.sd)}${grades}`];
  }
  let round = 0;
  function show() {
    const row = values(), answer = at('answer');
    let marked = [];
    try {
      const a = form.predict(row), [head, tail] = words(a);
      marked = form.outside(row);
      answer.replaceChildren(make('b', null, head), tail);
    } catch (e) {
      answer.replaceChildren(make('b', null, 'No prediction'), e.message);
    }
    for (const [name, f] of fields) f.box.classList.toggle('outside', marked.includes(name));
    at('marked').textContent = marked.map(name => { const c = model.columns.find(c => c.name === name); const told = v => c.kind === 'date' ? (c.times ? moment : day)(v) : short(v, c.high - c.low); return `${name} is outside the data, ${told(c.low)} to ${told(c.high)}`; }).join('; ');
    draw(row, ++round);
  }

  // ticks are round numbers from low to high, three to six of them.
  function ticks(low, high) {
    const size = 10 ** Math.floor(Math.log10((high - low) / 3)), step = size * [1, 2, 5].findLast(m => (high - low) / (m * size) >= 3);
    return Array.from({length: 1 + Math.floor(high / step) - Math.ceil(low / step)}, (_, k) => +((Math.ceil(low / step) + k) * step).toPrecision(12));
  }

  // draw shows E y along one column with its interval, and then that of y, point by point between frames.
  function draw(row, mine) {
    const name = at('vary').value, c = model.columns.find(c => c.name === name);
    if (!c) return;
    const number = c.to !== undefined, list = number ? Array.from({length: 41}, (_, k) => c.from + (c.to - c.from) * k / 40) :
      c.kind === 'boolean' ? ['false', 'true'] : (model.inputs[c.input] || {levels: []}).levels.filter(l => l !== '(missing)').slice(0, 20);
    const drawable = p => [p.mean, ...(p.band || [])].every(v => Math.abs(v) < 1e300) ? p : null;
    const points = list.map(v => { try { return drawable(form.predict({...row, [name]: String(v)}, true)); } catch { return null; } });
    const scale = model.binary ? () => [0, 1] : ends => ends;
    const paint = ys => {
      const all = points.concat(ys).flatMap(p => p ? [p.mean, ...(p.band || []), p.lower, p.upper] : []).filter(Number.isFinite);
      if (!all.length) return at('curve').replaceChildren();
      let [low, high] = scale([Math.min(...all), Math.max(...all)]);
      if (!(high > low)) { low -= 1; high += 1; }
      const x = k => 60 + 500 * (list.length > 1 ? k / (list.length - 1) : 0.5), y = v => 230 - 210 * (v - low) / (high - low);
      const line = (of, list) => list.map((p, k) => p && Number.isFinite(of(p)) ? `${x(k).toFixed(1)} ${y(of(p)).toFixed(1)}` : null).filter(Boolean).join('L');
      const svg = make('svg', {viewBox: '0 0 580 270', role: 'img'}, make('title', null, `${model.target} along ${name}: the expected value with its interval, and the interval of ${model.target} dashed`));
      const band = number && line(p => p.band[0], points), upper = number && line(p => p.band[1], [...points]);
      if (band) svg.append(make('path', {class: 'band', d: `M${band}L${upper.split('L').reverse().join('L')}Z`}));
      if (number) svg.append(make('path', {class: 'mean', d: 'M' + line(p => p.mean, points)}));
      if (number) for (const of of [p => p.lower, p => p.upper]) { const d = line(of, ys); if (d && !model.binary) svg.append(make('path', {class: 'reach2', d: 'M' + d})); }
      if (!number) points.forEach((p, k) => p && svg.append(make('line', {class: 'reach', x1: x(k), x2: x(k), y1: y(p.band[0]), y2: y(p.band[1])}), make('circle', {class: 'point', cx: x(k), cy: y(p.mean), r: 4})));
      svg.append(make('line', {class: 'axis', x1: 60, x2: 560, y1: 230, y2: 230}), make('line', {class: 'axis', x1: 60, x2: 60, y1: 20, y2: 230}));
      for (const v of ticks(low, high)) svg.append(make('text', {class: 'tick', x: 55, y: y(v) + 4, 'text-anchor': 'end'}, String(v)));
      const under = (k, told) => svg.append(make('text', {class: 'tick', x: x(k), y: 248, 'text-anchor': 'middle'}, told));
      if (c.kind === 'date') [0, 20, 40].forEach(k => under(k, day(list[k])));
      else if (number) ticks(c.from, c.to).forEach(v => under((v - c.from) / (c.to - c.from) * 40, String(v)));
      else list.forEach((level, k) => k % Math.ceil(list.length / 6) === 0 && under(k, level.slice(0, 14)));
      const here = number ? (form.number(row, name) - c.from) / (c.to - c.from) * 40 : list.indexOf(row[name]);
      if (here >= 0 && here <= list.length - 1) svg.append(make('line', {class: 'here', x1: x(here), x2: x(here), y1: 20, y2: 230}));
      const brief = text => text.length > 60 ? text.slice(0, 59) + '…' : text;
      svg.append(make('text', {class: 'tick', x: 310, y: 266, 'text-anchor': 'middle'}, brief(name)));
      svg.append(make('text', {class: 'tick', x: 60, y: 12}, brief(model.binary ? `P(${model.target} = ${model.classes[1]})` : 'expected ' + model.target)));
      at('curve').replaceChildren(svg);
    };
    paint([]);
    if (!number || model.binary || model.original) return;
    const ys = list.map(() => null);
    let k = 0;
    const next = () => {
      if (mine !== round || k > 40) return;
      try { ys[k] = form.predict({...row, [name]: String(list[k])}); } catch { ys[k] = null; }
      k++;
      if (k > 40) paint(ys);
      else setTimeout(next);
    };
    setTimeout(next, 150);
  }
  show();
  try {
    const [head, tail] = words(form.predict(values()));
    at('typical-answer').replaceChildren(make('b', null, head), tail);
    at('typical-row').textContent = shown('A typical row: ' + model.columns.slice(0, 8).map(c => c.name + ' ' + (c.kind === 'date' ? day(+c.text) : c.text)).join(', ') + (model.columns.length > 8 ? ', …' : '') + '.');
  } catch (e) {
    at('typical-answer').textContent = e.message;
  }
})();
