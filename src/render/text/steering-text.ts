import type { CommandAnswer, Steering, TouchSummary } from '../../crawler/views.ts';
import { count, span } from '../quantities.ts';
import { safeText } from '../safe-text.ts';

/** What a crawl was told, by the command. */
export const STEERED_TEXTS = {
  pause: ({ inFlight }: Steering): string =>
    inFlight === 0
      ? 'Paused: no request is under way. Go on with: incrawl ctl resume'
      : `Paused: no further request begins, ${count(inFlight)} under way will end. Go on with: incrawl ctl resume`,
  resume: ({ stopping }: Steering): string => `The crawl goes on${stopping ? ', and ends after this round' : ''}.`,
  stop: ({ paused }: Steering): string =>
    paused
      ? 'The crawl ends after this round, which is paused. Go on with: incrawl ctl resume'
      : 'The crawl ends after this round.',
};

/** @param rest the outcome for unknown URLs */
export const touchText = (
  { touched, unmoved, unknown }: TouchSummary,
  rest = `${count(unknown.length)} unknown`,
): string => `${count(touched)} made due, ${count(unmoved)} due by then already, ${rest}.`;

const URLS_SHOWN = 20;

/** The URLs that could not be touched, and why. */
export const untouchedLines = ({ invalid, unknown }: TouchSummary): string[] => [
  ...invalid.map(({ url, error }) => `${safeText(url)}: ${safeText(error)}`),
  ...unknown.slice(0, URLS_SHOWN).map((url) => `Not in the crawl db: ${safeText(url)}`),
];

/** The delay in force, and why it differs from the requested one. */
export function delayText(host: string, wantedMs: number, { delayMs: inForce }: CommandAnswer<'delay'>): string {
  const now = `${host}: ${span(inForce / 1_000)} between requests`;
  return wantedMs > 0 && wantedMs < inForce ? `${now}; robots.txt or the configuration asks for that.` : `${now}.`;
}
