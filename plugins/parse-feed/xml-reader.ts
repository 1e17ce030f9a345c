import { Parser } from 'htmlparser2';

export interface XmlElement {
  /** Local name, lower case. */
  readonly name: string;
  /** Namespace prefix as written, lower case; empty when there is none. */
  readonly prefix: string;
  /** Names lower case, prefixes kept. */
  readonly attributes: Readonly<Record<string, string>>;
  /** 0 for the root. */
  readonly depth: number;
}

/** `capture`: report all text below at the end of the element, but no elements in it. `stop`: end reading. */
export type XmlAction = 'enter' | 'capture' | 'skip' | 'stop';

export interface XmlVisitor {
  open(element: XmlElement): XmlAction;
  /** For each element entered (`text` is empty) or captured, but not for those that the end of the file cut off. */
  close(element: XmlElement, text: string): void;
  /** The file ends inside the root element. */
  cutOff?(): void;
  /** Text directly inside entered elements. */
  text?(text: string): void;
}

export interface XmlFault {
  /** From 1. */
  readonly line?: number;
  readonly message: string;
}

export type ReportFault = (message: string) => void;

export interface XmlLimits {
  readonly maxDepth: number;
  /** Characters kept of one captured element. */
  readonly maxCapture: number;
}

const CHUNK_LENGTH = 65_536;
const MAX_FAULTS = 100;

/**
 * Reads XML as a stream of events, tolerant like a browser: errors of well-formedness are reported and skipped.
 * Declared entities are not expanded, so memory stays bounded. `choose` selects the visitor by the root element, which
 * the visitor then receives.
 */
export function readXml(
  text: string,
  choose: (root: XmlElement, report: ReportFault) => XmlVisitor,
  limits: XmlLimits,
): XmlFault[] {
  const faults: XmlFault[] = [];
  const lineOf = createLineCounter(text);
  const report = (message: string): void => {
    if (faults.length < MAX_FAULTS) faults.push({ line: lineOf(parser.startIndex), message });
    else if (faults.length === MAX_FAULTS) faults.push({ message: 'further errors are left out' });
  };

  let visitor: XmlVisitor | undefined;
  const entered: XmlElement[] = [];
  let depth = 0;
  /** Depth of the element whose content is being captured or skipped, -1 for none. */
  let closedTo = -1;
  let captured: string[] | undefined;
  let capturedLength = 0;
  /** End of the last opening tag: the parser closes a self-closing tag at the same offset. */
  let openTagEnd = -1;
  let isAtEnd = false;
  let isStopped = false;

  const stop = (): void => {
    isStopped = true;
    parser.pause();
  };

  const parser = new Parser(
    {
      onopentag(fullName, attributes) {
        const element = { ...nameOf(fullName), attributes, depth };
        depth++;
        openTagEnd = parser.endIndex;
        if (depth > limits.maxDepth) {
          report(`elements nested deeper than ${limits.maxDepth}, the rest is left out`);
          stop();
          return;
        }
        if (closedTo >= 0) {
          // Words of neighbouring elements must not run together.
          captured?.push(' ');
          return;
        }
        if (element.depth === 0 && visitor !== undefined) report(`a second root element <${fullName}>`);
        visitor ??= choose(element, report);
        const action = visitor.open(element);
        if (action === 'stop') return stop();
        entered.push(element);
        if (action === 'enter') return;
        closedTo = element.depth;
        captured = action === 'capture' ? [] : undefined;
        capturedLength = 0;
      },
      ontext(data) {
        if (closedTo < 0) {
          if (depth > 0) visitor?.text?.(data);
        } else if (captured !== undefined && capturedLength < limits.maxCapture) {
          capturedLength += data.length;
          captured.push(data);
        }
      },
      onclosetag(fullName, isImplied) {
        depth--;
        if (isStopped || isAtEnd) return;
        if (isImplied && parser.endIndex !== openTagEnd) report(`<${fullName}> is not closed`);
        if (closedTo >= 0 && depth > closedTo) {
          captured?.push(' ');
          return;
        }
        const isSkipped = closedTo >= 0 && captured === undefined;
        const text = captured?.join('').slice(0, limits.maxCapture) ?? '';
        closedTo = -1;
        captured = undefined;
        const element = entered.pop();
        if (element !== undefined && !isSkipped) visitor?.close(element, text);
      },
    },
    { xmlMode: true, decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );

  for (let at = 0; at < text.length && !isStopped; at += CHUNK_LENGTH) parser.write(text.slice(at, at + CHUNK_LENGTH));
  if (!isStopped && depth > 0) {
    report('the file ends before its last element does');
    visitor?.cutOff?.();
  }
  isAtEnd = true;
  if (!isStopped) parser.end();
  return faults;
}

function nameOf(fullName: string): { readonly name: string; readonly prefix: string } {
  const colon = fullName.indexOf(':');
  return colon < 0
    ? { name: fullName, prefix: '' }
    : { name: fullName.slice(colon + 1), prefix: fullName.slice(0, colon) };
}

/** Line numbers by offset, fast for increasing offsets. */
function createLineCounter(text: string): (offset: number) => number {
  let line = 1;
  let counted = 0;
  return (offset) => {
    for (let at = text.indexOf('\n', counted); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
      line++;
      counted = at + 1;
    }
    return line;
  };
}
