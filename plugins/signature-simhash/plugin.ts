import {
  createPageSigner,
  DIMENSION_WEIGHTS,
  type DimensionWeights,
  definePlugin,
  PAGE_SIGNER_VERSION,
  SHINGLE_SIZE,
} from 'incrawl/plugin';
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
      .describe('A shingle weighs the frequencies of its words more, each counted up to it; null: without a limit.'),
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
  setup: (_host, { titleWeight, keywordsWeight, textWeight, topicWeight, tfCap, segmenter }) => {
    const weights: DimensionWeights = {
      title: titleWeight,
      keywords: keywordsWeight,
      text: textWeight,
      topic: topicWeight,
    };
    const jieba = segmenter === 'jieba' ? loadJieba() : null;
    const sign = createPageSigner({
      weights,
      tfCap: tfCap ?? Number.POSITIVE_INFINITY,
      ...(jieba === null ? {} : { cut: jieba.cut }),
    });
    const id = signatureId(weights, tfCap, process.versions.icu);
    return {
      id: jieba === null ? id : id.replace(/-icu\d+$/, `-jieba${jieba.version.split('.').slice(0, 2).join('.')}`),
      sign: (page) => sign(page.result, page.blocks),
    };
  },
});

/**
 * Name of both signatures from every parameter that decides the bits; ICU is one, since it segments the words of
 * unspaced scripts.
 */
export function signatureId(weights: DimensionWeights, tfCap: number | null, icu: string | undefined): string {
  const { title, keywords, text, topic } = weights;
  const cap = tfCap === null ? '-tf' : tfCap === 0 ? '' : `-tf${tfCap}`;
  return `simhash64x2-w${SHINGLE_SIZE}-d${title}.${keywords}.${text}.${topic}${cap}-v${PAGE_SIGNER_VERSION}-icu${icu?.split('.')[0] ?? '0'}`;
}
