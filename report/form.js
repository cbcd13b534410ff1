'use strict';

// credence returns what predicts by a model: a function from the texts of columns to the numbers of the command predict. model is data
// that package report wrote, and bytes an ArrayBuffer of its numbers. Nothing here knows of a page.
function credence(model, bytes) {
  const wide = r => Array.isArray(r) ? r : new Float64Array(bytes, 8 * r.f[0], r.f[1]);
  const short = r => new Int16Array(bytes, 8 * model.wide + 2 * r.h[0], r.h[1]);

  // Special functions, to about 1e-13.

  // stirling is log Γ(x+1) − (x + ½) log x + x − ½ log 2π, of which rows ask for the same x again and again.
  const known = new Map();
  function stirling(x) {
    if (!known.has(x)) {
      if (known.size > 5000) known.clear();
      known.set(x, stirlingOf(x));
    }
    return known.get(x);
  }
  function stirlingOf(x) {
    if (x < 10) return stirling(x + 1) + (x + 0.5) * Math.log1p(1 / x) - 1;
    const s = 1 / (x * x);
    return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * 691 / 360360))))) / x;
  }
  // fraction is 1/(first + a₁/(first + rise + a₂/(first + 2 rise + …))), by Lentz' method.
  function fraction(first, rise, a) {
    let b = first, c = 1e300, d = 1 / (b || 1e-300), h = d;
    for (let i = 1; i < 1e5; i++) {
      const n = a(i);
      b += rise;
      d = 1 / (n * d + b || 1e-300);
      c = b + n / c || 1e-300;
      h *= d * c;
      if (Math.abs(d * c - 1) < 1e-15) break;
    }
    return h;
  }
  // gammaP is the regularised incomplete gamma function P(a, x), gammaQ 1 − P.
  function gammaP(a, x) {
    if (!(x > 0)) return 0;
    if (x >= a + 1) return 1 - gammaQ(a, x);
    let term = 1, sum = 1;
    for (let n = 1; term > 1e-17 * sum; n++) sum += term *= x / (a + n);
    return gammaPeak(a, x) * sum;
  }
  function gammaQ(a, x) {
    if (x === Infinity) return 0;
    return x >= a + 1 ? gammaPeak(a, x) * a * fraction(x + 1 - a, 2, i => -i * (i - a)) : 1 - gammaP(a, x);
  }
  // gammaPeak is xᵃ e⁻ˣ/Γ(a+1), in which large terms do not meet.
  function gammaPeak(a, x) {
    const u = (x - a) / a;
    return Math.exp(-a * (u - Math.log1p(u)) - stirling(a)) / Math.sqrt(2 * Math.PI * a);
  }
  // beta is the regularised incomplete beta function at x = 1 − y.
  function beta(a, b, x, y) {
    if (!(x > 0)) return 0;
    if (!(y > 0)) return 1;
    if (x * (a + b + 2) > a + 1) return 1 - betaPart(b, a, y, x);
    return betaPart(a, b, x, y);
  }
  function betaPart(a, b, x, y) {
    const n = a + b, t = x * b - a * y;
    const peak = Math.sqrt(b / (2 * Math.PI * n * a)) * Math.exp(a * Math.log1p(t / a) + b * Math.log1p(-t / b) + stirling(n) - stirling(a) - stirling(b));
    return peak * fraction(1, 0, i => { // the odd and the even terms (Press et al. 2007, section 6.4)
      const m = i >> 1, at = a + 2 * m;
      return i % 2 ? -(a + m) * (n + m) * x / (at * (at + 1)) : m * (b - m) * x / ((at - 1) * at);
    });
  }
  const normal = z => z < 0 ? gammaQ(0.5, z * z / 2) / 2 : 1 - gammaQ(0.5, z * z / 2) / 2;
  // quantile of the normal distribution: a rational start (Abramowitz & Stegun 26.2.23) and Halley's steps.
  function score(p) {
    if (p > 0.5) return -score(1 - p);
    if (!(p > 0)) return -Infinity;
    const t = Math.sqrt(-2 * Math.log(p));
    let z = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
    for (let i = 0; i < 3; i++) {
      const e = (normal(z) - p) * Math.sqrt(2 * Math.PI) * Math.exp(z * z / 2);
      z -= e / (1 + z * e / 2);
    }
    return z;
  }
  function student(t, df) {
    const s = t * t / df, tail = beta(df / 2, 0.5, 1 / (1 + s), s / (1 + s)) / 2;
    return t < 0 ? tail : 1 - tail;
  }
  const sigmoid = f => f < 0 ? Math.exp(f) / (1 + Math.exp(f)) : 1 / (1 + Math.exp(-f));
  const softplus = f => f > 0 ? f + Math.log1p(Math.exp(-f)) : Math.log1p(Math.exp(f));
  // expect is E g(f), f ~ N(m, v), by the trapezium rule, whose error is squared by each halving: two that differ by 1e-8 leave 1e-16.
  function expect(g, m, v) {
    if (!(v > 0)) return g(m);
    const sd = Math.sqrt(v), pair = z => Math.exp(-z * z / 2) * (g(m + z * sd) + g(m - z * sd));
    let h = 0.5, sum = g(m), last = NaN;
    for (let k = 1; k <= 15; k++) sum += pair(k * h);
    for (let round = 0; round < 13; round++) {
      for (let z = h / 2; z < 7.6; z += h) sum += pair(z);
      h /= 2;
      const now = sum * h / Math.sqrt(2 * Math.PI);
      if (Math.abs(now - last) <= 1e-8 * Math.abs(now)) return now;
      last = now;
    }
    return last;
  }

  // Families: E y and Var y where f ~ N(m, v), P(Y ≤ y) there, and E[y|f]; least and most values where y is a whole number.

  const logNormal = (m, v, more) => { // mean e^f, variance of y given f more(E e^2f)
    const mu = Math.exp(m + v / 2);
    return [mu, more(mu, Math.exp(2 * (m + v))) + mu * mu * Math.expm1(v)];
  };
  const chance = {
    logit: sigmoid, probit: normal, cloglog: f => -Math.expm1(-Math.exp(f)),
  };
  const oneOf = (link, m, v) => link === 'probit' ? normal(m / Math.sqrt(1 + v)) : expect(chance[link], m, v);
  const count = {least: 0, most: Infinity};
  const families = {
    gaussian: p => {
      const scale = v => Math.sqrt((v + p.variance) * (p.df ? 1 - 2 / p.df : 1));
      return {moments: (m, v) => [m, v + p.variance], cdf: (y, m, v) => p.df ? student((y - m) / scale(v), p.df) : normal((y - m) / scale(v)), mean: f => f};
    },
    studentt: p => ({
      moments: (m, v) => [p.df > 1 ? m : NaN, p.df > 2 ? v + p.scale * p.scale * p.df / (p.df - 2) : NaN],
      cdf: (y, m, v) => expect(f => student((y - f) / p.scale, p.df), m, v), mean: f => f,
    }),
    gamma: p => ({
      moments: (m, v) => logNormal(m, v, (mu, second) => second / p.shape),
      cdf: (y, m, v) => y > 0 ? expect(f => gammaP(p.shape, p.shape * y * Math.exp(-f)), m, v) : 0, mean: Math.exp, positive: true,
    }),
    bernoulli: p => ({
      moments: (m, v) => { const one = oneOf(p.link, m, v); return [one, one * (1 - one)]; },
      cdf: (y, m, v) => y < 0 ? 0 : y < 1 ? 1 - oneOf(p.link, m, v) : 1, mean: chance[p.link], least: 0, most: 1,
    }),
    binomial: p => ({
      moments: (m, v) => {
        const n = p.trials, one = expect(sigmoid, m, v), centre = sigmoid(m);
        const spread = expect(f => (sigmoid(f) - centre) ** 2, m, v) - (one - centre) ** 2;
        return [n * one, n * one * (1 - one) + n * (n - 1) * spread];
      },
      cdf: (y, m, v) => y < 0 ? 0 : y >= p.trials ? 1 : expect(f => beta(p.trials - y, y + 1, sigmoid(-f), sigmoid(f)), m, v),
      mean: f => p.trials * sigmoid(f), least: 0, most: p.trials,
    }),
    poisson: p => {
      const mean = p.link === 'softplus' ? softplus : Math.exp;
      return {
        moments: (m, v) => {
          if (mean === Math.exp) return logNormal(m, v, mu => mu);
          const mu = expect(mean, m, v), centre = mean(m);
          return [mu, mu + expect(f => (mean(f) - centre) ** 2, m, v) - (mu - centre) ** 2];
        },
        cdf: (y, m, v) => y < 0 ? 0 : expect(f => gammaQ(y + 1, mean(f)), m, v), mean, ...count,
      };
    },
    negbinomial: p => ({
      moments: (m, v) => logNormal(m, v, (mu, second) => mu + second / p.size),
      cdf: (y, m, v) => y < 0 ? 0 : expect(f => beta(p.size, y + 1, sigmoid(Math.log(p.size) - f), sigmoid(f - Math.log(p.size))), m, v),
      mean: Math.exp, ...count,
    }),
    ordinal: p => ({
      cdf: (y, m, v) => y < 0 ? 0 : y >= p.cuts.length ? 1 : expect(f => sigmoid(p.cuts[y] - f), m, v),
      mean: f => p.cuts.reduce((sum, c, k) => sum + (model.grades[k + 1] - model.grades[k]) * sigmoid(f - c), model.grades[0]), least: 0, most: p.cuts.length,
    }),
  };

  // The frame: texts of columns to inputs.

  const part = (days, of) => Math.abs(days) < 3e6 ? of(new Date(Math.round(days * 864e5))) : NaN;
  const functions = {
    log: Math.log, log1p: Math.log1p, sqrt: Math.sqrt, exp: Math.exp, expm1: Math.expm1, square: v => v * v, abs: Math.abs, sign: Math.sign,
    clip: (v, s) => Math.max(s.at || 0, Math.min(v, s.to || 0)), '^': (v, s) => v ** s.at, '>': (v, s) => +(v > (s.at || 0)), '<': (v, s) => +(v < (s.at || 0)),
    '>=': (v, s) => +(v >= (s.at || 0)), '<=': (v, s) => +(v <= (s.at || 0)), '==': (v, s) => +(v === (s.at || 0)), '!=': (v, s) => +(v !== (s.at || 0)),
    center: (v, s) => v - (s.mean || 0), scale: (v, s) => (v - (s.mean || 0)) / s.sd,
    year: v => part(v, d => d.getUTCFullYear()), month: v => part(v, d => d.getUTCMonth() + 1), day: v => part(v, d => d.getUTCDate()),
    weekday: v => part(v, d => (d.getUTCDay() + 6) % 7 + 1), hour: v => part(v, d => d.getUTCHours()),
    yearday: v => part(v, d => Math.floor((d - Date.UTC(d.getUTCFullYear(), 0)) / 864e5) + 1),
  };
  const inverses = {
    log: Math.exp, sqrt: y => Math.max(y, 0) ** 2, exp: y => Math.log(Math.max(y, 0)), log1p: Math.expm1, expm1: y => Math.log1p(Math.max(y, -1)),
    center: (y, s) => y + (s.mean || 0), scale: (y, s) => y * s.sd + (s.mean || 0),
  };
  // evaluate is an expression of a row, NaN where its column is missing.
  function evaluate(e, row) {
    let v = e.column ? row(e.column) : e.value || 0;
    for (const s of e.steps || []) {
      const of = v === v ? functions[s.function](v, s) : v;
      if (v === v && !Number.isFinite(of)) throw new Error(e.column + ' is ' + v + ', of which ' + s.function + ' is no number');
      v = of;
    }
    return v;
  }
  const columns = new Map(model.columns.map(c => [c.name, c]));
  const levels = model.inputs.map(i => i.levels && new Map(i.levels.map((l, k) => [l, k])));
  // reader returns what reads a column of texts as a number.
  function reader(texts) {
    return name => {
      const text = String(texts[name] ?? '').trim(), kind = (columns.get(name) || {}).kind;
      if (text === '') return NaN;
      if (kind === 'boolean') return text === 'true' ? 1 : text === 'false' ? 0 : NaN;
      const v = kind === 'date' && /-/.test(text.slice(1)) ? Date.parse(/T/.test(text) ? text + 'Z' : text) / 864e5 : Number(text);
      if (!Number.isFinite(v)) throw new Error(name + ' is “' + text + '”, which is no number');
      return v;
    };
  }
  function inputOf(input, k, texts, row) {
    const e = input.expr, filled = model.missing === 'mean' || model.missing === 'indicator';
    let v;
    if (levels[k]) {
      v = e.steps ? String(evaluate(e, row)) : String(texts[e.column] ?? '').trim();
      if (v === '' || v === 'NaN') v = NaN;
    } else v = input.indicates && columns.get(e.column).kind === 'category' ? (String(texts[e.column] ?? '').trim() === '' ? NaN : 0) : evaluate(e, row);
    if (input.indicates) return v === v ? 0 : 1;
    if (v !== v) {
      if (input.lacks !== undefined) return input.lacks;
      if (!filled) throw new Error(e.column + ' is missing: fill it in');
      return levels[k] ? input.fill || 0 : ((input.fill || 0) - (input.center || 0)) / input.scale;
    }
    if (!levels[k]) return (v - (input.center || 0)) * (1 / input.scale);
    const code = levels[k].get(v);
    if (code === undefined && !input.lenient) throw new Error(e.column + ' is “' + v + '”, which training did not see');
    return code === undefined ? -1 : code;
  }
  const whole = (e, row, role) => {
    const v = evaluate(e, row);
    if (v !== v) throw new Error((e.column || role) + ' is missing: fill it in');
    return v;
  };

  // Features: what a row is to the weights.

  const limit = x => Math.max(-1e100, Math.min(x, 1e100)), hold = x => Math.max(-Number.MAX_VALUE, Math.min(x, Number.MAX_VALUE));
  const mask = (1n << 64n) - 1n, fold = (a, b) => { const p = a * b; return (p >> 64n) ^ (p & mask); };
  const crossed = (a, b) => fold(a ^ 0x13198a2e03707345n, (((b << 32n) | (b >> 32n)) & mask) ^ 0xb7e151628aed2a6bn);
  const shorten = (key, bits) => bits ? fold(key ^ 0x243f6a8885a308d3n, 0xb7e151628aed2a6bn) >> BigInt(64 - bits) : key;
  const combination = (key, x) => (key || []).reduce((at, k) => at < 0 || x[k.input] < 0 ? -1 : at * k.levels + x[k.input], 0);
  const product = (factors, x) => (factors || []).reduce((v, [input, origin]) => hold(v * (x[input] + origin)), 1);
  // scaled is the inputs of a term over its lengthscales.
  const scaled = (t, x) => t.inputs.map((i, j) => limit(x[i] * t.inverse[j]));
  const turn = (t, x) => {
    const [center, scale, period] = t.cycle, turns = limit(limit(center + scale * limit(x[t.inputs[0]])) / period);
    return 2 * Math.PI * (turns - Math.floor(turns));
  };
  // Each stores its columns in phi, and returns the entries of a group that training did not have.
  const kinds = {
    numbers: (t, x, phi) => t.inputs.forEach((i, j) => { phi[t.first + j] = x[i]; }),
    powers: (t, x, phi) => t.inputs.forEach((i, j) => {
      for (let p = 0, v = 1; p < t.degree; p++) phi[t.first + j * t.degree + p] = v = hold(v * x[i]);
    }),
    levels: (t, x, phi) => {
      let group = combination(t.key, x);
      if (t.met) group = t.known.has(group) ? t.known.get(group) : -1;
      const unseen = group < 0 ? new Array(t.width).fill(0) : null;
      for (const c of t.columns) {
        let at = combination(c.key, x);
        if (at < 0 || c.part && at !== c.part - 1) continue;
        const column = (c.first || 0) + (c.part ? 0 : at), v = product(c.factors, x);
        if (unseen) unseen[column] = v;
        else phi[t.first + group * t.width + column] += v;
      }
      return unseen;
    },
    keys: (t, x, phi) => {
      let squares = 0;
      for (const c of t.columns) {
        const v = product(c.factors, x), keys = c.key.map(k => k.levels && x[k.input] < 0 ? null : k.keys[k.levels ? x[k.input] : 0]);
        const key = keys.includes(null) ? null : shorten(keys.map(k => BigInt('0x' + k)).reduce(crossed), t.bits).toString(16);
        if (key !== null && t.known.has(key)) phi[t.first + t.known.get(key)] += v;
        else squares += v * v;
      }
      return squares ? [Math.sqrt(squares)] : null;
    },
    waves: (t, x, phi) => {
      const z = scaled(t, x), n = t.deviation.length;
      for (let k = 0; k < n; k++) {
        let sum = 0;
        for (let j = 0; j < z.length; j++) sum += t.rows[k * z.length + j] * z[j];
        phi[t.first + k] = t.deviation[k] * Math.cos(sum);
        phi[t.first + n + k] = t.deviation[k] * Math.sin(sum);
      }
    },
    radial: (t, x, phi) => bump(t, x, phi, s => Math.exp(-s / 2)),
    sigmoid: (t, x, phi) => bump(t, x, phi, s => sigmoid(Math.sqrt(s))),
    spline: (t, x, phi) => {
      const v = limit(x[t.inputs[0]]), last = t.knots.length - 2, width = t.knots.length - 2;
      let at = t.knots.findIndex(k => k >= v);
      at = Math.max(0, Math.min((at < 0 ? last + 2 : at) - 1, last));
      const h = t.knots[at + 1] - t.knots[at], s = limit((v - t.knots[at]) / h), i = Math.max(0, Math.min(s, 1));
      const left = -h * h / 6 * (i * (1 - i) * (2 - i) - Math.max(0, s - 1)), right = -h * h / 6 * (i * (1 - i) * (1 + i) + Math.min(0, s));
      for (let j = 0; j < width; j++) {
        const a = at * width + j, b = a + width;
        phi[t.first + j] = (1 - s) * t.values[a] + s * t.values[b] + left * t.bends[a] + right * t.bends[b];
      }
    },
    cyclic: (t, x, phi) => waves(t, phi, 0, turn(t, x)),
    periodic: (t, x, phi) => { phi[t.first] = t.deviation[0]; waves(t, phi, 1, turn(t, x)); },
    box: (t, x, phi) => {
      let list = [1];
      t.inputs.forEach((input, k) => {
        const angle = Math.PI * Math.max(0, Math.min((limit(x[input]) - t.middle[k] + t.half[k]) / (2 * t.half[k]), 1));
        list = list.flatMap(v => Array.from({length: t.functions[k]}, (_, j) => v / Math.sqrt(t.half[k]) * Math.sin((j + 1) * angle)));
      });
      list.forEach((v, j) => { phi[t.first + j] = v * t.deviation[j]; });
    },
  };
  function bump(t, x, phi, of) {
    const z = scaled(t, x);
    for (let k = 0; k * z.length < t.rows.length; k++) phi[t.first + k] = of(z.reduce((s, v, j) => s + (v - t.rows[k * z.length + j]) ** 2, 0));
  }
  function waves(t, phi, from, angle) {
    for (let j = from, k = 1; j < t.deviation.length; j += 2, k++) {
      phi[t.first + j] = t.deviation[j] * Math.cos(k * angle);
      phi[t.first + j + 1] = t.deviation[j + 1] * Math.sin(k * angle);
    }
  }
  for (const terms of model.features) {
    for (const t of terms) {
      for (const [name, r] of Object.entries(t.numbers || {})) t[name] = wide(r);
      if (t.met) t.known = new Map(t.met.map((c, k) => [c, k]));
      if (t.keys) t.known = new Map(t.keys.map((c, k) => [c, k]));
    }
  }

  // Posteriors: mean and variance of f under each component.

  function componentsOf(q, phi) {
    const d = q.weights, mean = wide(q.mean), list = [];
    for (let k = 0; k * d < mean.length; k++) {
      let m = 0, v = 0;
      for (let j = 0; j < d; j++) m += phi[j] * mean[k * d + j];
      if (q.variance) {
        const of = wide(q.variance), centre = q.centre ? wide(q.centre) : null;
        for (let j = 0; j < d; j++) {
          const x = phi[j] - (centre ? phi[0] * centre[j] : 0);
          v += x * x * of[k * d + j];
        }
      }
      list.push([m, v]);
    }
    if (q.factor) { // ‖Rφ‖², R by rows: lower triangular, upper triangular or full
      const exact = !q.units, of = exact ? wide(q.factor) : short(q.factor), units = exact ? null : wide(q.units);
      for (let row = 0, at = 0; at < of.length; row++) {
        const from = q.shape === 'upper' ? row : 0, n = q.shape === 'lower' ? row + 1 : d - from;
        let sum = 0;
        for (let j = 0; j < n; j++) sum += of[at + j] * phi[from + j];
        if (units) sum *= units[row];
        list[0][1] += sum * sum;
        at += n;
      }
    }
    if (q.start) { // φᵀCφ of a sparse lower triangle
      const start = wide(q.start), index = wide(q.index), value = wide(q.value);
      let sum = 0;
      for (let i = 0; i < d; i++) {
        if (phi[i] === 0) continue;
        for (let k = start[i]; k < start[i + 1]; k++) sum += (index[k] === i ? 1 : 2) * phi[i] * phi[index[k]] * value[k];
      }
      list[0][1] += Math.max(0, sum);
    }
    return list;
  }

  // parts is the distribution of a row: a mixture of f ~ N(m, v) of a share and a family each.
  function partsOf(texts) {
    const row = reader(texts), x = model.inputs.map((input, k) => inputOf(input, k, texts, row));
    const offset = (model.offset || []).reduce((sum, e) => sum + whole(e, row, 'offset'), 0);
    const precision = model.precision ? whole(model.precision, row, 'precision') : 1;
    if (!(precision > 0)) throw new Error('the precision is not above 0');
    const made = model.features.map(() => null), list = [];
    for (const member of model.members) {
      const terms = model.features[member.features];
      if (!made[member.features]) {
        const phi = new Float64Array(member.posterior.weights);
        made[member.features] = {phi, unseen: terms.map(t => kinds[t.kind](t, x, phi))};
      }
      const {phi, unseen} = made[member.features], p = {...member.family};
      if (model.trials) p.trials = whole(model.trials, row, 'trials');
      if (p.name === 'binomial' && !(p.trials >= 1 && p.trials === Math.floor(p.trials))) throw new Error('the trials are no positive whole number');
      if (p.variance) p.variance /= precision;
      if (p.shape) p.shape *= precision;
      if (p.scale) p.scale /= Math.sqrt(precision);
      const family = families[p.name](p);
      let more = 0;
      unseen.forEach((z, t) => {
        const law = z && member.unseen && member.unseen[t];
        if (law) z.forEach((a, i) => z.forEach((b, j) => { more += a * b * law[i * z.length + j]; }));
      });
      const components = componentsOf(member.posterior, phi);
      for (const [m, v] of components) {
        for (const [factor, share] of member.scales) {
          list.push({family, m: m + offset, v: (v + more) * factor, share: member.share * share / components.length, df: member.df});
        }
      }
    }
    return list;
  }

  const clamp = z => Math.max(-8, Math.min(z, 8));
  // root is where an increasing function of normal scores is z, from a place and a scale: regula falsi with halving (Illinois).
  function root(g, z, place, scale) {
    const of = x => Math.max(-40, Math.min(g(x), 40)) - z;
    let a = place + z * scale, fa = of(a), step = scale, b = a, fb = fa;
    for (let i = 0; fa * fb > 0 && i < 200; i++, step *= 1.6) {
      [a, fa] = [b, fb];
      b += fb < 0 ? step : -step;
      fb = of(b);
    }
    for (let i = 0; i < 200 && fb !== 0 && Math.abs(b - a) > 1e-14 * (Math.abs(b) + scale); i++) {
      const c = i % 8 === 7 ? (a + b) / 2 : b - fb * (b - a) / (fb - fa), fc = of(c);
      if (fc * fb < 0) [a, fa] = [b, fb];
      else fa /= 2;
      [b, fb] = [c, fc];
      if (!(Math.abs(fc) > 1e-14)) break;
    }
    return b;
  }
  function momentsOf(parts, each) {
    const list = parts.map(each), mean = parts.reduce((s, p, k) => s + p.share * list[k][0], 0);
    return [mean, parts.reduce((s, p, k) => s + p.share * (list[k][1] + (list[k][0] - mean) ** 2), 0)];
  }
  // levelOf is the probability at which the model has the calibrated quantile, group by group.
  function levelOf(k, group) {
    const c = model.calibration;
    return c && !c.classes ? normal(clamp(c.quantiles[group][k])) : [(1 - model.interval) / 2, (1 + model.interval) / 2, 0.5][k];
  }
  function quantileOf(parts, p) {
    const f = parts[0].family, cdf = y => parts.reduce((s, q) => s + q.share * q.family.cdf(y, q.m, q.v), 0);
    const [m, v] = momentsOf(parts, q => [q.m, q.v]);
    if (f.least === undefined) {
      const at = f.positive ? Math.exp : x => x, noise = f.positive ? 0.3 : Math.sqrt(f.moments(0, 0)[1]) || 1;
      return at(root(x => score(cdf(at(x))), score(p), m, Math.sqrt(v + noise * noise)));
    }
    // Counts of which the model knows next to nothing are not searched for: a distribution function takes as many steps as the root of its count.
    if (f.most > 1e8 && !(f.mean(m + Math.abs(score(p)) * Math.sqrt(v)) < 1e8)) return NaN;
    const [mean, spread] = model.grades ? [f.most / 2, 1] : momentsOf(parts, q => q.family.moments(q.m, q.v));
    let low = f.least - 1, high = Math.max(f.least, Math.min(Math.round(mean + score(p) * Math.sqrt(spread)) || 0, f.most, Math.ceil(4 * f.mean(m + Math.abs(score(p)) * Math.sqrt(v))) + 100));
    if (cdf(high) < p) {
      for (let step = 1; high < f.most && cdf(high) < p && high < 1e300; step *= 2) { low = high; high = Math.min(f.most, high + step); }
    } else {
      for (let step = 1; high - step > low; step *= 2) {
        if (cdf(high - step) < p) { low = high - step; break; }
        high -= step;
      }
    }
    while (high - low > 1) {
      const middle = low + Math.floor((high - low) / 2);
      if (cdf(middle) >= p) high = middle; else low = middle;
    }
    return high;
  }
  // calibrated is the probability up to where the model has u, by the normal scores of held-out rows: between ranks linear, with the model's tails.
  function calibrated(u, scores) {
    const n = scores.length, z = score(u), k = scores.findIndex(s => s > z);
    if (k < 1) return k < 0 ? normal(score(n / (n + 1)) + z - scores[n - 1]) : normal(score(1 / (n + 1)) + z - scores[0]);
    return (k + (z - scores[k - 1]) / (scores[k] - scores[k - 1])) / (n + 1);
  }
  // chanceOf is the probability of the second class, by Venn–Abers where the model is calibrated.
  function chanceOf(p, group) {
    const c = model.calibration;
    if (!c) return [p, p, p];
    // which is one of the scores but for rounding, or none
    const {scores, lower, upper} = c.classes[group], at = scores.findIndex(s => s >= p - 1e-12), k = at < 0 ? scores.length : at;
    const high = k < scores.length ? upper[k] : 1, low = Math.abs(scores[k] - p) <= 1e-12 ? lower[k] : k > 0 ? lower[k - 1] : 0;
    return [high / (1 - low + high), low, high];
  }
  const latentCDF = (p, x) => !(p.v > 0) ? +(x >= p.m) : p.df ? student((x - p.m) / Math.sqrt(p.v * (1 - 2 / p.df)), p.df) : normal((x - p.m) / Math.sqrt(p.v));
  const told = v => Math.abs(v) <= 1e300 ? v : NaN;

  // predict returns {mean, sd, lower, upper}, with the probabilities of classes, and the median and interval of the target's own column.
  function predict(texts, brief) {
    const parts = partsOf(texts), first = parts[0].family, c = model.calibration;
    const group = c && c.by ? Math.max(0, c.values.indexOf(String(texts[c.by] ?? '').trim())) : 0;
    let [mean, variance] = momentsOf(parts, p => first.moments ? p.family.moments(p.m, p.v) : [0, 0]), grades = null;
    if (model.grades) {
      const up = model.grades.map((_, k) => parts.reduce((s, p) => s + p.share * p.family.cdf(k, p.m, p.v), 0)), steps = list => list.map((u, k) => u - (list[k - 1] || 0));
      [mean, variance] = momentsOf(steps(up).map((share, k) => ({share, at: [model.grades[k], 0]})), p => p.at);
      grades = steps(c ? up.map(u => calibrated(u, c.scores[group])) : up);
    }
    const out = {mean: told(mean), sd: Math.sqrt(told(variance))}, levels = [0, 1, 2].map(k => levelOf(k, group));
    if (grades) out.probabilities = grades;
    // The interval of E y, whose quantiles are those of f.
    const [m, v] = momentsOf(parts, p => [p.m, p.v]), sd = Math.sqrt(v);
    const latent = z => sd > 0 ? root(x => score(parts.reduce((s, p) => s + p.share * latentCDF(p, x), 0)), z, m, sd) : m;
    const reach = score((1 + model.interval) / 2);
    out.band = [-reach, reach].map(z => first.mean(latent(z)));
    if (brief) return out;
    if (model.binary) {
      [out.probability, out.probability_lower, out.probability_upper] = chanceOf(mean, group);
      [out.lower, out.upper] = levels.map(p => +(p > 1 - out.probability));
      return out;
    }
    const own = k => model.grades ? model.grades[quantileOf(parts, levels[k])] : quantileOf(parts, levels[k]);
    [out.lower, out.upper] = [own(0), own(1)];
    if (model.original) {
      out.original = [out.lower, own(2), out.upper].map(y => model.original.steps.reduceRight((y, s) => inverses[s.function](y, s), y));
    }
    return out;
  }
  // outside names the columns whose numbers lie beyond those of the data.
  function outside(texts) {
    const row = reader(texts);
    return model.columns.filter(c => c.low !== undefined && !(row(c.name) >= c.low && row(c.name) <= c.high) && row(c.name) === row(c.name)).map(c => c.name);
  }
  // number is a column's text as a number, NaN where it is none.
  function number(texts, name) {
    try { return reader(texts)(name); } catch { return NaN; }
  }
  return {predict, outside, number, model};
}
if (typeof module !== 'undefined') module.exports = credence;
