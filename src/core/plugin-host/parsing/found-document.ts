import type { PageToParse } from '../../ports/page-parser.ts';
import type { LoadedPlugins } from '../loading/load-plugins.ts';
import { pageType } from './live-page.ts';

/** Answer of a thread for a page that is to be parsed in the process for documents. */
export interface FoundDocument {
  /** The body, which was handed over. */
  readonly document: Uint8Array;
  /** {@link Parser.maxMemory} of its parser. */
  readonly maxMemory: number;
}

/** The limit that the parser of a page sets to the memory of its process; `null`: it is parsed in a thread. */
export function documentMemory(
  { contentType, body }: PageToParse,
  plugins: Pick<LoadedPlugins, 'parserFor' | 'hasDocumentParser'>,
): number | null {
  if (!plugins.hasDocumentParser) return null;
  return plugins.parserFor(pageType(contentType, body))?.extension.maxMemory ?? null;
}
