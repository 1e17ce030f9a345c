/** Events of the scanner, in document order. Positions are offsets in the content, ends exclusive. */
export interface MarkupEvents {
  /** Text, references decoded; it may come in several pieces. */
  text(data: string): void;
  /** Returns the name of a raw text element (`script`), whose content ends at its end tag, else `null`. */
  openTagName(start: number, end: number): string | null;
  attribute(start: number, end: number, value: string): void;
  openTagEnd(at: number): void;
  selfClosingTag(at: number): void;
  closeTag(start: number, end: number): void;
  comment(data: string): void;
  cdata(data: string): void;
  declaration(data: string): void;
  processingInstruction(data: string): void;
  /** Ends the scan. */
  readonly isFull: boolean;
}
