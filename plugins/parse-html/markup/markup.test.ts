import type { ChildNode, Document } from 'domhandler';
import fc from 'fast-check';
import { parseDocument } from 'htmlparser2';
import { samplePage } from 'incrawl/plugin-testing';
import { describe, expect, it } from 'vitest';
import { HtmlReader } from '../parse-html.ts';
import type { TreeLimits } from './nesting.ts';

const LIMITS: TreeLimits = { maxDepth: 512, maxAttributes: 256, maxNodes: 500_000 };

/** The DOM that a plugin gets. */
function build(html: string, limits: Partial<TreeLimits> = {}, isXhtml = false) {
  const page = samplePage(html, { contentType: isXhtml ? 'application/xhtml+xml' : 'text/html; charset=utf-8' });
  const options = { ...LIMITS, ...limits, maxLinks: 1_000, maxText: 1_000_000, agent: 'incrawl', now: () => 0 };
  new HtmlReader(options).read(page);
  return { document: page.dom as Document, truncated: page.result.metadata['parse-html.truncated'] === true };
}

/** The tree as indented lines; checks its links on the way. */
function outline(document: Document): string {
  const lines: string[] = [];
  const visit = (children: readonly ChildNode[], parent: ChildNode | Document, depth: number): void => {
    for (const [at, node] of children.entries()) {
      expect(node.parent).toBe(parent);
      expect(node.prev).toBe(children[at - 1] ?? null);
      expect(node.next).toBe(children[at + 1] ?? null);
      const own = 'name' in node ? `<${node.name}> ${JSON.stringify('attribs' in node ? node.attribs : '')}` : '';
      lines.push(`${' '.repeat(depth)}${node.type} ${own}${'data' in node ? JSON.stringify(node.data) : ''}`);
      if ('children' in node) visit(node.children, node, depth + 1);
    }
  };
  visit(document.children, document, 0);
  return lines.join('\n');
}

describe('the tree is that of htmlparser2', () => {
  it.each([
    '<!DOCTYPE html><html><head><title>a &amp; <b>b</title><body><p>one<p>two<div>three</div>four',
    '<ul><li>a<li>b<ul><li>c</ul><li>d</ul>',
    '<table><tr><td>1<td>2<tr><th>3<td>4<tbody><tr><td>5</table>',
    '<table><thead><tr><td>1<tfoot><tr><td>2</table>',
    '<dl><dt>a<dd>b<dt>c<dd>d</dl>',
    '<select><optgroup><option>a<option>b<optgroup><option>c</select>',
    '<ruby>a<rt>b<rp>c<rt>d</ruby>',
    '<p>a</p></p></div>b<br>c</br>d<hr>e</hr>f',
    '<a href=x>1<a href=y>2</a>',
    '<b>1<i>2</b>3</i>4',
    '<script>if (a < b) "</p>" </script><style>p > a {}</style><textarea><b></textarea>',
    '<P CLASS=A ID="b" class=c data-x=\'&lt;"\'>x</P>',
    '<img src=a.png/><input/><div/>x',
    '<!-- a -- b --><!><!x y><?php echo 1 ?>y',
    'a &amp b &lt;&#65;&#x42;&notit; &unknown; &',
    '<a href="?a=1&copy=2&amp;b=3&lt">x</a>',
    '<p',
    '<p class="a',
    '<',
    '</',
    '<!--',
    'a<b',
    '<x-y:z a:b=1></X-Y:Z>',
    '<p __proto__=1 constructor=2 toString=3>',
    '',
  ])('%j', (html) => {
    expect(outline(build(html).document)).toBe(outline(parseDocument(html)));
  });

  it('for any soup of tags', () => {
    const name = fc.constantFrom(
      ...'p div li ul td tr table tbody thead th option select optgroup dd dt h1 a b body head form br img link x-y'.split(
        ' ',
      ),
    );
    const piece = fc.oneof(
      name.map((tag) => `<${tag}>`),
      name.map((tag) => `</${tag}>`),
      name.map((tag) => `<${tag.toUpperCase()} a="1" B='2' c=3 d a="4">`),
      fc.constantFrom(
        'text',
        ' ',
        '&amp;',
        '&#39;',
        '<!-- c -->',
        '<script>1 < 2</script>',
        '<title>t&lt;</title>',
        '<',
        '>',
        '"',
        '=',
        '/',
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const html = pieces.join('');
        expect(outline(build(html).document)).toBe(outline(parseDocument(html)));
      }),
      { numRuns: 1000 },
    );
  });

  it('for any characters, markup begun anywhere and never ended', () => {
    const bits = fc.constantFrom(
      ...'< > / </ ! ? - -- [ --> <!-- <! <? & &amp &lt; &#65; &copy = " \' a p x script style title textarea xmp'.split(
        ' ',
      ),
      ...[' ', '\n', '<a href="', '<script>', '</script', '<title>', '</title ', '\u00e9', '\ud83d\ude00', '\0'],
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 25 }), (pieces) => {
        // Here browsers end a comment, and so do we.
        const html = pieces.join('').replaceAll('--!>', '-->');
        // The last character of an unfinished tag is text; htmlparser2 takes half of one that is a pair.
        const expected = outline(parseDocument(html)).replaceAll('\\ude00', '\ud83d\ude00');
        expect(outline(build(html).document)).toBe(expected);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['a<!-- b --!>c<!-- d -->e', ['text "a"', 'comment " b "', 'text "c"', 'comment " d "', 'text "e"']],
    ['<!--!>a-->b', ['comment "!>a"', 'text "b"']],
    ['<!----!>a', ['comment ""', 'text "a"']],
    ['<!---!>a-->b', ['comment "-!>a"', 'text "b"']],
  ])('but a comment ends where it does in browsers: %s', (html, expected) => {
    expect(outline(build(html).document)).toBe(expected.join('\n'));
  });

  it('in XHTML, elements that close themselves are whole and CDATA is text', () => {
    const { document } = build('<div/><p>a<![CDATA[b < c]]></p>', {}, true);
    expect(outline(document)).toBe(
      outline(parseDocument('<div/><p>a<![CDATA[b < c]]></p>', { recognizeSelfClosing: true, recognizeCDATA: true })),
    );
  });

  it('inside svg and math too, but not after it', () => {
    expect(outline(build('<svg><g/><path d=1 /></svg><div/>x').document)).toBe(
      ['tag <svg> {}', ' tag <g> {}', ' tag <path> {"d":"1"}', 'tag <div> {}', ' text "x"'].join('\n'),
    );
    expect(outline(build('<svg/><div/>x').document)).toBe(['tag <svg> {}', 'tag <div> {}', ' text "x"'].join('\n'));
    expect(outline(build('<svg><foreignObject><p/>x').document)).toBe(
      ['tag <svg> {}', ' tag <foreignobject> {}', '  tag <p> {}', '   text "x"'].join('\n'),
    );
  });
});

