import {
  createSimhash,
  DIMENSION_WEIGHTS,
  DIMENSIONS_VERSION,
  type DimensionWeights,
  definePlugin,
  pageDimensions,
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
    /** Cap on term frequencies; `null`: no cap. */
    tfCap: z.int().min(1).max(1_000_000).nullable().default(null),
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
    const simhash = createSimhash({
      ...(tfCap === null ? {} : { tfCap }),
      ...(jieba === null ? {} : { cut: jieba.cut }),
    });
    const id = signatureId(weights, tfCap, process.versions.icu);
    return {
      id: jieba === null ? id : id.replace(/-icu\d+$/, `-jieba${jieba.version.split('.').slice(0, 2).join('.')}`),
      sign: (page) => simhash(pageDimensions(page.result, weights, page.blocks)),
    };
  },
});

/** Id from every parameter that decides the bits; ICU is one, since it segments the words of unspaced scripts. */
export function signatureId(weights: DimensionWeights, tfCap: number | null, icu: string | undefined): string {
  const { title, keywords, text, topic } = weights;
  const cap = tfCap === null ? '' : `-tf${tfCap}`;
  return `simhash64-w${SHINGLE_SIZE}-d${title}.${keywords}.${text}.${topic}${cap}-v${DIMENSIONS_VERSION}-icu${icu?.split('.')[0] ?? '0'}`;
}
