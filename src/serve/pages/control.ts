// serve/pages/: pages of the live view.

import type { RunStatus } from '../../remote/run-status/run-status.ts';
import { type Markup, markup } from '../markup.ts';

/** Buttons that steer the current run. The script of the page replaces them where the state has changed. */
export function controlSection({ steering }: RunStatus): Markup {
  const { paused = false, stopping = false } = steering ?? {};
  return markup`<section class="control" aria-label="Steering" data-live="control">
${paused ? button('resume', 'Resume') : button('pause', 'Pause')}
${stopping ? markup`<span>Stops after this round.</span>` : button('stop', 'Stop after this round')}</section>`;
}

const button = (command: string, text: string): Markup =>
  markup`<form action="/control/${command}" method="post"><button>${text}</button></form>`;

/** Forms for what is rarely asked of a run. */
export const controlForms: Markup = markup`<details class="control-forms"><summary>Seeds and delays</summary>
<form action="/control/inject" method="post"><label for="seeds">Seeds, one a line</label><textarea id="seeds" name="seeds" rows="3" cols="60" required></textarea><button>Add seeds</button></form>
<form action="/control/delay" method="post"><label for="host">Host</label><input id="host" name="host" type="text" required><label for="seconds">seconds between requests</label><input id="seconds" name="seconds" type="number" min="0" step="any" required><button>Set delay</button></form>
</details>`;
