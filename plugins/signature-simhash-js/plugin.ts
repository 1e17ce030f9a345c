import { DIMENSIONS_VERSION, SHINGLE_SIZE } from 'incrawl/bundled';
import { DIMENSION_WEIGHTS, definePlugin, pageDimensions } from 'incrawl/plugin';
import { createSimhashJsSigner } from './simhash-js-signer.ts';

export default definePlugin({
  name: 'signature-simhash-js',
  api: 1,
  setup: () => {
    const sign = createSimhashJsSigner();
    return {
      // ICU segments the words of unspaced scripts.
      id: `simhash-js64-w${SHINGLE_SIZE}-d3.2.1.1-v${DIMENSIONS_VERSION}-icu${process.versions.icu?.split('.')[0] ?? '0'}`,
      sign: (page) => sign(pageDimensions(page.result, DIMENSION_WEIGHTS, page.blocks)),
    };
  },
});
