// Updates pages without a reload, and draws interactive charts. Every page can be read without this script. Text from
// the crawl is set as text, never as markup.

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const HEIGHT = 180;
const charts = [];

function axis() {
  return {
    stroke: color('--pale'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1 },
  };
}

/** Labels of the time axis, as precise as the distance of its marks requires. */
function times(_chart, marks, _axis, _space, step) {
  const [from, to] = step >= 86_400 ? [0, 10] : step >= 60 ? [5, 16] : [11, 19];
  return marks.map((at) => new Date(at * 1000).toISOString().slice(from, to).replace('T', ' '));
}

const DASHES = [[], [7, 3], [2, 4], [10, 3, 2, 3]];

function plot(figure, data) {
  const box = figure.querySelector('.plot');
  if (!box || data.x.length === 0) return null;
  const width = Math.max(240, box.clientWidth);
  const readout = document.createElement('p');
  readout.className = 'readout';
  const say = (u) => {
    const i = u.cursor.idx;
    readout.textContent =
      i == null
        ? ''
        : `${new Date(data.x[i] * 1000).toISOString().slice(0, 19).replace('T', ' ')}: ${data.series.map((s) => `${s.label} ${s.values[i] == null ? '-' : Math.round(s.values[i] * 10) / 10}`).join(', ')}`;
  };
  const chart = new uPlot(
    {
      width,
      height: HEIGHT,
      tzDate: (at) => uPlot.tzDate(new Date(at * 1000), 'Etc/UTC'),
      legend: { show: false },
      cursor: { drag: { x: true, y: false } },
      axes: [
        { ...axis(), values: times, space: 90 },
        { ...axis(), size: 56 },
      ],
      scales: { y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.05 : 1] } },
      hooks: { setCursor: [say] },
      series: [
        {},
        ...data.series.map((s, i) => ({
          label: s.label,
          stroke: color(`--c${i + 1}`),
          width: 2,
          dash: DASHES[i],
          spanGaps: false,
        })),
      ],
    },
    [data.x, ...data.series.map((s) => s.values)],
  );
  const picture = box.querySelector('svg');
  chart.root.setAttribute('role', 'img');
  chart.root.setAttribute('aria-label', picture ? picture.getAttribute('aria-label') : '');
  box.replaceChildren(chart.root);
  box.after(readout);
  charts.push({ chart, box, data });
  return { chart, data };
}

async function curves(figure) {
  const answer = await fetch(figure.dataset.curves);
  if (answer.ok) plot(figure, await answer.json());
}

function drawAll() {
  charts.length = 0;
  for (const figure of document.querySelectorAll('[data-curves]')) curves(figure).catch(() => {});
}

let resizing = 0;
addEventListener('resize', () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => {
    for (const { chart, box } of charts) chart.setSize({ width: Math.max(240, box.clientWidth), height: HEIGHT });
  }, 150);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => location.reload());

// Replaces the content by a fresh copy from the server; the scroll position is kept.
async function refresh() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
  const old = document.querySelector('main');
  if (next === null || old.contains(document.activeElement)) return;
  old.replaceWith(document.adoptNode(next));
  drawAll();
}

function liveView() {
  const activity = document.querySelector('[data-live="activity"]');
  if (!window.EventSource) return;
  const events = new EventSource('/events');
  let shown = null;
  events.addEventListener('activity', (event) => {
    const now = JSON.parse(event.data);
    if (activity.textContent !== now.text) activity.textContent = now.text;
    const section = document.querySelector('[data-live="run"]');
    // The server made this markup and escaped everything from the crawl in it.
    if (section && now.run) {
      const next = new DOMParser().parseFromString(now.run, 'text/html').body.firstElementChild;
      section.replaceWith(document.adoptNode(next));
    }
    if (shown !== null && shown !== now.mark && isOverview()) refresh().catch(() => {});
    shown = now.mark;
    const speed = charts.find(({ box }) => box.closest('[data-curves="/data/speed.json"]'));
    if (speed && now.speed && speed.data.x.at(-1) < now.speed[0]) {
      speed.data.x.push(now.speed[0]);
      speed.data.series[0].values.push(now.speed[1]);
      speed.chart.setData([speed.data.x, speed.data.series[0].values]);
    }
  });
  addEventListener('pagehide', () => events.close());
}

const isOverview = () => location.pathname === '/' || location.pathname === '/rounds';

drawAll();
liveView();
