/** How each method answers. */
type Answers<Operations> = { readonly [Name in keyof Operations]: 'promise' | 'iterable' };
type Method = (...args: readonly unknown[]) => unknown;

/**
 * Methods of a part that is loaded at the first call of one of them: a process that only crawls does not load exports,
 * care or batch jobs.
 * @param answers how each method answers: a promise, or an async iterable, which loads when it is first read
 */
export function loadedLater<Operations extends object>(
  answers: Answers<Operations>,
  load: () => Promise<Operations>,
): Operations {
  let loading: Promise<Record<string, Method>> | null = null;
  const loaded = (): Promise<Record<string, Method>> => {
    loading ??= load() as Promise<unknown> as Promise<Record<string, Method>>;
    return loading;
  };
  const methods = Object.entries(answers).map(([name, answer]): [string, Method] => [
    name,
    answer === 'promise'
      ? async (...args) => (await loaded())[name]!(...args)
      : async function* (...args) {
          yield* (await loaded())[name]!(...args) as AsyncIterable<unknown>;
        },
  ]);
  return Object.fromEntries(methods) as Operations;
}
