import type { Page, Signature } from 'incrawl/plugin';
import { samplePage, testHost, testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

const signature = (options = {}): Signature => plugin.setup(testHost, plugin.options!.parse(options)) as Signature;

function page(found: Partial<Page['result']>, body = ''): Page {
  const sample = samplePage(body);
  Object.assign(sample.result, found);
  return sample;
}

it('keeps the contract of signatures', async () => {
  await testPlugin(plugin);
});

it('is the beginning of the SHA-256 of the text', () => {
  // printf 'we love' | sha256sum
  expect(signature().sign(page({ text: ' we\n love ' }))).toBe('f92c41e3a1295846');
});

it('digests the configured source', () => {
  const one = { text: 'menu a text', mainText: 'a text' };
  const other = { text: 'another menu a text', mainText: 'a text' };
  const same = (of: string): boolean => {
    const { sign } = signature({ of });
    return sign(page(one, '<p>1')) === sign(page(other, '<p>1'));
  };
  expect(['main-text', 'text', 'body'].map(same)).toEqual([true, false, true]);
  const body = signature({ of: 'body' });
  expect(body.sign(page(one, '<p>1'))).not.toBe(body.sign(page(one, '<p>2')));
  expect(body.id).not.toBe(signature().id);
});

it('a page without text has none', () => {
  expect(signature().sign(page({ text: ' \n' }))).toBeNull();
});
