/**
 * Part of `npm run bench -- --only neardup`: whether a paragraph that differs at each visit is learnt to count for
 * nothing, and whether articles that change count all the same.
 */
import { type BlockMemory, learnBlocks } from '../../src/domain/crawl/change/block-memory.ts';
import { changingPages, editedPages, type PageCourse, restlessPages } from '../neardup/volatile-pages.ts';
import { distanceBetween, type SignedPage, type SignPage } from './page-signatures.ts';

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

export async function benchRestless(say: (text: string) => void, sign: SignPage, each: number, seed: number) {
  const percent = (part: number, of: number): string => `${((100 * part) / of).toFixed(1)} %`;
  for (const [kind, { pages, calmPages, calmVisits, stillVisits }] of await tallied(restlessPages(each, seed), sign)) {
    const visits = `${percent(calmVisits, stillVisits)} of ${stillVisits} visits from the fifth on`;
    say(`${kind} among paragraphs counts for nothing at ${visits}, at all of them on ${percent(calmPages, pages)}`);
  }
  for (const courses of [changingPages(each, seed), editedPages(each, seed)]) {
    for (const [kind, { edits, hiddenEdits }] of await tallied(courses, sign)) {
      say(`${kind}: taken for a part that always differs at ${percent(hiddenEdits, edits)} of ${edits} changes`);
    }
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
