const FLATTEN_AT = 8192;

/**
 * Builds a string from many pieces in bounded memory: V8 keeps `a + b` as a tree of pieces, which for a megabyte of
 * single characters (entities) takes 32 megabytes until the string is read.
 */
export class TextBuffer {
  private done = '';
  private tail = '';
  private pieces = 0;

  get isEmpty(): boolean {
    return this.tail === '' && this.done === '';
  }

  add(piece: string): void {
    if (this.tail === '') {
      this.tail = piece;
      return;
    }
    this.tail += piece;
    if (++this.pieces < FLATTEN_AT) return;
    // Reading a character makes the engine replace the tree by its text.
    this.tail.charCodeAt(0);
    this.done += this.tail;
    this.tail = '';
    this.pieces = 0;
  }

  /** The text so far; empties the buffer. */
  take(): string {
    const text = this.done === '' ? this.tail : this.done + this.tail;
    this.done = '';
    this.tail = '';
    this.pieces = 0;
    return text;
  }
}
