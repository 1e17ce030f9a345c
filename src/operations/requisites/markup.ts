import { Tokenizer } from 'htmlparser2';

export interface Attribute {
  /** In lower case. */
  readonly name: string;
  /** With character references decoded. */
  readonly value: string;
  /** Range of its name and value in the document. */
  readonly start: number;
  readonly end: number;
}

export interface MarkupElement {
  /** In lower case. */
  readonly tag: string;
  /** Where its name ends in the document. */
  readonly nameEnd: number;
  readonly attributes: readonly Attribute[];
}

export interface Markup {
  /** Start tags with attributes, and those of all scripts, in document order. */
  readonly elements: readonly MarkupElement[];
  /** Ranges of the texts of `style` elements. */
  readonly styles: readonly { readonly start: number; readonly end: number }[];
}

/** A document with more of them is hostile; the rest is left out. */
const MAX_ELEMENTS = 500_000;

const nothing = (): void => {};

/** The start tags of a document with the places of their attributes. */
export function readMarkup(html: string): Markup {
  const elements: MarkupElement[] = [];
  const styles: { start: number; end: number }[] = [];
  let [tag, nameEnd, name, nameStart, value] = ['', 0, '', 0, ''];
  let attributes: Attribute[] = [];
  let isInStyle = false;
  const endTag = (end: number): void => {
    const isListed = attributes.length > 0 || tag === 'script';
    if (isListed && elements.length < MAX_ELEMENTS) elements.push({ tag, nameEnd, attributes });
    isInStyle = tag === 'style';
    if (isInStyle) styles.push({ start: end + 1, end: end + 1 });
  };
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        tag = html.slice(start, end).toLowerCase();
        nameEnd = end;
        attributes = [];
        isInStyle = false;
      },
      onattribname(start, end) {
        name = html.slice(start, end).toLowerCase();
        nameStart = start;
        value = '';
      },
      onattribdata(start, end) {
        value += html.slice(start, end);
      },
      onattribentity(codePoint) {
        value += String.fromCodePoint(codePoint);
      },
      onattribend(_quote, end) {
        // Of two attributes of one name browsers take the first.
        if (!attributes.some((known) => known.name === name)) attributes.push({ name, value, start: nameStart, end });
      },
      onopentagend: endTag,
      onselfclosingtag: endTag,
      ontext(_start, end) {
        const style = styles.at(-1);
        if (isInStyle && style !== undefined) style.end = end;
      },
      onclosetag() {
        isInStyle = false;
      },
      ontextentity: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      onend: nothing,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return { elements, styles };
}
