import { Tokenizer } from 'htmlparser2';
import { TextBuffer } from './text-buffer.ts';

const nothing = (): void => {};

/**
 * Decodes the character references of a text or an attribute value by htmlparser2's tokenizer, which knows all names
 * and their exceptions.
 */
export class EntityReader {
  private readonly tokenizer: Tokenizer;
  private readonly decoded = new TextBuffer();
  private source = '';

  constructor() {
    const add = (start: number, end: number): void => this.decoded.add(this.source.slice(start, end));
    const addCharacter = (codePoint: number): void => this.decoded.add(String.fromCodePoint(codePoint));
    this.tokenizer = new Tokenizer(
      { decodeEntities: true },
      {
        ontext: add,
        ontextentity: addCharacter,
        onattribdata: add,
        onattribentity: addCharacter,
        onattribend: nothing,
        onattribname: nothing,
        oncdata: nothing,
        onclosetag: nothing,
        oncomment: nothing,
        ondeclaration: nothing,
        onend: nothing,
        onopentagend: nothing,
        onopentagname: nothing,
        onprocessinginstruction: nothing,
        onselfclosingtag: nothing,
      },
    );
  }

  /** @param isEnded whether markup follows: what a reference without semicolon is depends on the next character */
  text(source: string, isEnded: boolean): string {
    return isEnded ? this.read(`${source}<`).slice(0, -1) : this.read(source);
  }

  /** @param source between the tags of a `title` */
  title(source: string): string {
    return this.read(`<title>${source}`);
  }

  /** @param quote around the value; empty: none */
  attribute(source: string, quote: string): string {
    return this.read(`<a b=${quote}${source}${quote}>`);
  }

  private read(source: string): string {
    this.source = source;
    this.tokenizer.reset();
    this.tokenizer.write(source);
    this.tokenizer.end();
    return this.decoded.take();
  }
}
