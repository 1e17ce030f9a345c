// Quantities for people, rounded to about three digits. `--json` has the exact figures.

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `0 B`, `1.5 KiB`, `213 MiB`. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : threeDigits(value)} ${BYTE_UNITS[unit]}`;
}

const TIME_UNITS: readonly (readonly [number, string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** `350 ms`, `12 s`, `1.5 h`, `30 d`. */
export function span(seconds: number): string {
  const [size, unit] = TIME_UNITS.find(([each]) => Math.abs(seconds) >= each) ?? [0.001, 'ms'];
  return `${threeDigits(seconds / size)} ${unit}`;
}

/** Above this a double cannot hold tenths exactly. */
const MOST_GROUPED = 1e14;

/** `0`, `1,234,567`, `12.5`. Without `Intl.NumberFormat`, which takes longer to create than many commands to answer. */
export function count(value: number): string {
  const tenths = Math.round(Math.abs(value) * 10);
  if (!(tenths < MOST_GROUPED)) return String(value);
  const whole = String(Math.floor(tenths / 10)).replace(/\B(?=(?:\d{3})+$)/g, ',');
  const rest = tenths % 10;
  return `${value < 0 && tenths > 0 ? '-' : ''}${whole}${rest === 0 ? '' : `.${rest}`}`;
}

const SIZES = ['', ' k', ' M', ' G'] as const;

/** `950`, `1.2 k`, `20 k`, `3.4 M`: for labels where space is short. */
export function brief(value: number): string {
  let rest = value;
  let size = 0;
  // A value that three digits would round up to a thousand belongs to the next unit.
  while (Math.abs(rest) >= 999.5 && size < SIZES.length - 1) {
    rest /= 1_000;
    size++;
  }
  return `${Number(rest.toPrecision(rest < 10 ? 2 : 3))}${SIZES[size]}`;
}

function threeDigits(value: number): string {
  const size = Math.abs(value);
  return String(Number(value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)));
}

/** `1 host`, `1,204 hosts`: for nouns with a regular plural. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}
