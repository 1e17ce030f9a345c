import { CrawlError } from '../../domain/errors.ts';
import { textOf } from '../loading/resolve-plugin.ts';

/** Prefix of a worker's error message when it cannot load its plugins; error codes do not cross threads. */
export const PLUGINS_BROKEN = 'plugins of the parser threads: ';

/** Throws a fault that is not of the page that a worker had: every page would fail in the same way. */
export function throwUnlessOfPage(error: unknown): void {
  if (error instanceof CrawlError && error.consequence === 'stop-crawl') throw error;
  if (textOf(error).startsWith(PLUGINS_BROKEN)) throw new CrawlError('plugin-broken', textOf(error), { cause: error });
}
