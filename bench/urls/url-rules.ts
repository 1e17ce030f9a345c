import { DEFAULT_RULES } from '../../plugins/urlfilter-rules/default-rules.ts';
import { createRuleFilter } from '../../plugins/urlfilter-rules/rule-filter.ts';
import { type Rule, readRules } from '../../plugins/urlfilter-rules/rules.ts';
import { cpuUs, inTurn, sum } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { seeded } from '../harness/seeded.ts';

/** URLs of one turn; the engines take turns, so that a busy machine is slow for all of them. */
const TURN = 50_000;
const CONTEXT = { from: null, depth: 0, seedHosts: new Set<string>() };

type Engine = (url: string) => boolean;

/**
 * CPU of the rules of `urlfilter-rules`, in linear time as the filter runs them, against the same rules one by one in
 * V8's backtracking engine.
 */
export const urlRules = measurement('urls', { urls: 1_000_000 }, async ({ question }, { urls: count }) => {
  const urls = madeUpUrls(count);
  const suffixes = DEFAULT_RULES.split('\n').find((line) => line.startsWith('-(?i)')) ?? '';
  const note = question('URL rules over 1 M URLs, CPU a URL');
  for (const [name, text] of [
    ['shipped rules', DEFAULT_RULES],
    ['100 rules', hundredRules(suffixes).join('\n')],
    ['1,000 host rules', hostRules(1_000).join('\n')],
  ] as const) {
    const { rules } = readRules(text, 'bench');
    const filter = createRuleFilter(rules, 2048);
    // A thousand rules one by one are slow enough to be known from a twentieth of the URLs.
    const asked = rules.length < 500 ? urls : urls.slice(0, count / 20);
    const engines: readonly Engine[] = [(url) => filter.filter(url, CONTEXT).accept, oneByOne(rules)];
    const costs = await inTurn(engines, Math.ceil(asked.length / TURN), async (engine, turn) => {
      let accepted = 0;
      const us = await cpuUs(() => {
        for (const url of asked.slice(turn * TURN, (turn + 1) * TURN)) if (engine(url)) accepted++;
      });
      return { us, accepted };
    });
    const [own, v8] = [...costs.values()].map((turns) => ({
      us: sum(turns.map(({ us }) => us)) / asked.length,
      accepted: sum(turns.map(({ accepted }) => accepted)),
    }));
    // A page's links cost 60 times the shipped rules, of some 3,000 us a page.
    note(name, own!.us, 'us', `<= ${text === DEFAULT_RULES ? 2 : v8!.us.toFixed(2)}`);
    note(`${name}, one by one in V8's engine`, v8!.us, 'us');
    note(`${name}: URLs that one engine lets in and the other does not`, own!.accepted - v8!.accepted, 'URLs', '= 0');
  }
});

function oneByOne(rules: readonly Rule[]): Engine {
  const compiled = rules.map(({ accept, regex, text }) => ({
    accept,
    regex: regex === null ? null : compileForV8(text),
  }));
  return (url) => compiled.find(({ regex }) => regex === null || regex.test(url))?.accept ?? false;
}

function compileForV8(rule: string): RegExp {
  return rule.startsWith('(?i)', 1) ? new RegExp(rule.slice(5), 'i') : new RegExp(rule.slice(1));
}

const SECTIONS =
  'calendar login cart search print tag archive feed admin compare share reply download basket profile'.split(' ');
const WORDS =
  'articles products news market report travel science health local weather update review gallery politics guide'.split(
    ' ',
  );

/** Rules as they stand in Nutch's `regex-urlfilter.txt` files. */
function hundredRules(suffixes: string): string[] {
  const each = (count: number, rule: (section: string, i: number) => string): string[] =>
    Array.from({ length: count }, (_, i) => rule(SECTIONS[i % SECTIONS.length]!, i));
  return [
    '-^(?:file|ftp|mailto|tel|javascript):',
    '+(?i)sitemap[^/?]*\\.xml\\.gz$',
    suffixes,
    '-(?i)[?&](?:sort|order|dir|utm_[a-z]+|sessionid|sid|phpsessid|fbclid)=',
    '-/(?:19|20)\\d{2}/\\d{1,2}/\\d{1,2}/\\d{1,2}/',
    '-[*!@]',
    '-(?:\\?|&)page=[1-9]\\d{2,}',
    '-/\\d{4}-\\d{2}-\\d{2}/.*/\\d{4}-\\d{2}-\\d{2}/',
    ...each(15, (section) => `-^https?://[^/]+/${section}/`),
    ...each(15, (section) => `-(?i)/${section}\\.(?:php|aspx?|jsp|cgi)(?:\\?|$)`),
    ...each(20, (_, i) => `-^https?://(?:[a-z0-9-]+\\.)*blocked${i}\\.example/`),
    ...each(15, (_, i) => `-^https?://www\\.site${i * 7}\\.example/.*(?:private|internal|draft)[^/]*\\.html`),
    ...each(10, (section) => `-[?&]filter_${section}=[^&]*`),
    ...each(10, (section, i) => `-/${section}/[^/?]+/${SECTIONS[(i + 3) % SECTIONS.length]}(?:/|$)`),
    ...each(6, (_, i) => `+^https?://([a-z0-9-]*\\.)*partner${i}\\.example/`),
    '+.',
  ];
}

function hostRules(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `+^https?://(?:[a-z0-9-]+\\.)*site${i * 13}\\.example/`);
}

function madeUpUrls(count: number): string[] {
  const next = seeded(17);
  const below = (most: number): number => Math.floor(next() * most);
  const word = (): string => WORDS[below(WORDS.length)]!;
  const endings = [
    ...Array.from({ length: 10 }, () => () => '.html'),
    () => '/',
    () => '',
    () => '.jpg',
    () => `?sort=price&page=${below(300)}`,
    () => `?id=${below(100_000)}&lang=en`,
    () => `/${SECTIONS[below(SECTIONS.length)]}/${below(100)}`,
  ];
  return Array.from({ length: count }, () => {
    const path = `${word()}/${word()}-${word()}-${word()}-${below(1_000_000)}`;
    return `https://www.site${below(997)}.example/${path}${endings[below(endings.length)]!()}`;
  });
}
