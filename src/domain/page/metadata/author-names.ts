import { lettersOf, wordsOf } from './title-words.ts';

const MAX_AUTHORS = 20;
const MAX_NAME = 100;
/** A byline of more words is a sentence. */
const NAME_WORDS = 8;

/** Words before a name. */
const BEFORE =
  /^(?:(?:written |posted |published |reviewed |edited |words |story |text )?by|von|par|por|de|di|af|av|door|autor(?:en|es|e|in|a)?|author(?:s)?|автор(?:ы)?|текст|作者|记者|記者|文|撰文|著者|執筆|글)(?:\s*[:\uff1a|/]\s*|\s+)/iu;
/** Notices behind a name. */
const BEHIND = /\s*(?:기자|記者|记者|\([^()]{0,60}\)|\s[-\u2013\u2014]\s.*)$/u;
/** A role beside a name. */
const ROLE =
  /^(?:[\p{L}-]+ ){0,3}(?:editor|reporter|writer|correspondent|contributor|journalist|columnist|redakteur(?:in)?|journaliste|redacteur)(?: \p{L}+){0,3}$/iu;
/** Between names. */
const BETWEEN =
  /\s*(?:[,;\u3001\uff0c\uff1b\u00b7|]|\s&\s|\s\/\s|\s\+\s|\s(?:and|und|et|y|e|i|och|og|en|ja|и|та|και|with|mit)\s)\s*/iu;
const EMAIL = /\s*[<(]?[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,32}){1,4}[>)]?/g;
const ADDRESS = /^(?:https?:|www\.|\/|@|#)|\.(?:com|org|net)\/|facebook\.com|twitter\.com/i;
/** A name as most sources write it: nothing is to be taken off. */
const PLAIN_NAME = /^[A-Z][a-z]{1,30}(?: [A-Z][a-z]{1,30}){1,2}$/;
/** What software writes where no author is set. */
const NOTHING =
  /^(?:admin(?:istrator)?|author|editor|redaktion|staff|user|root|guest|unknown|none|null|undefined|n\/a|anonymous|webmaster|test|wordpress)$/i;

/**
 * The names in statements of authors. A list is split; addresses, roles, e-mail and what names nothing are left out.
 */
export function authorNames(stated: readonly string[]): string[] {
  const found = new Map<string, string>();
  for (const written of stated) {
    if (PLAIN_NAME.test(written) && !BEFORE.test(written) && !ROLE.test(written)) {
      const letters = lettersOf(written);
      if (!found.has(letters)) found.set(letters, written);
      continue;
    }
    if (ADDRESS.test(written)) continue;
    for (const part of partsOf(written.replace(EMAIL, ' ').replace(BEFORE, ''))) {
      const name = part.trim().replace(BEFORE, '').replace(BEHIND, '').trim();
      const letters = lettersOf(name);
      if (letters.length < 2 || name.length > MAX_NAME || NOTHING.test(name) || ROLE.test(name) || ADDRESS.test(name))
        continue;
      if (wordsOf(name).length > NAME_WORDS || found.has(letters)) continue;
      found.set(letters, name);
      if (found.size >= MAX_AUTHORS) return [...found.values()];
    }
  }
  return [...found.values()];
}

/** "Doe, Jane" is one name. */
function partsOf(written: string): string[] {
  const parts = written.split(BETWEEN).filter((part) => part !== '');
  const isInverted = parts.length === 2 && /^\p{Lu}[\p{L}'-]+, \p{Lu}[\p{L}.'-]+$/u.test(written);
  return isInverted ? [`${parts[1]} ${parts[0]}`] : parts;
}
