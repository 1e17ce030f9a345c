/**
 * `npm run bench -- --only url-rules`: CPU of the rules of `urlfilter-rules` over 1 million URLs, in linear time as the
 * filter runs them, against the same rules one by one in V8's backtracking engine and in RE2JS.
 */
import { RE2JS } from 're2js';
import { DEFAULT_RULES } from '../../plugins/urlfilter-rules/default-rules.ts';
import { createRuleFilter } from '../../plugins/urlfilter-rules/rule-filter.ts';
import { type Rule, readRules } from '../../plugins/urlfilter-rules/rules.ts';
import { seeded } from '../seeded.ts';

const URLS = 1_000_000;
/** URLs of one turn; the engines take turns, so that a busy machine is slow for all of them. */
const TURN = 50_000;
const LINKS_A_PAGE = 60;
const CONTEXT = { from: null, depth: 0, seedHosts: new Set<string>() };

/** CPU of one URL against the shipped rules, us: a page's links cost 60 times that, of some 3,000 us a page. */
const MAX_SHIPPED_US = 2;

type Engine = (url: string) => boolean;

export function benchUrlRules(say: (text: string) => void, verdict: (isGood: boolean, text: string) => void): void {
  const urls = madeUpUrls();
  const suffixes = DEFAULT_RULES.split('\n').find((line) => line.startsWith('-(?i)')) ?? '';
  for (const [name, text] of [
    ['shipped rules', DEFAULT_RULES],
    ['100 rules', hundredRules(suffixes).join('\n')],
    ['1,000 host rules', hostRules(1_000).join('\n')],
  ] as const) {
    const { rules } = readRules(text, 'bench');
    const filter = createRuleFilter(rules, 2048);
    // A thousand rules one by one are slow enough to be known from a twentieth of the URLs.
    const asked = rules.length < 500 ? urls : urls.slice(0, URLS / 20);
    const engines = {
      filter: (url: string) => filter.filter(url, CONTEXT).accept,
      v8: oneByOne(rules, ({ text: rule }) => compileForV8(rule)),
      re2js: oneByOne(rules, ({ text: rule }) => RE2JS.compile(rule.slice(1))),
    };
    const { us, accepted } = timed(engines, asked);
    const isEqual = accepted.filter === accepted.v8 && accepted.v8 === accepted.re2js;
    say(
      `${name.padEnd(16)} ${asked.length.toLocaleString('en')} URLs  filter ${us.filter.toFixed(2)} us CPU a URL  ` +
        `V8 one by one ${us.v8.toFixed(2)} us (${(us.filter / us.v8).toFixed(2)} x)  ` +
        `RE2JS one by one ${us.re2js.toFixed(2)} us  ` +
        `${LINKS_A_PAGE} links ${((LINKS_A_PAGE * us.filter) / 1_000).toFixed(3)} ms`,
    );
    verdict(isEqual, `${name}: all engines let in the same number of URLs, ${accepted.filter.toLocaleString('en')}`);
    if (text === DEFAULT_RULES) {
      verdict(us.filter <= MAX_SHIPPED_US, `${name}: ${us.filter.toFixed(2)} us a URL <= ${MAX_SHIPPED_US} us`);
    } else {
      verdict(us.filter <= us.v8, `${name}: ${us.filter.toFixed(2)} us a URL <= ${us.v8.toFixed(2)} us in V8`);
    }
  }
}

function timed<Name extends string>(engines: Record<Name, Engine>, urls: readonly string[]) {
  const us = Object.fromEntries(Object.keys(engines).map((name) => [name, 0])) as Record<Name, number>;
  const accepted = { ...us };
  for (let from = 0; from < urls.length; from += TURN) {
    const turn = urls.slice(from, from + TURN);
    for (const name of Object.keys(engines) as Name[]) {
      const engine = engines[name];
      const before = process.cpuUsage();
      for (const url of turn) if (engine(url)) accepted[name]++;
      const { user, system } = process.cpuUsage(before);
      us[name] += (user + system) / urls.length;
    }
  }
  return { us, accepted };
}

function oneByOne(rules: readonly Rule[], compile: (rule: Rule) => { test(url: string): boolean }): Engine {
  const compiled = rules.map((rule) => ({ accept: rule.accept, regex: rule.regex === null ? null : compile(rule) }));
  return (url) => {
    for (const { accept, regex } of compiled) if (regex === null || regex.test(url)) return accept;
    return false;
  };
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

function madeUpUrls(): string[] {
  const next = seeded(17);
  const below = (count: number): number => Math.floor(next() * count);
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
  return Array.from({ length: URLS }, () => {
    const path = `${word()}/${word()}-${word()}-${word()}-${below(1_000_000)}`;
    return `https://www.site${below(997)}.example/${path}${endings[below(endings.length)]!()}`;
  });
}
