import { createRequire } from 'node:module';

type Measure = (text: string) => number;

/** Most cells are plain ASCII, perhaps cut: then a character is a cell. */
const PLAIN = /^[ -~…]*$/;

/** Nodes before 20.19 cannot load an ES module when it is needed: there it is loaded at once. */
const canLoadLate = 'require_module' in process.features && process.features.require_module === true;
let measure: Measure | null = canLoadLate ? null : (await import('string-width')).default;

/**
 * Width in terminal cells. What measures wide characters is loaded by the first of them: its tables of emoji take
 * longer than many an answer.
 */
export function cellWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  measure ??= (createRequire(import.meta.url)('string-width') as { readonly default: Measure }).default;
  return measure(text);
}

/** Whether each character is a cell. */
export const isPlain = (text: string): boolean => PLAIN.test(text);
