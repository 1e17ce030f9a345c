import type { Tape } from '../tape/tape.ts';
import { createMainContent, type MainContent } from './main-content.ts';
import { createWholeContent } from './whole-content.ts';
import { createContentWithoutNavigation } from './without-navigation.ts';

/** How much of a page is its content: the main content, the page without navigation, or all of a document. */
export type Extent = 'main' | 'page' | 'document';

/** A finder for each extent; made when it is first asked for. */
export function createContents(): Readonly<Record<Extent, (tape: Tape) => MainContent>> {
  const makers = { main: createMainContent, page: createContentWithoutNavigation, document: createWholeContent };
  const finders = new Map<Extent, (tape: Tape) => MainContent>();
  const finder =
    (extent: Extent) =>
    (tape: Tape): MainContent => {
      const found = finders.get(extent) ?? makers[extent]();
      finders.set(extent, found);
      return found(tape);
    };
  return { main: finder('main'), page: finder('page'), document: finder('document') };
}
