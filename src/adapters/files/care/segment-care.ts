import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SegmentInfo } from '../../../ports/segment-store.ts';
import type { Report } from '../../../ports/state-care.ts';
import type { OnWork } from '../../../ports/work-progress.ts';
import { onFile } from '../file-errors.ts';
import { LOCK } from '../locks/folder-lock.ts';
import { readFrames } from '../segments/frame-reader.ts';
import { ADDED, FETCH_LIST, FETCHED, INFO, isFinished, readMark, writeMark } from '../segments/segment-folder.ts';
import { isWarcName } from '../warc/warc-writer.ts';
import { copyFolder } from './copy-folder.ts';
import { type Salvaged, salvageSegment } from './salvage-segment.ts';
import { verifySegment } from './verify-segment.ts';

/** Ids of the complete segments in a folder, oldest first. */
export function segmentIds(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return onFile(dir, () => readdirSync(dir, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && isFinished(join(dir, entry.name)))
    .map(({ name }) => name)
    .sort();
}

/**
 * Whether a segment's folder has no mark. If the crawl db knows the segment this is damage, not an unfinished start.
 */
export function isMarkless(dir: string, id: string): boolean {
  return existsSync(join(dir, id)) && !isFinished(join(dir, id));
}

/** Throws `segment-corrupt` for a folder without a readable mark. */
export function segmentInfo(folder: string): SegmentInfo {
  return readMark(folder).info;
}

/** Copies a finished segment under another id; the mark comes last. */
export function copySegment(from: string, to: string, id: string): void {
  const { info, synced } = readMark(from);
  copyFolder(from, to, isWarcName, (name) => name !== INFO && !name.startsWith(LOCK));
  writeMark(to, { info: { ...info, id }, synced });
}

/** Whether both folders hold the outcomes of the same round: one is a copy of the other, whatever its id. */
export function isSameSegment(a: string, b: string): boolean {
  if (!isFinished(a) || !isFinished(b)) return false;
  const [one, other] = [readMark(a), readMark(b)];
  const isAlike =
    one.info.createdAt === other.info.createdAt &&
    one.info.urls === other.info.urls &&
    one.info.state === other.info.state &&
    one.synced.fetched === other.synced.fetched;
  return isAlike && haveEqualFrames(join(a, FETCHED), join(b, FETCHED));
}

function haveEqualFrames(a: string, b: string): boolean {
  const [one, other] = [readFrames(a), readFrames(b)];
  for (;;) {
    const [left, right] = [one.next(), other.next()];
    if (left.done || right.done) return left.done === right.done;
    if (left.value.index !== right.value.index || !left.value.payload.equals(right.value.payload)) {
      one.return(undefined);
      other.return(undefined);
      return false;
    }
  }
}

/** Verifies all segments in a folder; returns those with a readable mark. */
export async function verifySegments(
  dir: string,
  deep: boolean,
  report: Report,
  onWork?: OnWork,
): Promise<SegmentInfo[]> {
  const infos: SegmentInfo[] = [];
  const ids = segmentIds(dir);
  for (const [done, id] of ids.entries()) {
    onWork?.({ work: 'checking segments', done, total: ids.length });
    const info = await verifySegment(join(dir, id), id, deep, report);
    if (info !== null) infos.push(info);
  }
  return infos;
}

export interface RepairedSegment {
  readonly id: string;
  /** `null`: moved to the quarantine as a whole. */
  readonly salvaged: Salvaged | null;
}

/**
 * Repairs the findings of {@link verifySegments}. A copy of each changed segment goes to the quarantine first.
 * @param appliedOf number of fetched records of a segment that updatedb has applied so far
 * @param known ids of the segments that the crawl db knows
 */
export async function repairSegments(
  dir: string,
  quarantine: string,
  options: {
    readonly deep: boolean;
    readonly appliedOf: (id: string) => number;
    readonly known: readonly string[];
    readonly report: Report;
  },
): Promise<RepairedSegment[]> {
  const repaired: RepairedSegment[] = [];
  const moveAside = (id: string): void => {
    onFile(join(quarantine, 'segments', id), () => {
      mkdirSync(join(quarantine, 'segments'), { recursive: true });
      renameSync(join(dir, id), join(quarantine, 'segments', id));
    });
    repaired.push({ id, salvaged: null });
  };
  for (const id of options.known) if (isMarkless(dir, id)) moveAside(id);
  for (const id of segmentIds(dir)) {
    const folder = join(dir, id);
    let isDamaged = false;
    let isListDamaged = false;
    const damagedWarc = new Set<string>();
    const info = await verifySegment(folder, id, options.deep, (finding) => {
      isDamaged = true;
      if (finding.kind === 'warc-damaged') damagedWarc.add(basename(finding.subject));
      if (finding.subject.endsWith(FETCH_LIST) || finding.subject.endsWith(ADDED)) isListDamaged = true;
      options.report(finding);
    });
    if (!isDamaged) continue;
    // Without its fetch list an unfinished segment cannot continue; its URLs become due again.
    if (info === null || isListDamaged) {
      moveAside(id);
      continue;
    }
    const copy = join(quarantine, 'segments', id);
    onFile(copy, () => mkdirSync(join(quarantine, 'segments'), { recursive: true }));
    // A file that is still written must not be shared with its copy.
    copyFolder(folder, copy, (name) => info.state === 'updated' && isWarcName(name));
    repaired.push({ id, salvaged: await salvageSegment(folder, options.appliedOf(id), damagedWarc) });
  }
  return repaired;
}
