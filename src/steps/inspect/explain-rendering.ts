import { pagePattern } from '../../domain/crawl/rendering/page-pattern.ts';
import { type RenderTrials, rendersFrom, trialsOf } from '../../domain/crawl/rendering/render-trials.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { isoTime } from './views.ts';

/** Whether a browser made the stored copy, from what, and what its host has shown of rendering. */
export function renderSentences(datum: CrawlDatum, known: readonly RenderTrials[] | null): string[] {
  return [...copySentences(datum), ...trialSentences(trialsOf(known, pagePattern(datum.url)))];
}

function copySentences({ rendered }: CrawlDatum): string[] {
  if (rendered === null) return [];
  const { inputs } = rendered;
  const rest = 'It is rendered again where that, or the static page, has changed.';
  if (inputs.length === 0) return [`Its stored copy was rendered by a browser; its scripts asked for no data. ${rest}`];
  const named = inputs.map(({ url }) => url).join(', ');
  return [`Its stored copy was rendered by a browser, with what came from ${named}. ${rest}`];
}

function trialSentences(trials: RenderTrials | undefined): string[] {
  if (trials === undefined) return [];
  const { pattern, renders, gains, misses, at } = trials;
  const counted = `Rendering has added content to ${gains} of ${renders} empty pages of its host under ${pattern}`;
  const from = rendersFrom(trials);
  if (from === 0) return [`${counted}, the last at ${isoTime(at)}: such pages are rendered under render: auto.`];
  return [
    `${counted}, and to none of the last ${misses}: under render: auto it is tried again from ${isoTime(from)} on.`,
  ];
}