describe('limits', () => {
  const depthOf = (document: Document): number => {
    let depth = 0;
    for (let node: ChildNode | undefined = document.children[0]; node && 'children' in node; node = node.children[0])
      depth++;
    return depth;
  };

  it('elements too deep lie flat at the greatest depth allowed', () => {
    const { document } = build(`${'<div>'.repeat(6)}x${'</div>'.repeat(6)}<p>after`, { maxDepth: 4 });
    expect(outline(document)).toBe(
      [
        'tag <div> {}',
        ' tag <div> {}',
        '  tag <div> {}',
        ...['   tag <div> {}', '   tag <div> {}', '   tag <div> {}', '   text "x"'],
        'tag <p> {}',
        ' text "after"',
      ].join('\n'),
    );
  });

  it('an end tag of an element that is not too deep ends those too deep with it', () => {
    const { document } = build('<div><p><b><i>1</p>2</b></i></div>3', { maxDepth: 3 });
    expect(outline(document)).toBe(
      ['tag <div> {}', ' tag <p> {}', '  tag <b> {}', '  tag <i> {}', '  text "1"', ' text "2"', 'text "3"'].join('\n'),
    );
  });

  it('attributes beyond the limit are left out', () => {
    const many = Array.from({ length: 100 }, (_, at) => `a${at}=${at}`).join(' ');
    const { document } = build(`<p ${many}>x`, { maxAttributes: 20 });
    const [element] = document.children;
    expect(element && 'attribs' in element ? Object.keys(element.attribs) : []).toHaveLength(20);
  });

  it('nodes beyond the limit cut the page off', () => {
    const tree = build('<p>x</p>'.repeat(100), { maxNodes: 11 });
    expect(tree.truncated).toBe(true);
    expect(tree.document.children).toHaveLength(6);
    expect(build('<p>x</p>', { maxNodes: 2 }).truncated).toBe(false);
  });

  it.each<[string, string]>([
    ['100,000 nested elements', '<div>'.repeat(100_000)],
    ['and their end tags', '<div>'.repeat(100_000) + '</div>'.repeat(100_000)],
    ['100,000 end tags of nothing in a deep tree', '<b>'.repeat(600) + '</i>'.repeat(100_000)],
    ['100,000 unknown end tags', Array.from({ length: 100_000 }, (_, at) => `</x${at}>`).join('')],
    ['100,000 unknown start tags', Array.from({ length: 100_000 }, (_, at) => `<x${at}>`).join('')],
    ['100,000 attributes', `<p ${Array.from({ length: 100_000 }, (_, at) => `a${at}`).join(' ')}>`],
    ['an attribute of a million entities', `<p a="${'&lt;'.repeat(1_000_000)}">`],
    ['a million entities', '&lt;'.repeat(1_000_000)],
    ['a million unfinished entities', '&'.repeat(1_000_000)],
    ['a million starts of tags', '<'.repeat(1_000_000)],
    ['100,000 starts of comments', '<!--'.repeat(100_000)],
    ['alternating formats', '<a><b></a></b>'.repeat(50_000)],
    ['paragraphs never opened', '</p>'.repeat(100_000)],
    ['tables in tables', '<table><tr><td>'.repeat(30_000)],
    ['4 MB in one line', 'word '.repeat(800_000)],
  ])('%s', (_title, html) => {
    const { document } = build(html);
    expect(depthOf(document)).toBeLessThanOrEqual(512);
  });
});

it('ends a CDATA section in HTML where browsers end it', () => {
  const { document } = build('<p>a<![CDATA[ x <b>c</b> </p><p>d</p>');
  expect(document.children.map((node) => ('name' in node ? node.name : node.type))).toEqual(['p', 'p']);
});

it('knows where each element stands in the page', () => {
  const html = '<div id=a><p>one<p>two <b>b</B ></div ><ul><li>c</ul><br/><section>open';
  const spans: string[] = [];
  const visit = (children: readonly ChildNode[]): void => {
    for (const node of children) {
      if (!('children' in node)) continue;
      if ('name' in node) spans.push(html.slice(node.startIndex ?? 0, (node.endIndex ?? -1) + 1));
      visit(node.children);
    }
  };
  visit(build(html).document.children);
  expect(spans).toEqual([
    '<div id=a><p>one<p>two <b>b</B ></div >',
    '<p>one',
    '<p>two <b>b</B >',
    '<b>b</B >',
    '<ul><li>c</ul>',
    '<li>c',
    '<br/>',
    '<section>open',
  ]);
});
