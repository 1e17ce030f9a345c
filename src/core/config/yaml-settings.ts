import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';

/** A YAML file of the operator, as nodes with positions. */
export interface YamlDocument {
  readonly document: Document.Parsed;
  /** Complete messages with positions, at most {@link MAX_MESSAGES}. While there are any, the document is not read. */
  readonly errors: readonly string[];
  /** `file:line:column` of a node; of the file's beginning without one. */
  at(node: unknown): string;
}

/** Each alias of a value is looked for in the whole document. Nothing that a person writes comes near these. */
const MAX_ALIASES = 100;
const MAX_DEPTH = 64;
/** Faults beyond are mostly consequences of the first ones. */
const MAX_MESSAGES = 20;
/** Characters of what a message quotes from the file, or the parser has quoted. */
const MAX_LENGTH = 300;

/**
 * Parses YAML. Never throws: what is too deep or has too many aliases is an error like any other. A key of the document
 * itself may be repeated, which begins its section again; below it a key that is given twice is an error.
 */
export function readYamlDocument(source: string, file: string): YamlDocument {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const position = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const at = (node: unknown): string => position((node as Node | null)?.range?.[0] ?? 0);
  const faults = document.errors.map(({ code, message, pos }) =>
    code === 'RESOURCE_EXHAUSTION' ? tooDeep(position(pos[0])) : `${position(pos[0])} ${shortened(message)}`,
  );
  const errors = [() => faults, () => beyondMeasure(document, at), () => repeatedKeys(document, at)].reduce<string[]>(
    (found, check) => (found.length > 0 ? found : check()),
    [],
  );
  const more = errors.length - MAX_MESSAGES;
  return { document, at, errors: more > 0 ? [...errors.slice(0, MAX_MESSAGES), `${file}: ${more} more`] : errors };
}

/** The beginning of a long text, for a message. */
export const shortened = (message: string): string =>
  message.length > MAX_LENGTH ? `${message.slice(0, MAX_LENGTH)}..` : message;

/** The message about a key that is given twice; both places as `file:line:column`. */
export function givenTwice(key: string, first: string, second: string): string {
  const lines = [...new Set([lineOf(first), lineOf(second)])].join(' and ');
  return `${second} ${shortened(key)}: given twice, on ${lines.includes(' ') ? 'lines' : 'line'} ${lines}; keep one of them`;
}

/** The name of a key as it is written. */
export const nameOf = (pair: Pair): string => String(isScalar(pair.key) ? pair.key.value : pair.key);

const lineOf = (place: string): string => place.split(':').at(-2) ?? '';

function repeatedKeys(document: Document.Parsed, at: YamlDocument['at']): string[] {
  const errors: string[] = [];
  visit(document, {
    Map(_, map, path) {
      if (map === document.contents) return;
      const first = new Map<string, Pair>();
      for (const pair of map.items) {
        const name = nameOf(pair);
        const earlier = first.get(name);
        if (earlier === undefined) first.set(name, pair);
        else errors.push(givenTwice(keyBelow(path, map, name), at(earlier.key), at(pair.key)));
      }
    },
  });
  return errors;
}

/** `hosts[0].delay`: the key of a map by the nodes above it. */
function keyBelow(above: readonly unknown[], map: Node, name: string): string {
  const steps = above.map((node, i) => {
    if (isPair(node)) return `${nameOf(node)}.`;
    return isSeq(node) ? `[${node.items.indexOf(above[i + 1] ?? map)}].` : '';
  });
  return `${steps.join('')}${name}`.replaceAll('.[', '[');
}

const tooDeep = (where: string): string => `${where} nested too deeply: expected at most ${MAX_DEPTH} levels`;

function beyondMeasure(document: Document.Parsed, at: YamlDocument['at']): string[] {
  const errors: string[] = [];
  let aliases = 0;
  visit(document, (_, node, path) => {
    if (path.length > 2 * MAX_DEPTH) errors.push(tooDeep(at(node)));
    else if (isAlias(node)) aliases += 1;
    if (aliases > MAX_ALIASES) errors.push(`${at(node)} too many aliases: expected at most ${MAX_ALIASES} in a file`);
    return errors.length > 0 ? visit.BREAK : undefined;
  });
  return errors;
}

/** A value as the operator gave it, and where. */
export interface Setting {
  /** As written: `fetch.delay`. */
  readonly key: string;
  readonly value: unknown;
  /** Where the value stands: `conf/incrawl.yaml:12:10`, `-D`, `--delay`. */
  readonly origin: string;
  /** Where the key stands, for complaints about the key itself. */
  readonly keyOrigin: string;
  /** Where a part of a value with parts stands; absent: all of it is at `origin`. */
  readonly placeOf?: (path: readonly PropertyKey[]) => string;
}

export interface YamlSettings {
  readonly settings: readonly Setting[];
  /** Complete messages with positions. */
  readonly errors: readonly string[];
}

/**
 * Reads `section: {key: value}`, and `section.key: value` for those who write it as the documentation names it. A
 * section may be begun again. Judges the form alone; whether keys exist, are given once and have values
 * that fit is the schema's business.
 */
export function readYamlSettings(source: string, file: string): YamlSettings {
  const { document, at, errors: faults } = readYamlDocument(source, file);
  if (faults.length > 0) return { settings: [], errors: faults };
  const errors: string[] = [];
  // `*` begins an alias, also where a pattern such as *.example.org was meant: the parser reports it only when the
  // value is read.
  visit(document, {
    Alias(_, alias, path) {
      const meant = alias.resolve(document);
      if (meant !== undefined && !path.includes(meant)) return;
      const name = shortened(alias.source);
      const fault = meant === undefined ? `there is no anchor &${name}` : 'the alias stands in what it names';
      errors.push(`${at(alias)} *${name}: ${fault}; text that begins with "*" needs quotes`);
    },
  });
  const root = document.contents;
  if (errors.length > 0 || root === null) return { settings: [], errors };
  if (!isMap(root)) return { settings: [], errors: [`${at(root)} expected sections such as "fetch:" with keys`] };

  const settings: Setting[] = [];
  const add = (key: string, pair: Pair): void => {
    const keyOrigin = at(pair.key);
    const value = pair.value as Node | null;
    const origin = value?.range ? at(value) : keyOrigin;
    try {
      const placeOf = isSeq(value) ? (path: readonly PropertyKey[]) => at(nodeAt(value, path)) : undefined;
      settings.push({ key, value: value?.toJS(document), origin, keyOrigin, ...(placeOf && { placeOf }) });
    } catch (error) {
      // Aliases of aliases that would make too much of a few lines.
      errors.push(`${origin} ${shortened(key)}: ${shortened((error as Error).message)}`);
    }
  };
  for (const pair of root.items) {
    const section = nameOf(pair);
    const value = isAlias(pair.value) ? pair.value.resolve(document) : pair.value;
    // A section without keys (all of them commented out) comes through as a setting of its own: null, or an empty map.
    if (isMap(value) && value.items.length > 0 && !section.includes('.'))
      for (const inner of value.items) add(`${section}.${nameOf(inner)}`, inner);
    else add(section, pair);
  }
  return { settings, errors };
}

/** The node at a path, or the last one on the way to it. */
function nodeAt(node: Node, path: readonly PropertyKey[]): Node {
  const [step, ...rest] = path;
  const next = step !== undefined && isCollection(node) ? node.get(step, true) : undefined;
  return isNode(next) ? nodeAt(next, rest) : node;
}
