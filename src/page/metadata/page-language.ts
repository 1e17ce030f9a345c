import type { Decision, Statement } from './statements.ts';

/**
 * The first language that is declared as a tag (`en-US`; of a list `en, de` its first), with hyphens. Templates are
 * often in another language than the page: where two other declarations agree on another one, that is taken.
 * @param declared in the order of trust
 */
export function declaredLanguage(declared: readonly Statement[]): Decision<string> | null {
  const tags = declared.flatMap(({ source, value }) => {
    const tag = tagOf(value);
    return tag === null ? [] : [{ source, value: tag }];
  });
  const [first] = tags;
  if (first === undefined) return null;
  if (tags.length === 1) return first;
  const outvoting = tags.find(
    (one) =>
      primaryOf(one) !== primaryOf(first) &&
      tags.some(({ source, value }) => source !== one.source && primaryOf({ value }) === primaryOf(one)) &&
      !tags.some((each) => each !== first && primaryOf(each) === primaryOf(first)),
  );
  const chosen = outvoting ?? first;
  const agreeing = tags.filter((each) => primaryOf(each) === primaryOf(chosen)).map(({ source }) => source);
  return { value: chosen.value, source: [...new Set([chosen.source, ...agreeing])].join(', ') };
}

const TAG = /^[\s,]*([a-z]{2,8}(?:[-_][a-z0-9]{1,8})*)\s*(?:[,;]|$)/i;

function tagOf(declared: string): string | null {
  return TAG.exec(declared.slice(0, 100))?.[1]?.replaceAll('_', '-') ?? null;
}

const primaryOf = ({ value }: Pick<Statement, 'value'>): string => value.slice(0, 3).toLowerCase().replace(/-.*/, '');
