import { describe, expect, it } from 'vitest';
import { truthOf } from '../../../bench/histories/truth.ts';
import { type MadeTree, madeHistory } from './made-history.ts';

const FILES = Array.from({ length: 12 }, (_, i) => (i === 0 ? 'index.html' : `part/${i}.html`));

/** A dozen pages, the first of which links to all others, with one footer. */
const site = (footer: string, texts: Readonly<Record<string, string>> = {}, more = ''): MadeTree =>
  Object.fromEntries(
    FILES.map((file) => {
      const links = file === 'index.html' ? FILES.slice(1).map((to) => `<a href="/${to}">page</a>`) : [];
      const text = texts[file] ?? `Text of ${file}, no. 1`;
      return [file, `<html><body><p>${text}</p>${links.join('')}${more}<footer>${footer}</footer></body></html>`];
    }),
  );

/** What became of pages between two states. */
function eventsBetween(before: MadeTree, after: MadeTree): Record<string, string> {
  const { events } = truthOf(madeHistory([before, after]));
  return Object.fromEntries(events.map(({ file, what }) => [file, what]));
}

describe('the class of a change', () => {
  const old = site('Built by hand');

  it('what a tenth of the changed pages share is boilerplate, on each of them', () => {
    const events = eventsBetween(old, site('Built by machine'));
    expect(Object.keys(events).sort()).toEqual([...FILES].sort());
    expect(new Set(Object.values(events))).toEqual(new Set(['boilerplate']));
  });

  it('a line of its own beside boilerplate is substantive', () => {
    const events = eventsBetween(old, site('Built by machine', { 'part/3.html': 'News' }));
    expect(events['part/3.html']).toBe('substantive');
    expect(events['part/4.html']).toBe('boilerplate');
  });

  it('a line of fewer than three pages is never boilerplate', () => {
    const both = { 'part/1.html': 'Same', 'part/2.html': 'Same' };
    expect(eventsBetween(old, site('Built by hand', both))).toEqual({
      'part/1.html': 'substantive',
      'part/2.html': 'substantive',
    });
  });

  it('another number is digits, other tags are markup, and references are read', () => {
    const numbered = { 'part/1.html': 'Text of part/1.html, no. 207' };
    expect(eventsBetween(old, site('Built by hand', numbered))).toEqual({ 'part/1.html': 'digits' });
    const marked = { 'part/1.html': '<b class="new">Text of</b> part/1.html,&#32;no.&nbsp;1<script>x()</script>' };
    expect(eventsBetween(old, site('Built by hand', marked))).toEqual({ 'part/1.html': 'markup' });
  });

  it('pages come and go: added, linked, removed', () => {
    const hidden: MadeTree = { ...old, 'hidden.html': '<p>hidden</p>' };
    const linking = { 'part/1.html': 'See <a href="/hidden.html">that</a> and <a href="/new/">this</a>' };
    const after: MadeTree = {
      ...site('Built by hand', linking),
      'hidden.html': '<p>hidden</p>',
      'new/index.html': '<p>new</p>',
    };
    const { 'part/9.html': _, ...fewer } = after;
    expect(eventsBetween(hidden, fewer)).toEqual({
      'part/1.html': 'substantive',
      'hidden.html': 'linked',
      'new/index.html': 'added',
      'part/9.html': 'removed',
    });
  });

  it('only a substantive change makes another major version', () => {
    const { major } = truthOf(madeHistory([old, site('Built by machine'), site('Built', { 'part/2.html': 'News' })]));
    expect(major.map((files) => files.get('part/2.html'))).toEqual([0, 0, 2]);
    expect(major.map((files) => files.get('part/1.html'))).toEqual([0, 0, 0]);
  });
});
