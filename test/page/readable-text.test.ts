import { parseDocument } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import type { PageNode } from '../../src/page/page-block.ts';
import { readableText } from '../../src/page/published/readable-text.ts';

const SENTENCE = 'The council met on Monday, heard the report, and decided to repair the old bridge before winter. ';
const read = (html: string): string => readableText(parseDocument(html) as unknown as PageNode);
const article = `<h1>Bridge</h1>${`<p>${SENTENCE.repeat(2)}</p>`.repeat(4)}`;
const links = `<ul>${'<li><a href=/x>Another headline, and more</a></li>'.repeat(8)}</ul>`;

describe('the text of a reading mode', () => {
  it.each([
    ['navigation', `<nav>${links}</nav>`],
    ['a sidebar by class', `<div class="sidebar"><p>${SENTENCE.repeat(3)}</p></div>`],
    ['a list of links', links],
    ['a script', `<script>var text = "${SENTENCE}"</script>`],
  ])('has the paragraphs without %s', (_, around) => {
    const text = read(`<body>${around}<div id="story">${article}</div>${around}</body>`);
    expect(text.match(/The council met/g)).toHaveLength(8);
    expect(text).not.toContain('Another headline');
  });

  it('leaves a list of links within the content out', () => {
    expect(read(`<body><div>${article}${links}</div></body>`)).not.toContain('Another headline');
  });

  it('keeps what lies in a part with a name of surroundings where there is nothing else', () => {
    expect(read(`<body><div class="sidebar"><p>${SENTENCE.repeat(3)}</p></div></body>`)).toContain('The council met');
  });

  it.each(['', '<body></body>', '<p>short</p>'])('is empty without a paragraph: %j', (html) => {
    expect(read(html)).toBe('');
  });

  it('is found however deep the page nests', () => {
    expect(read(`${'<div>'.repeat(20_000)}<p>${SENTENCE}</p>`)).toContain('The council met');
  });
});
