import type { OnWork } from '../../crawler/index.ts';
import type { Live, WorkShown } from './no-live.ts';

/** Work is shown once it has taken this long, ms. */
const SHOWN_AFTER_MS = 1_000;

export interface SlowWork {
  readonly onWork: OnWork;
  /** Removes the line: output begins. It returns if the work continues for long without output. */
  hide(): void;
}

/**
 * Shows work that takes longer than a second, with the speed of its current phase. The display is opened only then:
 * loading it takes longer than most commands.
 * @param now ms; any clock that does not go back
 */
export function slowWork(open: () => Promise<Live>, now: () => number): SlowWork {
  let quietSince: number | null = null;
  let live: Live | null = null;
  let isOpening = false;
  let phrase = { work: '', from: 0, at: 0 };
  const show = (work: WorkShown): void => {
    live?.work(work);
    if (isOpening) return;
    isOpening = true;
    open().then(
      (opened) => {
        live = opened;
      },
      // The work continues without a display.
      () => {},
    );
  };
  return {
    onWork(progress) {
      const at = now();
      const { work: name, done } = progress;
      if (name !== phrase.work || done < phrase.from) phrase = { work: name, from: done, at };
      quietSince ??= at;
      if (at - quietSince < SHOWN_AFTER_MS) return;
      const seconds = (at - phrase.at) / 1_000;
      show({ ...progress, perSecond: seconds === 0 ? null : (done - phrase.from) / seconds });
    },
    hide() {
      quietSince = null;
      live?.work(null);
    },
  };
}
