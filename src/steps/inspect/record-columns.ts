import type { CrawlDatum, MetadataValue } from '../../domain/crawl/states/datum.ts';
import { fieldNamed, type QueryEnvironment, type QueryField } from '../../domain/query/fields.ts';
import { requireField } from './find-records.ts';
import { isoTime, type RecordView, recordView, seconds } from './views.ts';

/** A record cut down to the fields asked for, in their order. */
export type RecordRow = Readonly<Record<string, unknown>>;

/** Parts of a record that are lists or objects. */
const WHOLE_PARTS = ['visits', 'lastError', 'metadata'] as const satisfies readonly (keyof RecordView)[];

/** Makes rows of these fields from records. Throws `usage-invalid` for a name that is no field. */
export function rowMaker(names: readonly string[], env: QueryEnvironment): (datum: CrawlDatum) => RecordRow {
  const columns = names.map((name) => {
    const part = WHOLE_PARTS.find((each) => each.toLowerCase() === name.toLowerCase());
    if (part !== undefined && fieldNamed(name) === undefined) {
      return [part, (datum: CrawlDatum) => recordView(datum)[part]] as const;
    }
    const field = requireField('fields', name);
    return [field.name, (datum: CrawlDatum) => shown(field, field.read(datum, env))] as const;
  });
  return (datum) => Object.fromEntries(columns.map(([name, read]) => [name, read(datum)]));
}

/** Times in ISO 8601, durations in seconds, as in the whole record. */
function shown({ type }: QueryField, value: MetadataValue | null): MetadataValue | null {
  if (typeof value !== 'number') return value;
  return type === 'time' ? isoTime(value) : type === 'duration' ? seconds(value) : value;
}
