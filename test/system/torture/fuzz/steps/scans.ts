// test/system/torture/fuzz/steps/: how many steps a parser takes, counted rather than timed.

/** Characters or elements that native code passes in about the time of one step of a program. */
const A_STEP = 8;

let passed = 0;

/** Steps of native code since the last question. */
export function scannedSteps(): number {
  const steps = passed / A_STEP;
  passed = 0;
  return steps;
}

type Method = (this: { readonly length: number }, ...args: unknown[]) => unknown;

/** What a search passed: from its beginning to what it found, or to the end. */
const toFound = (whole: number, from: unknown, found: number): number =>
  found < 0 ? whole - Math.min(whole, Number(from) || 0) : Math.max(0, found - (Number(from) || 0));

/**
 * Counts what methods of strings, arrays and buffers of this thread pass in native code, where no counter of a program
 * sees it: a scan from the beginning for each of many places is quadratic. Of a regular expression that is the text up
 * to the end of its match; how often it goes back within is not counted.
 */
export function countScans(): void {
  for (const name of ['indexOf', 'includes', 'lastIndexOf'])
    for (const prototype of [String.prototype, Array.prototype, Uint8Array.prototype, Buffer.prototype])
      wrap(prototype, name, (self, [, from], found) =>
        toFound(self.length, from, typeof found === 'number' ? found : -1),
      );
  for (const name of ['split', 'toLowerCase', 'toUpperCase', 'trim', 'normalize', 'replaceAll', 'localeCompare'])
    wrap(String.prototype, name, ({ length }) => length);
  // V8 moves the elements that stay.
  for (const name of ['shift', 'unshift', 'splice', 'reverse', 'join'])
    wrap(Array.prototype, name, ({ length }) => length);
  const typed = Object.getPrototypeOf(Uint8Array.prototype) as object;
  for (const [prototype, names] of [
    [Array.prototype, ['slice', 'concat']],
    [typed, ['slice']],
  ] as const)
    for (const name of names) wrap(prototype, name, (_, __, made) => (made as { readonly length: number }).length);
  wrap(typed, 'set', (_, [from]) => (from as { readonly length: number }).length);
  for (const prototype of [Array.prototype, typed])
    wrap(prototype, 'fill', ({ length }, [, from, to]) => Math.max(0, (Number(to) || length) - (Number(from) || 0)));
  wrap(typed, 'copyWithin', ({ length }, [, from, to]) => (Number(to) || length) - (Number(from) || 0));
  wrap(Buffer.prototype, 'toString', ({ length }, [, from, to]) => (Number(to) || length) - (Number(from) || 0));
  countMatches();
}

function countMatches(): void {
  const { exec } = RegExp.prototype;
  RegExp.prototype.exec = function (text) {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const match = exec.call(this, text);
    // An expression that can match at one place alone looks no further.
    const isBound = this.sticky || (this.source.startsWith('^') && !this.multiline);
    if (match !== null) passed += match.index + match[0].length - from + 1;
    else passed += isBound ? 1 : Math.max(1, String(text).length - from);
    return match;
  };
}

function wrap(
  prototype: object,
  name: string,
  cost: (self: { readonly length: number }, args: readonly unknown[], result: unknown) => number,
): void {
  const { value, ...how } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
  if (typeof value !== 'function') return;
  const method = value as Method;
  const counting: Method = function (...args) {
    const result = method.apply(this, args);
    passed += cost(this, args, result);
    return result;
  };
  Object.defineProperty(prototype, name, { ...how, value: counting });
}
