import { StringDecoder } from 'node:string_decoder';
import { Parser } from 'htmlparser2';

export type Attributes = Readonly<Record<string, string>>;

/** Receives a part as it is read. Element names come without their prefix, attribute names as written. */
export interface XmlHandler {
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  text?(data: string): void;
}

/** Bytes that are decoded at a time, so that no part becomes one long string. */
const CHUNK_BYTES = 1 << 16;

/** The parser takes quadratic time for nested elements; documents of any program nest them some dozens deep. */
const MAX_DEPTH = 1_000;

/**
 * Reads XML. Entities that the document declares itself are not expanded. What follows an element that is nested deeper
 * than `MAX_DEPTH` is left out.
 *
 * @param isHtml XHTML, as browsers read it
 */
export function readXml(bytes: Buffer, handler: XmlHandler, isHtml = false): void {
  /** Names of the elements that are open. */
  const open: string[] = [];
  const isTooDeep = (): boolean => open.length > MAX_DEPTH;
  const parser = new Parser(
    {
      onopentag(fullName, attributes) {
        const name = localName(fullName);
        open.push(name);
        handler.open(name, attributes);
        if (isTooDeep()) parser.pause();
      },
      onclosetag(name) {
        open.pop();
        handler.close(localName(name));
      },
      ontext: (data) => handler.text?.(data),
    },
    isHtml ? { recognizeSelfClosing: true, recognizeCDATA: true } : { xmlMode: true, decodeEntities: true },
  );
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  const decoder = new StringDecoder(isWide ? 'utf16le' : 'utf8');
  const start = isWide ? 2 : bytes.subarray(0, 3).equals(UTF8_MARK) ? 3 : 0;
  for (let at = start; at < bytes.length && !isTooDeep(); at += CHUNK_BYTES) {
    parser.write(decoder.write(bytes.subarray(at, at + CHUNK_BYTES)));
  }
  if (!isTooDeep()) parser.end(decoder.end());
  for (let name = open.pop(); name !== undefined; name = open.pop()) handler.close(name);
}

const UTF8_MARK = Buffer.from('efbbbf', 'hex');

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** The texts of all elements without child elements, by name; the first few of each. */
export function textsIn(bytes: Buffer | null): (name: string) => string[] {
  const texts = new Map<string, string[]>();
  let text = '';
  if (bytes !== null) {
    readXml(bytes, {
      open: () => {
        text = '';
      },
      text: (data) => {
        if (text.length < MAX_TEXT) text += data;
      },
      close: (name) => {
        const known = texts.get(name) ?? [];
        if (text.trim() !== '' && known.length < MAX_TEXTS) texts.set(name, [...known, text.trim()]);
        text = '';
      },
    });
  }
  return (name) => texts.get(name) ?? [];
}

const MAX_TEXT = 10_000;
const MAX_TEXTS = 100;
