import { createHash } from 'node:crypto';
import type { Signature } from 'incrawl/plugin';
import { samplePage, testHost, testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';
import { textProfile } from './text-profile.ts';

const nutch = { minTokenLength: 2, quantRate: 0.01 };

it('keeps the contract of signatures', async () => {
  await testPlugin(plugin);
});

it.each([
  ['no token twice: each counts', 'One two, ONE-time', 'one 2'],
  ['nothing twice', 'beta alpha', 'alpha 1\nbeta 1'],
  ['short tokens do not count', 'an an an of of all all', 'all 2'],
  ['rounded down to the quantum of 2', 'aaa aaa aaa bbb bbb ccc', 'aaa 2\nbbb 2'],
  ['digits are tokens', '2024 2024 x', '2024 2'],
  ['sigma at the end of a word', '\u039f\u03a3\u039f\u03a3 \u03bf\u03c3\u03bf\u03c3', '\u03bf\u03c3\u03bf\u03c3 2'],
  ['beyond the first plane nothing is a letter', 'abc\u{10400}def abc def', 'abc 2\ndef 2'],
  ['nothing', ' -- ', ''],
])('%s', (_title, text, profile) => {
  expect(textProfile(text, nutch)).toBe(profile);
});

it('the quantum grows with the largest count', () => {
  const text = `${'often '.repeat(350)}${'seldom '.repeat(3)}${'twice '.repeat(5)}`;
  // 350 x 0.01 = 3.5, rounded: 4.
  expect(textProfile(text, nutch)).toBe('often 348\ntwice 4');
});

it('is the beginning of the MD5 of the profile, and its id names the options', () => {
  const signature = plugin.setup(testHost, plugin.options!.parse({ quantRate: 0.5 })) as Signature;
  const page = samplePage('');
  page.result.text = 'alpha beta alpha';
  expect(signature.sign(page)).toBe(createHash('md5').update('alpha 2').digest('hex').slice(0, 16));
  expect(signature.id).toBe('textprofile64-t2-q0.5-v1');
  page.result.text = '...';
  expect(signature.sign(page)).toBeNull();
});
