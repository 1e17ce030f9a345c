import { createRequire } from 'node:module';

/** Words without meaning of their own in a language; empty for one without a list. */
export type StopWords = (lang: string | null) => ReadonlySet<string>;

const NONE: ReadonlySet<string> = new Set();

/** Version of the lists, for names of what depends on them. */
export function stopWordsVersion(): string {
  const require = createRequire(import.meta.url);
  return (require('stopwords-iso/package.json') as { readonly version: string }).version;
}

/** Lists of stopwords-iso, 58 languages, read when one is first asked for. `en-GB` has those of `en`. */
export function createStopWords(): StopWords {
  const require = createRequire(import.meta.url);
  const sets = new Map<string, ReadonlySet<string>>();
  let lists: Readonly<Record<string, readonly string[]>> | null = null;
  return (lang) => {
    const primary = /^[a-z]{2,3}/i.exec(lang ?? '')?.[0].toLowerCase();
    if (primary === undefined) return NONE;
    const known = sets.get(primary);
    if (known !== undefined) return known;
    lists ??= require('stopwords-iso') as Readonly<Record<string, readonly string[]>>;
    const found = Object.hasOwn(lists, primary) ? new Set(lists[primary]) : NONE;
    if (found !== NONE) sets.set(primary, found);
    return found;
  };
}
