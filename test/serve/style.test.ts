import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = readFileSync(new URL('../../src/serve/assets/style.css', import.meta.url), 'utf8');
const [light, dark] = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, block]) => colorsOf(block ?? ''));

function colorsOf(block: string): ReadonlyMap<string, string> {
  return new Map(
    [...block.matchAll(/--(\w+): (#[0-9a-f]{3,6});/g)].map(([, name, value]) => [name ?? '', value ?? '']),
  );
}

/** Relative luminance, WCAG 2.2. */
function luminance(color: string): number {
  const hex = color.length === 4 ? color.replace(/[0-9a-f]/g, '$&$&') : color;
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((i) => Number.parseInt(hex.slice(i, i + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Least contrast of WCAG 2.2 AA: 4.5 for text, 3 for lines and marks. */
const PAIRS: readonly (readonly [string, readonly string[], number])[] = [
  ['ink', ['paper', 'raised', 'notice', 'main', 'topic', 'gone', 'new'], 4.5],
  ['pale', ['paper', 'raised', 'noise', 'main', 'topic'], 4.5],
  ['link', ['paper', 'raised'], 4.5],
  ['bad', ['paper', 'raised'], 4.5],
  ...['c1', 'c2', 'c3', 'c4', 'same', 'moved', 'good', 'bad', 'focus', 'accent'].map(
    (mark) => [mark, ['paper'], 3] as const,
  ),
];

describe('the style of the live view', () => {
  it.each([
    ['light', light],
    ['dark', dark],
  ])('has enough contrast when %s', (_name, colors) => {
    for (const [front, backs, least] of PAIRS) {
      for (const back of backs) {
        const [a, b] = [colors?.get(front), colors?.get(back)];
        expect(a === undefined || b === undefined ? 0 : contrast(a, b), `${front} on ${back}`).toBeGreaterThanOrEqual(
          least,
        );
      }
    }
  });

  it('loads nothing', () => {
    expect(css).not.toMatch(/url\(|@import/);
  });
});
