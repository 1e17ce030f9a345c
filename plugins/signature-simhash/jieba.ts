import { type LoadPackage, loadPackage, type TextCutter } from 'incrawl/bundled';

/** The used part of the optional package `@node-rs/jieba`. */
interface JiebaPackage {
  readonly Jieba: { withDict(dict: Uint8Array): { cut(text: string, hmm: boolean): string[] } };
}

/**
 * Segments Chinese by jieba's dictionary and model, from the optional package `@node-rs/jieba`. `version` belongs in
 * the name of the signature. Throws an error that names the installing command if the package is missing.
 */
export function loadJieba(load: LoadPackage = loadPackage): { readonly cut: TextCutter; readonly version: string } {
  const { module, version, part } = load('jieba', 'segmenter: jieba');
  const { dict } = part('dict') as { readonly dict: Uint8Array };
  const jieba = (module as JiebaPackage).Jieba.withDict(dict);
  return { cut: (text) => jieba.cut(text, true), version };
}
