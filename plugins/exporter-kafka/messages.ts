import type { ExportDocument, RemovedPage } from 'incrawl/plugin';

/** A message of a topic. `value` of `null` deletes the key where a topic is compacted. */
export interface KafkaMessage {
  readonly key: string;
  readonly value: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** A page as in a JSONL export. Headers tell consumers whether they need to read it. */
export function pageMessage(document: ExportDocument): KafkaMessage {
  const { url, state, digest, fetchedAt, changedAt } = document;
  const headers = present({ kind: 'page', state, digest, fetchedAt, changedAt });
  return { key: url, value: JSON.stringify(document), headers };
}

/** The tombstone of a page; the reason for the removal is in the headers, as it has no value. */
export function removalMessage({ url, state, target }: RemovedPage): KafkaMessage {
  return { key: url, value: null, headers: present({ kind: 'removed', state, target }) };
}

/** Size of key, value and headers in UTF-8, bytes; the protocol adds a few tens of bytes. */
export function sizeOf({ key, value, headers }: KafkaMessage): number {
  let bytes = Buffer.byteLength(key) + Buffer.byteLength(value ?? '');
  for (const [name, text] of Object.entries(headers)) bytes += name.length + Buffer.byteLength(text);
  return bytes;
}

function present(headers: Readonly<Record<string, string | null>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, text] of Object.entries(headers)) if (text !== null) kept[name] = text;
  return kept;
}
