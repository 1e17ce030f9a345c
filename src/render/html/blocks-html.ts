// render/html/: HTML files that commands write.

import type { ExplainedParse } from '../../crawler/views.ts';
import type { Reason } from '../../page/content/trees/content-reasons.ts';
import type { PageBlock } from '../../page/page-block.ts';
import { TextSketch } from '../../page/text/text-sketch.ts';
import { counted } from '../quantities.ts';

/** A block with the reasons for its verdict. */
export interface ShownBlock extends Pick<PageBlock, 'type' | 'path' | 'text' | 'links' | 'anchorChars' | 'certainty'> {
  readonly reasons: readonly Reason[];
  /** Whether a reading mode shows it. */
  readonly isRead: boolean;
  /** In addition to the class, for what a reader must see at once. */
  readonly mark?: string;
}

/**
 * The blocks of a page as an HTML file: what was taken, why, with which certainty, and whether a reading mode takes it.
 */
export function blocksHtml({ check, reasons, reading }: ExplainedParse): string {
  const read = new TextSketch(reading);
  const blocks = check.blocks.map((block) => ({
    ...block,
    reasons: reasons.get(block.path) ?? [],
    isRead: isReadIn(read, block.text),
  }));
  const main = blocks.filter(({ type }) => type === 'main');
  const title = check.title ?? '(no title)';
  return htmlFile(
    `Blocks of ${check.title ?? check.url}`,
    `<h1><bdi>${escaped(title)}</bdi></h1>
<p><bdi>${escaped(check.url)}</bdi></p>
<p>${blocks.length} blocks, ${main.length} of them main content (green): ${check.mainText.length} of ${check.text.length} characters. A reading mode shows ${reading.length} characters (R). Signature ${escaped(check.signature ?? 'none')}, of changes ${escaped(check.changeSignature ?? 'none')}.</p>
<p>Behind the certainty, the features that decided most: each with its value and what it adds to the logit.</p>
${blocks.map(blockSection).join('\n')}
<details><summary>What a reading mode shows: ${reading.length} characters</summary><p dir="auto">${withBreaks(reading)}</p></details>`,
  );
}

/** Whether a text contains all lines of a block that have more than a few characters. */
export function isReadIn(text: TextSketch, block: string): boolean {
  const lines = block
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line.length >= LEAST_LINE);
  return lines.length > 0 && lines.every((line) => text.includes(line));
}

const LEAST_LINE = 8;

export function blockSection(block: ShownBlock): string {
  const { type, path, text, links, anchorChars, certainty, reasons, isRead, mark = '' } = block;
  const facts = [
    `${isRead ? 'R · ' : ''}${type}`,
    path,
    `${text.length} characters${links === 0 ? '' : `, ${counted(links, 'link')} with ${anchorChars} characters`}`,
  ];
  const why = reasons.map(
    ({ feature, value, effect }) =>
      `${feature} ${Number(value.toFixed(2))} (${effect < 0 ? '−' : '+'}${Math.abs(effect).toFixed(1)})`,
  );
  const decided =
    certainty === undefined ? '' : `certainty ${certainty.toFixed(2)}${why.length === 0 ? '' : `: ${why.join(', ')}`}`;
  return `<section class="${mark === '' ? type : `${type} ${mark}`}"><h2>${escaped(facts.join(' · '))}</h2>${decided === '' ? '' : `<h3>${escaped(decided)}</h3>`}<p dir="auto">${withBreaks(text)}</p></section>`;
}

const withBreaks = (text: string): string => escaped(text).replaceAll('\n', '<br>');

/**
 * A page without script or external resource. All foreign text in `body` has to be escaped; in addition, a content
 * security policy forbids scripts and requests.
 */
export const htmlFile = (title: string, body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff; overflow-wrap: anywhere; }
section { border-left: .5rem solid; padding: .25rem .75rem; margin: .5rem 0; }
section h2, section h3 { font: 12px/1.4 ui-monospace, monospace; margin: 0; color: #555; }
section p { margin: .25rem 0; }
.title { border-color: #1a1a1a; font-weight: 600; }
.main { border-color: #0a7a4a; background: #f2faf6; }
.topic { border-color: #0a58b0; background: #f2f6fb; }
.noise { border-color: #b5b5b5; color: #555; background: #f7f7f7; }
.wrong { border-color: #b3261e; background: #fdf1f0; }
.missed { border-color: #a66300; background: #fff7e8; color: #1a1a1a; }
summary { cursor: pointer; }
bdi { unicode-bidi: isolate; }
</style></head><body>
${body}
</body></html>
`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes HTML. Control characters and marks of the reading direction become U+FFFD. */
export const escaped = (text: string): string =>
  text
    .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
