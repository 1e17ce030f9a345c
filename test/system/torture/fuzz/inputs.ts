import fc from 'fast-check';

/** Inputs are cut here: what grows faster than its input shows long before. */
const MAX_BYTES = 48 * 1024;

interface Change {
  readonly kind: 'insert' | 'delete' | 'repeat' | 'flip' | 'splice';
  /** Where, as a share of the input. */
  readonly at: number;
  readonly bytes: number;
  readonly times: number;
  readonly word: number;
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('insert', 'delete', 'repeat', 'flip', 'splice'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  bytes: fc.oneof(fc.integer({ min: 1, max: 16 }), fc.integer({ min: 1, max: 4_096 })),
  times: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 600 })),
  word: fc.nat(),
});

/** Inputs of the corpus with some changes, words of the grammar one after the other, and bytes of any kind. */
export function inputsFrom(corpus: readonly Buffer[], words: readonly string[]): fc.Arbitrary<Buffer> {
  const vocabulary = words.map((word) => Buffer.from(word, 'latin1'));
  const changed = fc
    .tuple(fc.nat({ max: Math.max(0, corpus.length - 1) }), fc.array(change, { maxLength: 8 }))
    .map(([at, changes]) =>
      changes.reduce((input, each) => applied(input, each, vocabulary, corpus), corpus[at] ?? Buffer.alloc(0)),
    );
  const strung = fc
    .array(fc.nat({ max: vocabulary.length - 1 }), { maxLength: 120 })
    .map((numbers) => Buffer.concat(numbers.map((number) => vocabulary[number]!)));
  const any = fc.uint8Array({ maxLength: 256 }).map((bytes) => Buffer.from(bytes));
  return fc.oneof({ weight: 5, arbitrary: changed }, { weight: 4, arbitrary: strung }, { weight: 1, arbitrary: any });
}

function applied(
  input: Buffer,
  { kind, at, bytes, times, word }: Change,
  words: readonly Buffer[],
  corpus: readonly Buffer[],
): Buffer {
  const from = Math.floor(at * input.length);
  const to = Math.min(input.length, from + bytes);
  const [before, part, after] = [input.subarray(0, from), input.subarray(from, to), input.subarray(to)];
  if (kind === 'delete') return Buffer.concat([before, after]);
  if (kind === 'insert') return Buffer.concat([before, words[word % words.length]!, input.subarray(from)]);
  if (kind === 'flip') return Buffer.concat([before, part.map((byte) => byte ^ (1 << (word % 8))), after]);
  if (kind === 'repeat')
    return Buffer.concat([before, ...Array.from({ length: times }, () => part), after]).subarray(0, MAX_BYTES);
  const other = corpus[word % corpus.length] ?? input;
  return Buffer.concat([before, other.subarray(Math.floor(at * other.length))]).subarray(0, MAX_BYTES);
}
