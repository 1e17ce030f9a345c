// cli/render/html/: HTML files that commands write.
import type { ParseCheck } from '../../../crawler.ts';

/**
 * The blocks of a page as an HTML file: no script, no external resource. All text of the page is escaped, and a content
 * security policy forbids scripts and requests all the same.
 */
export function blocksHtml(check: ParseCheck): string {
  const main = check.blocks.filter(({ type }) => type === 'main');
  const blocks = check.blocks.map((block) => {
    const facts = `${block.type} · ${block.path} · ${block.text.length} characters${block.links === 0 ? '' : `, ${block.links} links with ${block.anchorChars} characters`}`;
    return `<section class="${block.type}"><h2>${escaped(facts)}</h2><p dir="auto">${escaped(block.text).replaceAll('\n', '<br>')}</p></section>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Blocks of ${escaped(check.title ?? check.url)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff; overflow-wrap: anywhere; }
section { border-left: .5rem solid; padding: .25rem .75rem; margin: .5rem 0; }
section h2 { font: 12px/1.4 ui-monospace, monospace; margin: 0; color: #555; }
section p { margin: .25rem 0; }
.title { border-color: #1a1a1a; font-weight: 600; }
.main { border-color: #0a7a4a; background: #f2faf6; }
.topic { border-color: #0a58b0; background: #f2f6fb; }
.noise { border-color: #b5b5b5; color: #666; background: #f7f7f7; }
bdi { unicode-bidi: isolate; }
</style></head><body>
<h1><bdi>${escaped(check.title ?? '(no title)')}</bdi></h1>
<p><bdi>${escaped(check.url)}</bdi></p>
<p>${check.blocks.length} blocks, ${main.length} of them main content (green): ${check.mainText.length} of ${check.text.length} characters. Signature ${escaped(check.signature ?? 'none')}.</p>
${blocks.join('\n')}
</body></html>
`;
}

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
