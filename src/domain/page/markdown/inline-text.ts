// domain/page/markdown/: main content as Markdown.
/**
 * Text that grows by pieces. A string that is looked at after each addition is copied as a whole each time, which makes
 * a long paragraph cost its length squared.
 */
export class InlineText {
  #pieces: string[] = [];
  #last = '';

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Whether a line has just ended. */
  get isAtLineStart(): boolean {
    return this.#last.endsWith('\n');
  }

  /** The present end, for {@link takeFrom}. */
  get end(): number {
    return this.#pieces.length;
  }

  add(text: string): void {
    if (text === '') return;
    this.#pieces.push(text);
    this.#last = text;
  }

  /** Removes what was added since an end, and returns it. */
  takeFrom(end: number): string {
    const taken = this.#pieces.splice(end).join('');
    this.#last = this.#pieces.at(-1) ?? '';
    return taken;
  }

  clear(): void {
    this.#pieces = [];
    this.#last = '';
  }

  toString(): string {
    return this.#pieces.join('');
  }
}
