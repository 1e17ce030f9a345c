import { type BlockMemory, learnBlocks } from '../../src/core/domain/crawl/change/block-memory.ts';
import { percent } from '../harness/cost.ts';
import type { Note } from '../harness/measurement.ts';
import { distanceBetween, type SignedPage, type SignPage } from './page-signatures.ts';
import { changingPages, editedPages, type PageCourse, restlessPages } from './volatile-pages.ts';

/** First visit that should be calm: two are needed to know the paragraphs, three to see one of them change alone. */
const FIRST_CALM = 4;

interface Tally {
  pages: number;
  calmPages: number;
  stillVisits: number;
  calmVisits: number;
  edits: number;
  hiddenEdits: number;
}

/**
 * Whether a paragraph that differs at each visit is learnt to count for nothing, and whether articles that change count
 * all the same.
 */
export async function restless(note: Note, sign: SignPage, each: number, seed: number): Promise<void> {
  for (const [kind, { pages, calmPages, calmVisits, stillVisits }] of await tallied(restlessPages(each, seed), sign)) {
    note(`calm visits with ${kind} among paragraphs`, percent(calmVisits, stillVisits), '%');
    note(`pages with ${kind} among paragraphs that are calm at all visits`, percent(calmPages, pages), '%');
  }
  for (const courses of [changingPages(each, seed), editedPages(each, seed)]) {
    for (const [kind, { edits, hiddenEdits }] of await tallied(courses, sign))
      note(`changes taken for a part that always differs: ${kind}`, percent(hiddenEdits, edits), '%');
  }
}

async function tallied(courses: readonly PageCourse[], sign: SignPage): Promise<Map<string, Tally>> {
  const tallies = new Map<string, Tally>();
  for (const { kind, versions } of courses) {
    const tally = tallies.get(kind) ?? {
      pages: 0,
      calmPages: 0,
      stillVisits: 0,
      calmVisits: 0,
      edits: 0,
      hiddenEdits: 0,
    };
    tallies.set(kind, tally);
    tally.pages++;
    let memory: BlockMemory | null = null;
    let before: SignedPage | null = null;
    let isCalm = true;
    for (const [visit, { html, isEdited }] of versions.entries()) {
      const page = await sign(html);
      const { blocks = [], places } = page.outcome;
      const learnt = learnBlocks(memory, { blocks, places });
      memory = learnt.memory;
      if (isEdited) {
        tally.edits++;
        if (learnt.isOnlyVolatile) tally.hiddenEdits++;
      } else if (visit >= FIRST_CALM) {
        const isQuiet = learnt.isOnlyVolatile || (before !== null && distanceBetween(before, page) === 0);
        tally.stillVisits++;
        if (isQuiet) tally.calmVisits++;
        else isCalm = false;
      }
      before = page;
    }
    if (isCalm) tally.calmPages++;
  }
  return tallies;
}
