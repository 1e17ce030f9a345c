import { tmpdir } from 'node:os';
import { createWordScanner, loadPackage } from 'incrawl/bundled';
import { createWordCutter, type Signature } from 'incrawl/plugin';
import { samplePage, testHost } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import { loadJieba } from '../../../plugins/signature-simhash/jieba.ts';
import plugin from '../../../plugins/signature-simhash/plugin.ts';

const isInstalled = ((): boolean => {
  try {
    loadJieba();
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!isInstalled)('jieba (skipped unless "incrawl packages install jieba" was run)', () => {
  it('cuts words as a dictionary has them', () => {
    const cut = createWordCutter(createWordScanner(loadJieba().cut));
    expect(cut('太阳能电池板价格下降').slice(0, 2)).toEqual(['太阳能', '电池板']);
  });

  it('makes signatures of another name', () => {
    const signer = (segmenter: string): Signature =>
      plugin.setup(testHost, plugin.options!.parse({ segmenter })) as Signature;
    const [icu, jieba] = [signer('icu'), signer('jieba')];
    expect(jieba.id).toMatch(/-v3-jieba\d+\.\d+$/);
    const chinese = samplePage('');
    chinese.result.text = '太阳能电池板价格下降，家庭用电更便宜';
    expect(jieba.sign(chinese)).not.toEqual(icu.sign(chinese));
    const english = samplePage('');
    english.result.text = 'we love our great country';
    expect(jieba.sign(english)).toEqual(icu.sign(english));
  });
});

it('without its package an error names the command that installs it', () => {
  const nowhere = { own: tmpdir(), project: tmpdir(), folder: null };
  expect(() => loadJieba((id, what) => loadPackage(id, what, nowhere))).toThrow('incrawl packages install jieba');
});
