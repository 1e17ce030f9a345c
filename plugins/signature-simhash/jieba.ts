import { createRequire } from 'node:module';
import type { TextCutter } from 'incrawl/plugin';

/** The used part of the optional package `@node-rs/jieba`. */
interface JiebaPackage {
  readonly Jieba: { withDict(dict: Uint8Array): { cut(text: string, hmm: boolean): string[] } };
}

/**
 * Segments Chinese by jieba's dictionary and model, from the optional package `@node-rs/jieba`. `version` belongs in
 * the name of the signature. Throws with the install command where the package is missing.
 */
export function loadJieba(): { readonly cut: TextCutter; readonly version: string } {
  const require = createRequire(import.meta.url);
  try {
    const { Jieba } = require('@node-rs/jieba') as JiebaPackage;
    const { dict } = require('@node-rs/jieba/dict') as { readonly dict: Uint8Array };
    const { version } = require('@node-rs/jieba/package.json') as { readonly version: string };
    const jieba = Jieba.withDict(dict);
    return { cut: (text) => jieba.cut(text, true), version };
  } catch (error) {
    const message = 'segmenter jieba needs the package @node-rs/jieba: npm install @node-rs/jieba';
    throw new Error(message, { cause: error });
  }
}
