/**
 * Articles of made-up words with the statistics of real ones: function words, Zipf's law, words of the topic that come
 * again.
 */

import { intOf, oneOf, type Random } from '../harness/words.ts';

/** Written in `words` by an author of one script; joined by {@link Language.join}. */
export interface Article {
  readonly language: Language;
  readonly title: string;
  /** Paragraphs of sentences of words. */
  readonly paragraphs: readonly (readonly Sentence[])[];
}

export type Sentence = readonly string[];

export interface Language {
  readonly lang: string;
  word(random: Random): string;
  /** A word of the article's own. */
  topicWord(random: Random): string;
  written(sentence: Sentence): string;
  readonly betweenSentences: string;
}

const FUNCTION_WORDS =
  'the of and to a in is that it for was on are as with his they at be this from have or by one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know'.split(
    ' ',
  );

const SYLLABLES =
  'ba be bi bo ca ce co cu da de di do fa fe fi fo ga ge go ha he hi ho ja jo ka ke ki la le li lo lu ma me mi mo mu na ne ni no pa pe pi po ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo wa we wi ya yo za ze zo'.split(
    ' ',
  );
const ENDINGS = ['', '', 'n', 's', 't', 'r', 'l', 'ng', 'ed', 'er', 'ing', 'tion', 'ment', 'ly'];

/** Zipf and Mandelbrot: of rank r with a chance of about 1 / (r + few). */
const zipf = <Item>(random: Random, items: readonly Item[], few = 10): Item =>
  items[Math.min(items.length - 1, Math.floor(few * (1 + items.length / few) ** random() - few))] as Item;

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

export function latinLanguage(random: Random): Language {
  const stem = (): string =>
    Array.from({ length: intOf(random, 1, 3) }, () => oneOf(random, SYLLABLES)).join('') + oneOf(random, ENDINGS);
  const vocabulary = Array.from({ length: 12_000 }, stem);
  return {
    lang: 'en',
    word: (next) => (next() < 0.45 ? zipf(next, FUNCTION_WORDS, 3) : zipf(next, vocabulary)),
    topicWord: (next) => oneOf(next, vocabulary),
    written: (sentence) => {
      const comma = sentence.length > 12 ? Math.floor(sentence.length / 2) : -1;
      return `${sentence.map((word, i) => (i === 0 ? capital(word) : word) + (i === comma ? ',' : '')).join(' ')}.`;
    },
    betweenSentences: ' ',
  };
}

const HAN =
  '的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自' +
  '二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变' +
  '条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指' +
  '几九区强放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白教速花带安' +
  '场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连' +
  '断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何除消构府称太准精值号率族维划选标写存候毛亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属' +
  '圆包火住调满县局照参红细引听该铁价严首底液官德随病苏失尔死讲配女黄推显谈罪神艺呢席含企望密批营项防举球英氧势告李台落木帮轮破亚师围注远字材排供河态封另施减树溶怎' +
  '止案言士均武固叶鱼波视仅费紧爱左章早朝害续轻服试食充兵源判护司足某练差致板田降黑犯负击范继兴似余坚曲输修故城夫够送笔船占右财吃富春职觉汉画功巴跟虽杂飞检吸助升阳';

/** Two characters a word mostly, as in Chinese; no spaces. */
export function hanLanguage(random: Random): Language {
  const characters = [...HAN];
  const vocabulary = Array.from({ length: 6_000 }, () => {
    const length = random() < 0.15 ? 1 : random() < 0.85 ? 2 : 3;
    return Array.from({ length }, () => zipf(random, characters)).join('');
  });
  return {
    lang: 'zh',
    word: (next) => (next() < 0.2 ? zipf(next, characters.slice(0, 60)) : zipf(next, vocabulary)),
    topicWord: (next) => oneOf(next, vocabulary),
    written: (sentence) => {
      const comma = Math.floor(sentence.length / 2);
      return `${sentence.map((word, i) => word + (i === comma ? '，' : '')).join('')}。`;
    },
    betweenSentences: '',
  };
}

/** Writes sentences of one topic: about one word in six is of its own. */
export function authorOf(language: Language, random: Random): { sentence(): Sentence; paragraph(): Sentence[] } {
  const topic = Array.from({ length: 40 }, () => language.topicWord(random));
  const word = (): string => (random() < 0.17 ? zipf(random, topic) : language.word(random));
  const sentence = (): Sentence => Array.from({ length: intOf(random, 7, 26) }, word);
  return { sentence, paragraph: () => Array.from({ length: intOf(random, 2, 6) }, sentence) };
}

/** 150 to 1,500 words; most are short. */
export function articleOf(language: Language, random: Random): Article {
  const author = authorOf(language, random);
  const words = Math.round(150 * Math.exp(random() * Math.log(10)));
  const paragraphs: Sentence[][] = [];
  for (let count = 0; count < words; ) {
    const paragraph = author.paragraph();
    paragraphs.push(paragraph);
    count += paragraph.reduce((sum, { length }) => sum + length, 0);
  }
  return {
    language,
    title: language.written(author.sentence().slice(0, intOf(random, 5, 10))).slice(0, -1),
    paragraphs,
  };
}

export const writtenParagraph = ({ language }: Article, paragraph: readonly Sentence[]): string =>
  paragraph.map((sentence) => language.written(sentence)).join(language.betweenSentences);
