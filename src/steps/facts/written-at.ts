/** Name of the fact with the time of the last batch of seeds or visits, by the clock that stamped them. */
export const WRITTEN_KEY = 'writtenAt';

export const writtenAt = (now: number): Readonly<Record<string, string>> => ({ [WRITTEN_KEY]: String(now) });
