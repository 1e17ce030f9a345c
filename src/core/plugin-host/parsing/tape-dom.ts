import {
  CDATA,
  type ChildNode,
  Comment,
  Document,
  Element,
  type ParentNode,
  ProcessingInstruction,
  Text,
} from 'domhandler';
import { ATTRIBUTE_NAMES } from '../../../page/tape/name-table.ts';
import { CLOSE, COMMENT, INSTRUCTION, type Tape, TEXT } from '../../../page/tape/tape.ts';
import { lengthFromLead } from '../../../page/text/utf8.ts';

export interface TapeDom {
  readonly document: Document;
  /** The element of each entry that is one. */
  readonly elements: readonly Element[];
}

/** The DOM of a page, complete with comments, all attributes, and places in the decoded page. */
export function domOfTape(tape: Tape): TapeDom {
  return new DomWriter(tape).write();
}

class DomWriter {
  private readonly tape: Tape;
  private readonly document = new Document([]);
  private readonly elements: Element[] = [];
  private parent: ParentNode = this.document;
  /** A place in bytes, and the same in UTF-16 units. */
  private byte = 0;
  private unit = 0;

  constructor(tape: Tape) {
    this.tape = tape;
  }

  write(): TapeDom {
    const { tape } = this;
    for (let at = 0; at < tape.length; at++) {
      switch (tape.kindAt(at)) {
        case TEXT:
          this.addText(at);
          break;
        case CLOSE:
          this.closeElement(at);
          break;
        case COMMENT:
          this.append(new Comment(tape.textAt(at)));
          break;
        case INSTRUCTION:
          this.append(instructionOf(tape.textAt(at)));
          break;
        default:
          this.openElement(at);
      }
    }
    return { document: this.document, elements: this.elements };
  }

  private addText(at: number): void {
    const text = new Text(this.tape.textAt(at));
    if (this.tape.isSection(at)) {
      const section = new CDATA([text]);
      text.parent = section;
      this.append(section);
    } else this.append(text);
  }

  private openElement(at: number): void {
    const { tape } = this;
    const element = new Element(tape.tagName(tape.kindAt(at)), this.attributesOf(at));
    element.startIndex = this.unitAt(tape.placeOf(at));
    this.append(element);
    this.elements[at] = element;
    this.parent = element;
  }

  private closeElement(at: number): void {
    const { tape } = this;
    const element = this.elements[tape.openOf(at)] as Element;
    element.endIndex = this.unitAt(tape.placeOf(at)) - 1;
    this.parent = element.parent as ParentNode;
  }

  private attributesOf(at: number): Record<string, string> {
    const { tape } = this;
    const attributes: Record<string, string> = {};
    for (let position = tape.firstAttribute(at); position < tape.endOfAttributes(at); position++) {
      const number = tape.attributeAt(position);
      const name = number > 0 ? ATTRIBUTE_NAMES[number]! : nameAt(tape, -number);
      // The first attribute of a name wins.
      if (!Object.hasOwn(attributes, name)) attributes[name] = tape.valueAt(position);
    }
    return attributes;
  }

  private append(node: ChildNode): void {
    const { parent } = this;
    const { children } = parent;
    const previous = children[children.length - 1];
    node.parent = parent;
    if (previous !== undefined) {
      previous.next = node;
      node.prev = previous;
    }
    children.push(node);
  }

  /** The UTF-16 unit of a place. Places rise, or fall by a few bytes. */
  private unitAt(place: number): number {
    const { bytes } = this.tape;
    while (this.byte > place) {
      this.byte--;
      while ((bytes[this.byte]! & 0xc0) === 0x80) this.byte--;
      this.unit -= unitsFrom(bytes[this.byte]!);
    }
    while (this.byte < place) {
      const lead = bytes[this.byte]!;
      this.byte += lengthFromLead(lead);
      this.unit += unitsFrom(lead);
    }
    return this.unit;
  }
}

const unitsFrom = (lead: number): number => (lead < 0xf0 ? 1 : 2);

const ENDS_NAME = /[ \t\n\f\r/>=]/;

/** A name as it stands in the page, in lower case. It may begin with any character. */
function nameAt(tape: Tape, start: number): string {
  let end = start + 1;
  while (!ENDS_NAME.test(String.fromCharCode(tape.bytes[end]!)) && tape.bytes[end] !== undefined) end++;
  return tape.string(start, end).toLowerCase();
}

/** @param value with its mark */
function instructionOf(value: string): ProcessingInstruction {
  const end = value.search(/[\s/]/);
  const name = (end < 0 ? value : value.slice(0, end)).toLowerCase();
  return new ProcessingInstruction(name, value);
}
