import { type History, isPage, type Step } from './history.ts';
import { areSameLines, type LineCounts, linesMissing, maskDigits, masked, textLines } from './text-lines.ts';

/** What became of a page: a class of modification, or how it came or went. */
export type EventClass = 'added' | 'linked' | 'removed' | 'substantive' | 'boilerplate' | 'digits' | 'markup';

export interface SiteEvent {
  readonly step: number;
  readonly file: string;
  readonly what: EventClass;
}

/** What really happened to the pages that links reach. */
export interface Truth {
  readonly history: History;
  readonly events: readonly SiteEvent[];
  /** By step: the step of the last substantive version of each file. */
  readonly major: readonly ReadonlyMap<string, number>[];
}

interface Difference {
  readonly lost: LineCounts;
  readonly gained: LineCounts;
}

/** Classifies each change between two steps. */
export function truthOf(history: History): Truth {
  const { steps } = history;
  const events: SiteEvent[] = [];
  const first = steps[0] as Step;
  const major: ReadonlyMap<string, number>[] = [new Map([...first.tree.keys()].map((file) => [file, 0]))];
  const lines = new TextCache(history.bodies);
  for (let i = 1; i < steps.length; i++) {
    const [before, now] = [steps[i - 1] as Step, steps[i] as Step];
    const known = major[i - 1] as ReadonlyMap<string, number>;
    major.push(before.tree === now.tree ? known : classified(before, now, i, known, lines, events));
  }
  return { history, events, major };
}

/** Notes the events of a step that changed the tree; returns the substantive versions behind it. */
function classified(
  before: Step,
  now: Step,
  step: number,
  known: ReadonlyMap<string, number>,
  lines: TextCache,
  events: SiteEvent[],
): ReadonlyMap<string, number> {
  const major = new Map(known);
  const note = (file: string, what: EventClass): void => {
    if (what === 'removed' || now.reached.has(file)) events.push({ step, file, what });
  };
  for (const file of now.tree.keys()) {
    if (!isPage(file) || before.tree.has(file)) continue;
    major.set(file, step);
    note(file, 'added');
  }
  for (const [file, what] of modifications(before, now, lines)) {
    if (what === 'substantive') major.set(file, step);
    note(file, what);
  }
  for (const file of before.reached) if (!now.tree.has(file)) note(file, 'removed');
  for (const file of now.reached) if (!before.reached.has(file) && before.tree.has(file)) note(file, 'linked');
  return major;
}

/**
 * The class of each page's modification. Lines that a tenth of the pages changed in the step share are boilerplate;
 * numbers do not tell lines apart.
 */
function modifications(before: Step, now: Step, lines: TextCache): Map<string, EventClass> {
  const differences = new Map<string, Difference>();
  const sharing = new Map<string, number>();
  for (const [file, body] of now.tree) {
    const old = before.tree.get(file);
    if (!isPage(file) || old === undefined || old === body) continue;
    const [was, is] = [lines.of(old), lines.of(body)];
    const difference = { lost: linesMissing(was, is), gained: linesMissing(is, was) };
    differences.set(file, difference);
    for (const mask of masksOf(difference)) sharing.set(mask, (sharing.get(mask) ?? 0) + 1);
  }
  lines.keepOnly(new Set(now.tree.values()));
  const many = Math.max(3, differences.size / 10);
  const isShared = (mask: string): boolean => (sharing.get(mask) ?? 0) >= many;
  return new Map([...differences].map(([file, difference]) => [file, classOf(difference, isShared)]));
}

const masksOf = ({ lost, gained }: Difference): Set<string> =>
  new Set([...lost.keys(), ...gained.keys()].map(maskDigits));

function classOf(difference: Difference, isShared: (mask: string) => boolean): EventClass {
  const { lost, gained } = difference;
  if (lost.size === 0 && gained.size === 0) return 'markup';
  if ([...masksOf(difference)].every(isShared)) return 'boilerplate';
  return areSameLines(masked(lost), masked(gained)) ? 'digits' : 'substantive';
}

/** The lines of bodies that are served; those of all bodies of a long history would take more memory than they. */
class TextCache {
  private readonly bodies: readonly Buffer[];
  private readonly lines = new Map<number, LineCounts>();

  constructor(bodies: readonly Buffer[]) {
    this.bodies = bodies;
  }

  of(body: number): LineCounts {
    let lines = this.lines.get(body);
    if (lines === undefined) {
      lines = textLines(this.bodies[body] as Buffer);
      this.lines.set(body, lines);
    }
    return lines;
  }

  keepOnly(bodies: ReadonlySet<number>): void {
    for (const body of this.lines.keys()) if (!bodies.has(body)) this.lines.delete(body);
  }
}
