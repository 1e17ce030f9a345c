import {
  createPageSigner,
  type DimensionWeights,
  PAGE_SIGNER_VERSION,
  SHINGLE_SIZE,
  stopWordsVersion,
} from 'incrawl/bundled';
import { createStopWords, DIMENSION_WEIGHTS, definePlugin } from 'incrawl/plugin';
import { z } from 'zod';
import { loadJieba } from './jieba.ts';

const weight = z.int().min(0).max(1000);

const optionsSchema = z
  .strictObject({
    titleWeight: weight.default(DIMENSION_WEIGHTS.title),
    keywordsWeight: weight.default(DIMENSION_WEIGHTS.keywords),
    textWeight: weight.default(DIMENSION_WEIGHTS.text),
    topicWeight: weight.default(DIMENSION_WEIGHTS.topic),
    tfCap: z
      .int()
      .min(0)
      .max(1_000_000)
      .nullable()
      .default(0)
      .describe(
        'Frequency of its words up to which a shingle weighs more; 0: frequencies do not count; null: no limit.',
      ),
    shingleWords: z
      .int()
      .min(1)
      .max(8)
      .default(SHINGLE_SIZE)
      .describe('Words in a shingle: the fewer, the less an edit moves, and the more alike are different texts.'),
    stopWords: z
      .boolean()
      .default(false)
      .describe("Leaves out the stop words of the page's language; pages without a known language keep theirs."),
    segmenter: z
      .enum(['icu', 'jieba'])
      .default('icu')
      .describe('Word segmenter for Chinese: the ICU of the runtime, or the optional package @node-rs/jieba.'),
  })
  .refine(
    (options) => options.titleWeight + options.keywordsWeight + options.textWeight > 0,
    'at least one weight must be above 0',
  );
type Options = z.infer<typeof optionsSchema>;

export default definePlugin<'signature', Options>({
  name: 'signature-simhash',
  api: 1,
  options: optionsSchema,
  setup: (_host, options) => {
    const { titleWeight, keywordsWeight, textWeight, topicWeight, tfCap, shingleWords, stopWords } = options;
    const weights: DimensionWeights = {
      title: titleWeight,
      keywords: keywordsWeight,
      text: textWeight,
      topic: topicWeight,
    };
    const jieba = options.segmenter === 'jieba' ? loadJieba() : null;
    const sign = createPageSigner({
      weights,
      tfCap: tfCap ?? Number.POSITIVE_INFINITY,
      shingles: { words: shingleWords, ...(stopWords ? { stopWords: createStopWords() } : {}) },
      ...(jieba === null ? {} : { cut: jieba.cut }),
    });
    return {
      id: signatureId({
        weights,
        tfCap,
        shingleWords,
        stopWords: stopWords ? stopWordsVersion() : null,
        segmenter:
          jieba === null ? `icu${major(process.versions.icu)}` : `jieba${/^\d+\.\d+/.exec(jieba.version)?.[0]}`,
      }),
      sign: (page) => sign(page.result, page.blocks),
    };
  },
});

interface IdParts {
  readonly weights: DimensionWeights;
  readonly tfCap: number | null;
  readonly shingleWords: number;
  /** Version of the lists; `null`: all words count. */
  readonly stopWords: string | null;
  /** Includes its version: it determines the words of unspaced scripts. */
  readonly segmenter: string;
}

const major = (version: string | undefined): string => version?.split('.')[0] ?? '0';

/** Name of both signatures, from every parameter that affects the bits. */
export function signatureId({ weights, tfCap, shingleWords, stopWords, segmenter }: IdParts): string {
  const { title, keywords, text, topic } = weights;
  const cap = tfCap === null ? '-tf' : tfCap === 0 ? '' : `-tf${tfCap}`;
  const stop = stopWords === null ? '' : `-stop${stopWords}`;
  return `simhash64x2-w${shingleWords}-d${title}.${keywords}.${text}.${topic}${cap}${stop}-v${PAGE_SIGNER_VERSION}-${segmenter}`;
}
