import { csvRow, definePlugin, type ExportDocument } from 'incrawl/plugin';
import { z } from 'zod';

const COLUMNS = [
  'url',
  'state',
  'fetchedAt',
  'changedAt',
  'status',
  'contentType',
  'title',
  'lang',
  'text',
  'signature',
  'digest',
  'depth',
  'outlinks',
  'metadata',
  'authors',
  'publishedAt',
  'modifiedAt',
  'description',
  'keywords',
  'siteName',
  'image',
  'textSource',
  'nextPage',
  'pageNumber',
  'topics',
] as const satisfies readonly (keyof ExportDocument)[];

export default definePlugin({
  name: 'exporter-csv',
  api: 1,
  options: z.strictObject({
    columns: z
      .array(z.enum(COLUMNS))
      .min(1)
      .default([...COLUMNS])
      .describe('Columns, in order. `deleted` is always the last one.'),
  }),
  setup: (_host, { columns }) => ({
    format: 'csv',
    fileExtension: 'csv',
    begin: () => csvRow([...columns, 'deleted']),
    document: (document) => csvRow([...columns.map((column) => document[column]), null]),
    removed: ({ url, state }) =>
      csvRow([...columns.map((column) => (column === 'url' ? url : column === 'state' ? state : null)), true]),
  }),
});
