import { sum } from '../harness/cost.ts';
import { gramsOf, tokensOf } from './scores.ts';

/** Blocks of fewer tokens are judged by what stands beside them as well: their words may stand anywhere. */
const SHORT = 5;

/**
 * How far each block belongs to the gold text, 0 to 1; -1: it has no words. Long blocks: share of their 4-grams that
 * the gold text has. Short ones: whether it has them in this order, more surely as a line of its own or beside long
 * blocks that belong to it.
 */
export function blockLabels(blocks: readonly string[], gold: string): Float32Array {
  const goldTokens = tokensOf(gold.toLowerCase());
  const known = new Set(gramsOf(goldTokens, 4));
  const whole = ` ${goldTokens.join(' ')} `;
  const lines = new Set(gold.split('\n').map((line) => tokensOf(line.toLowerCase()).join(' ')));
  const tokens = blocks.map((text) => tokensOf(text.toLowerCase()));
  const labels = new Float32Array(blocks.length);
  for (const [i, own] of tokens.entries()) {
    if (own.length < SHORT) continue;
    const grams = gramsOf(own, 4);
    labels[i] = grams.filter((gram) => known.has(gram)).length / grams.length;
  }
  const isLong = (i: number): boolean => (tokens[i]?.length ?? 0) >= SHORT;
  for (const [i, own] of tokens.entries()) {
    if (own.length === 0) labels[i] = -1;
    if (own.length === 0 || own.length >= SHORT) continue;
    const text = own.join(' ');
    if (!whole.includes(` ${text} `)) continue;
    const beside: number[] = [];
    for (let j = i - 1, count = 0; j >= 0 && count < 2; j--) if (isLong(j) && ++count) beside.push(labels[j] as number);
    for (let j = i + 1, count = 0; j < blocks.length && count < 2; j++) {
      if (isLong(j) && ++count) beside.push(labels[j] as number);
    }
    const around = sum(beside) / Math.max(1, beside.length);
    if (lines.has(text)) labels[i] = around > 0.2 ? 1 : 0.6;
    else labels[i] = around > 0.6 ? 0.9 : around > 0.2 ? 0.5 : 0.1;
  }
  return labels;
}

/**
 * Weight of each block: its share of the page's words, so that pages count alike, bounded for pages of few. What one
 * block more or less does to the F1 of a page is less where there is much else. A page without content teaches nothing.
 */
export function blockWeights(blocks: readonly string[], gold: string): Float32Array {
  const counts = blocks.map((text) => tokensOf(text).length);
  const content = tokensOf(gold).length;
  const all = Math.max(100, content, sum(counts));
  return Float32Array.from(counts, (count) => (content === 0 ? 0 : 20 * Math.min(1, (count + 1) / all)));
}
