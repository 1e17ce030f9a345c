import type { Decision, Statement } from '../metadata/statements.ts';

/** Scripts that nearly determine the language, and the main language of each. */
const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  ['ja', /[\u3041-\u30ff]/g],
  ['ko', /[\uac00-\ud7a3]/g],
  ['zh', /[\u4e00-\u9fff]/g],
  ['th', /[\u0e01-\u0e4e]/g],
  ['el', /[\u0370-\u03ff]/g],
  ['he', /[\u05d0-\u05ea]/g],
  ['hi', /[\u0900-\u097f]/g],
  ['bn', /[\u0980-\u09ff]/g],
  ['ta', /[\u0b80-\u0bff]/g],
  ['ka', /[\u10a0-\u10ff]/g],
  ['hy', /[\u0530-\u058f]/g],
  ['ar', /[\u0600-\u06ff]/g],
  ['cyrillic', /[\u0400-\u04ff]/g],
  ['latin', /[a-z\u00c0-\u024f]/gi],
];

/** Function words in nearly every sentence of a language, with few shared between languages. */
const LATIN: Readonly<Record<string, string>> = {
  en: 'the and of to is that for with was this are not have from you by an be which',
  de: 'der die das und ist nicht mit ein eine den dem von zu auf für auch sich im werden sind',
  fr: 'le la les et des est une dans pour que qui sur pas avec sont du au par plus cette',
  es: 'el la los las de que y en un una por con para es del se su más como pero',
  pt: 'o os as de que e em um uma para com não por é do da dos mais como ao',
  it: 'il di che e la per un una sono con non del della gli le si nel anche come più',
  nl: 'de het een en van is dat niet met voor op zijn aan ook maar bij wordt naar uit die',
  sv: 'och att det som en är på för med av inte den har till om ett men var från kan',
  da: 'og at det er en til på som med af ikke den har for der et men var fra kan',
  no: 'og det er som en til på for med av ikke den har at et men jeg fra kan ble',
  fi: 'ja on ei että se oli hän mutta myös kun ovat joka kuin mukaan tai sekä jos niin ole',
  pl: 'i w na nie się z do że jest to jak o po co dla od przez ale są tym',
  cs: 'a v se na je že s z do to i o jako by pro ale jsou který po ve',
  sk: 'a v sa na je že s z do to aj o ako by pre ale sú ktorý po vo',
  hu: 'a az és hogy nem is egy meg de van ez volt csak már mint azt ha ki vagy el',
  ro: 'și de la în a cu pe nu care este din pentru o mai că un ce sau au fost',
  tr: 've bir bu için ile de da çok olarak gibi daha ne olan kadar en sonra ama değil var her',
  vi: 'và của là có không được cho một các trong những với người đã này để khi từ ở đến',
  id: 'yang dan di dengan untuk dari ini itu tidak pada adalah ke dalam akan juga oleh sebagai ada bisa atau',
  hr: 'i u je se na da su za od s koji kao ne što to iz ili ali bi biti',
};
const CYRILLIC: Readonly<Record<string, string>> = {
  ru: 'и в не на что с по как это из для от он его был но к или при также',
  uk: 'і в не на що з та як це до для від він його був але у або при також',
  bg: 'и в не на че с за да се от са по като той е но към или при също',
  sr: 'и у не на да с за се од су као је што он али или при који ће из',
};
const SAMPLE_CHARS = 6_000;
const LEAST_LETTERS = 20;
const LEAST_WORDS = 5;
/** Least share of function words in a text, and the least lead over the second language. */
const LEAST_SHARE = 0.1;
const MARGIN = 1.15;

/**
 * The language of a text as a two-letter code (ISO 639-1), if its script or its function words leave little doubt;
 * otherwise `null`.
 */
export function guessLanguage(text: string): string | null {
  const sample = text.slice(0, SAMPLE_CHARS);
  const counts = SCRIPTS.map(([name, pattern]) => ({ name, count: sample.match(pattern)?.length ?? 0 }));
  const letters = counts.reduce((sum, { count }) => sum + count, 0);
  if (letters < LEAST_LETTERS) return null;
  const of = (name: string): number => counts.find((each) => each.name === name)?.count ?? 0;
  // Japanese is written with Chinese characters too, Chinese never with kana.
  if (of('ja') > 0.1 * (of('ja') + of('zh')) && of('ja') + of('zh') > 0.4 * letters) return 'ja';
  const { name, count } = counts.reduce((most, each) => (each.count > most.count ? each : most));
  if (count < 0.5 * letters) return null;
  if (name === 'latin') return byWords(sample, LATIN);
  if (name === 'cyrillic') return byWords(sample, CYRILLIC);
  if (name === 'ar' && /[\u067e\u0686\u0698\u06af\u06cc]/.test(sample))
    return /[\u0679\u0688\u06d2]/.test(sample) ? 'ur' : 'fa';
  return name;
}

function byWords(sample: string, languages: Readonly<Record<string, string>>): string | null {
  const words = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  const scores = Object.entries(languages)
    .map(([language, list]) => {
      const common = new Set(list.split(' '));
      return { language, score: words.filter((word) => common.has(word)).length };
    })
    .sort((a, b) => b.score - a.score);
  const [best, second] = scores;
  if (best === undefined || best.score < LEAST_WORDS || best.score < LEAST_SHARE * words.length) return null;
  return best.score >= MARGIN * (second?.score ?? 0) ? best.language : null;
}

/**
 * The first language that is declared as a tag (`en-US`; the first of a list `en, de`), with hyphens. Templates are
 * often in another language than the page: if two other declarations agree on another language, that one is taken.
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
