import { isPartial } from '../../core/domain/crawl/states/truncation.ts';
import type { FetchedRecord, SegmentInfo, SegmentStore } from '../../core/ports/segment-store.ts';

/** Where a response is stored. */
export interface ResponsePlace {
  /** Of the response: redirects have been followed. */
  readonly url: string;
  readonly segment: string;
  /** Ms since the epoch. */
  readonly at: number;
}

/** Redirects in a row that are followed. */
const MAX_REDIRECTS = 5;

/**
 * Of each URL the whole response nearest to a time, before or after it: a run fetches requisites after their pages, so
 * those that belong to a page are a little younger. Segments are read from that time outward until all are found, and
 * rounds do not overlap, so what is found first is nearest but for the length of a round.
 *
 * @param at ms since the epoch
 */
export async function nearestResponses(
  segments: SegmentStore,
  urls: Iterable<string>,
  at: number,
): Promise<ReadonlyMap<string, ResponsePlace>> {
  const places = new Map<string, ResponsePlace>();
  let wanted: ReadonlyMap<string, string> = new Map([...urls].map((url) => [url, url]));
  const infos = wanted.size === 0 ? [] : outward(await segments.list(), at);
  for (let hops = 0; hops <= MAX_REDIRECTS && wanted.size > 0; hops++) {
    const answers = await firstAnswers(segments, infos, new Set(wanted.values()));
    const redirected = new Map<string, string>();
    for (const [asked, url] of wanted) {
      const answer = answers.get(url);
      if (answer?.target !== undefined) redirected.set(asked, answer.target);
      else if (answer !== undefined) places.set(asked, { url, segment: answer.segment, at: answer.at });
    }
    wanted = redirected;
  }
  return places;
}

const outward = (infos: readonly SegmentInfo[], at: number): readonly SegmentInfo[] =>
  [...infos].sort((a, b) => Math.abs(a.createdAt - at) - Math.abs(b.createdAt - at));

interface Answer {
  readonly segment: string;
  readonly at: number;
  readonly target?: string;
}

async function firstAnswers(
  segments: SegmentStore,
  infos: readonly SegmentInfo[],
  urls: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Answer>> {
  const answers = new Map<string, Answer>();
  for (const { id } of infos) {
    if (answers.size === urls.size) break;
    const segment = await segments.open(id, 'read');
    try {
      for await (const fetched of segment.fetched()) {
        const answer = urls.has(fetched.url) && !answers.has(fetched.url) ? answerOf(fetched, id) : null;
        if (answer !== null) answers.set(fetched.url, answer);
      }
    } finally {
      await segment.close();
    }
  }
  return answers;
}

function answerOf({ url, outcome, warc }: FetchedRecord, segment: string): Answer | null {
  const { at } = outcome;
  if (outcome.kind === 'redirect') return { segment, at, target: new URL(outcome.target, url).href };
  return outcome.kind === 'success' && warc !== null && !isPartial(outcome.truncated) ? { segment, at } : null;
}
