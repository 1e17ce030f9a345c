import { isAlias, isCollection, isMap, isNode, isSeq, type Node, type Pair, visit } from 'yaml';
import { nameOf, readYamlDocument, shortened } from './yaml-document.ts';

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
  // `*` begins an alias, also where a pattern such as *.example.org was meant: the parser leaves it to whoever asks for
  // the value.
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
