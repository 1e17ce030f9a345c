/** Each item in another shape; what the generator gives back at its end stays. */
export async function* shaped<Item, Shape, End>(
  items: AsyncGenerator<Item, End, undefined>,
  shape: (item: Item) => Shape,
): AsyncGenerator<Shape, End, undefined> {
  try {
    for (;;) {
      const step = await items.next();
      if (step.done) return step.value;
      yield shape(step.value);
    }
  } finally {
    // Harmless at the end; otherwise the reader has left, and what lies beneath must be closed.
    await items.return(undefined as never);
  }
}
