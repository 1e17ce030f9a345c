import { expect, it } from 'vitest';
import { pageVariant, variantOfMedia } from '../../src/page/links/page-series.ts';

it.each([
  ['print', 'print'],
  ['only print', 'print'],
  ['handheld', 'mobile'],
  ['only screen and (max-width: 640px)', 'mobile'],
  ['only screen and (max-device-width:640px)', 'mobile'],
  ['screen', null],
  ['', null],
])('media %j', (media, expected) => {
  expect(variantOfMedia(media)).toBe(expected);
});

it.each<[string, string | null, boolean, string | null]>([
  ['https://a.org/amp/x', 'https://a.org/x', true, 'amp'],
  ['https://cdn.example/c/a.org/x', 'https://a.org/x', true, 'amp'],
  ['https://a.org/x', 'https://a.org/x', true, null],
  ['https://a.org/x', null, true, null],
  ['https://a.org/amp/x', 'https://a.org/x', false, null],
  ['https://a.org/x?print=1', 'https://a.org/x', false, 'print'],
  ['https://a.org/x/print/', 'https://a.org/x/', false, 'print'],
  ['https://a.org/druckversion/x', 'https://www.a.org/x', false, 'print'],
  ['https://a.org/print/x', 'https://b.org/x', false, null],
  ['https://a.org/print/x', 'https://a.org/print/y', false, null],
  ['https://a.org/blueprint/x', 'https://a.org/x', false, null],
  ['https://m.a.org/x', 'https://www.a.org/x', false, 'mobile'],
  ['https://mobile.a.org/x', 'https://a.org/y', false, 'mobile'],
  ['https://m.a.org/x', 'https://b.org/x', false, null],
  ['https://m.a.org/x', 'https://m.a.org/y', false, null],
])('%s of %s, AMP: %s', (url, canonical, isAmp, expected) => {
  expect(pageVariant(url, canonical, isAmp)).toBe(expected);
});
