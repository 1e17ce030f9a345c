// cli/render/: tables, lists and quantities for people and programs.
import { createRequire } from 'node:module';

type Measure = (text: string) => number;

/** Most texts are plain ASCII with an ellipsis at most: a character takes one cell. */
const PLAIN = /^[ -~…]*$/;

/** Node before 20.19 cannot `require` an ES module: there it is loaded at once. */
const canLoadLate = 'require_module' in process.features && process.features.require_module === true;
let measure: Measure | null = canLoadLate ? null : (await import('string-width')).default;

/**
 * Width in terminal cells. `string-width` is loaded by the first wide character: loading its emoji tables takes longer
 * than many commands.
 */
export function cellWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  measure ??= (createRequire(import.meta.url)('string-width') as { readonly default: Measure }).default;
  return measure(text);
}

/** Whether each character takes one cell. */
export const isPlain = (text: string): boolean => PLAIN.test(text);
