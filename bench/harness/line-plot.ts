/** A scale from its least to its largest tick. */
export interface Axis {
  readonly isLog?: boolean;
  readonly ticks: readonly Tick[];
}

export interface Tick {
  readonly at: number;
  readonly label: string;
  /** Colour of the label and of the dashed line across the plot; grey and solid by default. */
  readonly colour?: string;
}

export interface Curve {
  /** Named beside the plot; nothing if empty. */
  readonly label: string;
  readonly colour: string;
  /** A single one is drawn as a dot. */
  readonly points: readonly (readonly [number, number])[];
}

export interface LinePlot {
  readonly caption: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly curves: readonly Curve[];
}

const WIDTH = 760;
const HEIGHT = 380;
const LEFT = 80;
const RIGHT = 530;
const TOP = 40;
const BOTTOM = 335;

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

/** Place of a value between two others. */
function placer({ ticks, isLog = false }: Axis, from: number, to: number): (value: number) => string {
  const scaled = (value: number): number => (isLog ? Math.log(value) : value);
  const at = ticks.map((tick) => scaled(tick.at));
  const [least, most] = [Math.min(...at), Math.max(...at)];
  return (value) => (from + ((scaled(value) - least) / (most - least || 1)) * (to - from)).toFixed(1);
}

/** Curves with their names at the right, as SVG without its outer element. */
export function linePlot({ caption, x, y, curves }: LinePlot): string {
  const [xOf, yOf] = [placer(x, LEFT, RIGHT), placer(y, BOTTOM, TOP)];
  const grid = y.ticks.map(
    ({ at, label, colour }) =>
      `<line x1="${LEFT - 10}" x2="${RIGHT}" y1="${yOf(at)}" y2="${yOf(at)}" stroke="${colour ?? '#ddd'}"${colour === undefined ? '' : ' stroke-dasharray="4 4"'}/><text x="${LEFT - 16}" y="${yOf(at)}" dy="4" text-anchor="end" fill="${colour ?? '#000'}">${escaped(label)}</text>`,
  );
  const ticks = x.ticks.map(
    ({ at, label }) => `<text x="${xOf(at)}" y="360" text-anchor="middle">${escaped(label)}</text>`,
  );
  const lines = curves.map(({ label, colour, points }, i) => {
    const path = points.map(([at, value]) => `${xOf(at)},${yOf(value)}`).join(' ');
    const [x = '', y = ''] = path.split(',');
    const drawn =
      points.length === 1
        ? `<circle cx="${x}" cy="${y}" r="5" fill="${colour}"/>`
        : `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`;
    return `${drawn}<text x="${RIGHT + 30}" y="${60 + i * 20}" fill="${colour}">${escaped(label)}</text>`;
  });
  return `<text x="20" y="20">${escaped(caption)}</text>${grid.join('')}${ticks.join('')}${lines.join('')}`;
}

/** From zero in about five steps of 1, 2 or 5 times a power of ten, for all values of the curves. */
export function axisFromZero(
  curves: readonly Pick<Curve, 'points'>[],
  label = (at: number): string => String(at),
): Axis {
  const most = Math.max(1e-9, ...curves.flatMap(({ points }) => points.map(([, y]) => y)));
  const power = 10 ** Math.floor(Math.log10(most / 5));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= most / 5) as number);
  const at = Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => Number((i * step).toPrecision(3)));
  return { ticks: at.map((each) => ({ at: each, label: label(each) })) };
}

/** The SVG of plots below each other. */
export function plotFile(title: string, plots: readonly string[]): string {
  const height = HEIGHT * plots.length;
  const placed = plots.map((plot, i) => (i === 0 ? plot : `<g transform="translate(0 ${i * HEIGHT})">${plot}</g>`));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="13"><title>${escaped(title)}</title><rect width="${WIDTH}" height="${height}" fill="#fff"/>${placed.join('')}</svg>\n`;
}
