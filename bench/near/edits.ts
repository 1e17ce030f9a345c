/** Edits of a page's text, of exactly known size. */
import { changedShare as shareChanged } from '../harness/shingles.ts';
import { intOf, type Random } from '../harness/words.ts';
import { type Article, authorOf, type Sentence } from './prose.ts';

export type Edit = (article: Article, random: Random) => Article;

/** The article with its sentences changed one by one; an empty answer removes, a longer one inserts. */
function withSentences(article: Article, change: (sentence: Sentence, at: number) => readonly Sentence[]): Article {
  let at = 0;
  const paragraphs = article.paragraphs
    .map((paragraph) => paragraph.flatMap((sentence) => change(sentence, at++)))
    .filter(({ length }) => length > 0);
  return { ...article, paragraphs };
}

const sentencesOf = ({ paragraphs }: Article): readonly Sentence[] => paragraphs.flat();
export const wordsOf = (article: Article): string[] => sentencesOf(article).flat();

function sentenceAt(article: Article, random: Random, change: (sentence: Sentence) => readonly Sentence[]): Article {
  const chosen = Math.floor(random() * sentencesOf(article).length);
  return withSentences(article, (sentence, at) => (at === chosen ? change(sentence) : [sentence]));
}

export const oneWord: Edit = (article, random) =>
  sentenceAt(article, random, (sentence) => {
    const at = Math.floor(random() * sentence.length);
    return [[...sentence.slice(0, at), article.language.topicWord(random), ...sentence.slice(at + 1)]];
  });

export const oneSentence: Edit = (article, random) => {
  const author = authorOf(article.language, random);
  const kind = random();
  return sentenceAt(article, random, (sentence) =>
    kind < 0.4 ? [author.sentence()] : kind < 0.7 ? [sentence, author.sentence()] : [],
  );
};

export const oneParagraph: Edit = (article, random) => {
  const author = authorOf(article.language, random);
  const chosen = Math.floor(random() * article.paragraphs.length);
  const kind = random();
  const paragraphs = article.paragraphs.flatMap((paragraph, at) =>
    at !== chosen ? [paragraph] : kind < 0.4 ? [author.paragraph()] : kind < 0.8 ? [paragraph, author.paragraph()] : [],
  );
  return paragraphs.length === 0 ? { ...article, paragraphs: [author.paragraph()] } : { ...article, paragraphs };
};

/** Replaces `share` of the words: scattered as whole sentences, or in one run. */
export const rewritten =
  (share: number): Edit =>
  (article, random) => {
    const author = authorOf(article.language, random);
    const total = wordsOf(article).length;
    let left = Math.max(1, Math.round(total * share));
    const count = sentencesOf(article).length;
    const isRun = random() < 0.5;
    const from = Math.floor(random() * count);
    const order = Array.from({ length: count }, (_, i) => (from + i) % count);
    if (!isRun) order.sort((a, b) => ((a * 7919 + from) % 104_729) - ((b * 7919 + from) % 104_729));
    const fresh = new Map<number, Sentence>();
    const sentences = sentencesOf(article);
    for (const at of order) {
      if (left <= 0) break;
      const { length } = sentences[at] as Sentence;
      const words = Math.min(left, length);
      const replaced: string[] = [];
      while (replaced.length < words) replaced.push(...author.sentence());
      fresh.set(at, [...replaced.slice(0, words), ...(sentences[at] as Sentence).slice(words)]);
      left -= words;
    }
    return withSentences(article, (sentence, at) => [fresh.get(at) ?? sentence]);
  };

/** Ends after `share` of its sentences. */
export const truncated =
  (share: number): Edit =>
  (article) => {
    const kept = Math.max(1, Math.round(sentencesOf(article).length * share));
    return withSentences(article, (sentence, at) => (at < kept ? [sentence] : []));
  };

/** Another title, a teaser before the text, and the last paragraph left out of one in two. */
export const syndicated: Edit = (article, random) => {
  const { language, paragraphs } = article;
  const author = authorOf(language, random);
  const kept = paragraphs.length > 4 && random() < 0.5 ? paragraphs.slice(0, -1) : paragraphs;
  const title = language.written(author.sentence().slice(0, intOf(random, 5, 10))).slice(0, -1);
  return { ...article, title, paragraphs: [[author.sentence()], ...kept] };
};

/** Two paragraphs change places. */
export const reordered: Edit = (article, random) => {
  const paragraphs = [...article.paragraphs];
  const a = Math.floor(random() * paragraphs.length);
  const b = (a + intOf(random, 1, Math.max(1, paragraphs.length - 1))) % paragraphs.length;
  [paragraphs[a], paragraphs[b]] = [paragraphs[b] as readonly Sentence[], paragraphs[a] as readonly Sentence[]];
  return { ...article, paragraphs };
};

/** Share of 3-word shingles that only one of both has, 0..1. */
export const changedShare = (a: Article, b: Article): number => shareChanged(wordsOf(a), wordsOf(b));

/**
 * Words that only one of both has, as multisets, the larger side of them by the words of the first, 0..1; a mere change
 * of order is none.
 */
export function wordsEdited(a: Article, b: Article): number {
  const counts = new Map<string, number>();
  for (const word of wordsOf(a)) counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const word of wordsOf(b)) counts.set(word, (counts.get(word) ?? 0) - 1);
  let gone = 0;
  let come = 0;
  for (const count of counts.values()) {
    if (count > 0) gone += count;
    else come -= count;
  }
  return Math.min(1, Math.max(gone, come) / wordsOf(a).length);
}
