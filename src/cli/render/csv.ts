export { csvRow } from '../../domain/csv-row.ts';
