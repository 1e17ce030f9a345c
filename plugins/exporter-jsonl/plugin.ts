import { definePlugin } from 'incrawl/plugin';

export default definePlugin({
  name: 'exporter-jsonl',
  api: 1,
  setup: () => ({
    format: 'jsonl',
    fileExtension: 'jsonl',
    document: (document) => `${JSON.stringify(document)}\n`,
    removed: ({ url, state, target }) =>
      `${JSON.stringify({ deleted: url, state, ...(target !== null && { target }) })}\n`,
  }),
});
