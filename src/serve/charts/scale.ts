const STEPS = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

/** The top of an axis of counts that begins at 0: a round number, at least `max` and at least 1. */
export function axisTop(max: number): number {
  if (!(max > 1)) return 1;
  const size = 10 ** Math.floor(Math.log10(max));
  return (
    STEPS.map((step) => Math.round(10 * step * size) / 10).find((top) => top >= max && Number.isInteger(top)) ?? max
  );
}

/** Where an axis of counts has lines: at its ends, and in the middle where that is a whole number. */
export const axisLevels = (top: number): number[] => (top % 2 === 0 ? [0, top / 2, top] : [0, top]);

/** Coordinates with a tenth of a unit. */
export const round = (value: number): number => Math.round(value * 10) / 10;
