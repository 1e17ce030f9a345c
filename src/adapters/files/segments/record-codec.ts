import { Packr } from 'msgpackr';
import type { FetchedRecord, HostObservation } from '../../../ports/segment-store.ts';
import { damagedAt } from '../file-errors.ts';
import type { Frame } from './frame-reader.ts';

/** Plain maps without shared structures: each record can be decoded alone, and by any MessagePack reader. */
const packr = new Packr({ useRecords: false });

export const encodeRecord = (record: object): Uint8Array => packr.pack(record);

/** The record of a frame. Throws `segment-corrupt` for a payload that is no MessagePack map. */
export function decodeRecord<Kind>(file: string, frame: Frame): Kind {
  let record: unknown;
  try {
    record = packr.unpack(frame.payload);
  } catch (error) {
    throw damagedAt(file, frame.offset, 'the record cannot be decoded', error);
  }
  if (typeof record !== 'object' || record === null) throw damagedAt(file, frame.offset, 'the record is not a map');
  return record as Kind;
}

/** The field `observation` of a fetched record in segments that were written before 0.1.0. */
const FORMER_NAME = 'lesson';

/** As {@link decodeRecord}, for segments of any version. */
export function decodeFetched(file: string, frame: Frame): FetchedRecord {
  const record = decodeRecord<FetchedRecord & { [FORMER_NAME]?: HostObservation | null }>(file, frame);
  if (record[FORMER_NAME] === undefined) return record;
  const { [FORMER_NAME]: observation, ...rest } = record;
  return { ...rest, observation };
}

/** Binary texts become strings, or empty strings where they are not wanted. */
export function withTexts<Kind extends object>(record: Kind, wanted: boolean): Kind {
  const fields = record as Record<string, unknown>;
  for (const name in fields) {
    const value = fields[name];
    if (value instanceof Uint8Array)
      fields[name] = wanted ? Buffer.from(value.buffer, value.byteOffset, value.length).toString() : '';
  }
  return record;
}
