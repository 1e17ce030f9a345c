import { expect, it } from 'vitest';
import { linkedToFiles, linkedUrls } from './page-links.ts';

const FILES: Readonly<Record<string, string>> = {
  'https://a.example/': 'a.example/index.md',
  'https://a.example/docs/b': 'a.example/docs/b.md',
  'https://b.example/c': 'b.example/c.md',
};
const linked = (text: string): string => linkedToFiles(text, 'a.example/docs/b.md', (url) => FILES[url] ?? null);

it.each([
  ['[x](https://a.example/)', '[x](../index.md)'],
  ['[x](https://b.example/c#part) and [y](https://a.example/docs/b)', '[x](../../b.example/c.md#part) and [y](b.md)'],
  ['[x](https://a.example/docs/b#part)', '[x](#part)'],
  ['[x](https://else.example/)', '[x](https://else.example/)'],
  ['`[x](https://a.example/)` [x](https://a.example/)', '`[x](https://a.example/)` [x](../index.md)'],
  ['a \\` [x](https://a.example/) \\`', 'a \\` [x](../index.md) \\`'],
  ['``a ` b`` [x](https://a.example/)', '``a ` b`` [x](../index.md)'],
  ['![[x](https://a.example/)](https://a.example/)', '![[x](../index.md)](../index.md)'],
])('%s', (text, expected) => {
  expect(linked(text)).toBe(expected);
});

it('leaves listings as they are, in lists and quotations too', () => {
  const link = '[x](https://a.example/)';
  const text = ['```', link, '```', link, '- ````', `  ${link}`, '  ```', '  ````', `> ${link}`].join('\n');
  expect(linked(text)).toBe(
    ['```', link, '```', '[x](../index.md)', '- ````', `  ${link}`, '  ```', '  ````', '> [x](../index.md)'].join('\n'),
  );
});

it('names the URLs that are linked', () => {
  expect([...linkedUrls('[x](https://a.example/#1) [y](https://a.example/) `](https://b.example/)`')]).toEqual([
    'https://a.example/',
  ]);
});
