import fc from 'fast-check';

/** A part of a page: a path of elements, its text, and mark-up around the text that says nothing. */
interface TestPart {
  /** Names of its elements below the body, outermost first; neighbours with the same container share it. */
  readonly path: readonly string[];
  readonly text: string;
  readonly href: string | null;
  /** Attributes of its innermost element. */
  readonly signs: string;
}

interface TestPage {
  readonly title: string;
  readonly description: string;
  readonly parts: readonly TestPart[];
}

export interface EditedPage {
  readonly before: TestPage;
  readonly after: TestPage;
}

const words = fc
  .array(
    fc.constantFrom('mill', 'river', 'stone', 'Water', 'runs', 'to', 'the', '12', 'May', '(old)', 'f(x)', 'ends.'),
    {
      minLength: 1,
      maxLength: 30,
    },
  )
  .map((list) => list.join(' '));
const PLACES = [
  ['header', 'h1'],
  ['nav', 'ul', 'li'],
  ['main', 'article', 'h1'],
  ['main', 'article', 'h2'],
  ['main', 'article', 'p'],
  ['main', 'article', 'ul', 'li'],
  ['main', 'article', 'pre'],
  ['main', 'article', 'table', 'tbody', 'tr', 'td'],
  ['main', 'article', 'blockquote', 'p'],
  ['main', 'section', 'dl', 'dd'],
  ['aside', 'p'],
  ['footer', 'p'],
];
const SIGNS = ['', ' class="advert"', ' class="content"', ' id="comments"', ' class="sidebar related"', ' data-x="1"'];
const part: fc.Arbitrary<TestPart> = fc.record({
  path: fc.constantFrom(...PLACES),
  text: words,
  href: fc.option(fc.constantFrom('/a', '/b', '/c'), { nil: null }),
  signs: fc.constantFrom(...SIGNS),
});
const page: fc.Arbitrary<TestPage> = fc.record({
  title: words,
  description: words,
  parts: fc.array(part, { minLength: 1, maxLength: 40 }),
});

type Edit = (page: TestPage) => TestPage;

const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  words.map(
    (title): Edit =>
      (page) => ({ ...page, title }),
  ),
  words.map(
    (description): Edit =>
      (page) => ({ ...page, description }),
  ),
  fc.tuple(fc.nat(), words).map(([at, text]) => onPart(at, (one) => [{ ...one, text }])),
  fc.nat().map((at) => onPart(at, (one) => [{ ...one, text: `${one.text} more.` }])),
  fc.nat().map((at) => onPart(at, () => [])),
  fc.nat().map((at) => onPart(at, (one) => [one, one])),
  fc.tuple(fc.nat(), part).map(([at, added]) => onPart(at, (one) => [one, added])),
  fc.nat().map((at) => onPart(at, (one) => [{ ...one, href: '/elsewhere' }])),
  fc.tuple(fc.nat(), fc.constantFrom(...SIGNS)).map(([at, signs]) => onPart(at, (one) => [{ ...one, signs }])),
  fc.tuple(fc.nat(), fc.constantFrom(...PLACES)).map(([at, path]) => onPart(at, (one) => [{ ...one, path }])),
  fc.constant<Edit>((page) => ({ ...page, parts: page.parts.map((one) => ({ ...one, signs: ' class="menu"' })) })),
);

function onPart(at: number, change: (part: TestPart) => TestPart[]): Edit {
  return (page) => {
    const place = page.parts.length === 0 ? 0 : at % page.parts.length;
    return { ...page, parts: page.parts.flatMap((one, i) => (i === place ? change(one) : [one])) };
  };
}

/** A page, and what a few edits make of it. */
export const anyPage: fc.Arbitrary<EditedPage> = fc
  .tuple(page, fc.array(anyEdit, { maxLength: 4 }))
  .map(([before, edits]) => ({ before, after: edits.reduce((done, edit) => edit(done), before) }));

export function htmlOf({ title, description, parts }: TestPage): string {
  const body: string[] = [];
  let open: readonly string[] = [];
  for (const { path, text, href, signs } of parts) {
    const around = path.slice(0, -1);
    const name = path.at(-1);
    let shared = 0;
    while (shared < open.length && open[shared] === around[shared]) shared++;
    body.push(
      ...open
        .slice(shared)
        .reverse()
        .map((tag) => `</${tag}>`),
    );
    body.push(...around.slice(shared).map((tag) => `<${tag}>`));
    const inner = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    body.push(`<${name}${signs}>${href === null ? inner : `<a href="${href}">${inner}</a>`}</${name}>`);
    open = around;
  }
  body.push(...[...open].reverse().map((tag) => `</${tag}>`));
  return `<!doctype html><html lang="en"><head><title>${title}</title><meta name="description" content="${description}"></head>
<body>${body.join('\n')}</body></html>`;
}

/** The places whose words differ, by the pages as they were made. */
export function changedParts(before: TestPage, after: TestPage): Set<string> {
  const [old, young] = [wordsByPlace(before), wordsByPlace(after)];
  return new Set([...old.keys(), ...young.keys()].filter((place) => old.get(place) !== young.get(place)));
}

function wordsByPlace({ title, parts }: TestPage): Map<string, string> {
  const found = new Map([['title', title]]);
  for (const { path, text } of parts) {
    const place = ['body', ...path].join('>');
    found.set(place, `${found.get(place) ?? ''} ${text}`.trim());
  }
  return found;
}
