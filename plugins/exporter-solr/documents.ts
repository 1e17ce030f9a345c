import type { ExportDocument } from 'incrawl/plugin';

/** A document of an index: fields with a value, or with several. */
export type SolrDocument = Readonly<Record<string, SolrValue | readonly SolrValue[]>>;
type SolrValue = string | number | boolean;

export interface DocumentOptions {
  /** Unique key of the index. */
  readonly idField: string;
  /** Other names for fields; `null` leaves a field out. */
  readonly fields: Readonly<Record<string, string | null>>;
}

/**
 * The fields of a page, flat: Solr reads a field that holds an object as an atomic update. Missing values are left out,
 * as Solr has no null. Metadata become `metadata_NAME`, with an underscore for each character that is not allowed in a
 * field name.
 */
export function documentOf(page: ExportDocument, { idField, fields }: DocumentOptions): SolrDocument {
  const { metadata, ...rest } = page;
  const document: Record<string, SolrValue | readonly SolrValue[]> = { [idField]: page.url };
  const add = (name: string, value: unknown): void => {
    const field = Object.hasOwn(fields, name) ? fields[name] : name;
    const shown = fieldValue(value);
    if (field !== null && field !== undefined && shown !== null) document[field] = shown;
  };
  for (const [name, value] of Object.entries(rest)) add(name, value);
  for (const [name, value] of Object.entries(metadata)) add(`metadata_${name.replace(/\W/g, '_')}`, value);
  return document;
}

function fieldValue(value: unknown): SolrValue | readonly SolrValue[] | null {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (!Array.isArray(value) || value.length === 0) return null;
  return value.map((each) => wellFormed(String(each)));
}

/** Half a surrogate pair has no UTF-8: Solr would refuse the whole request. */
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');
