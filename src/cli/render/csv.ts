export { csvRow } from '../../domain/export/csv-row.ts';
