/** A node of a parsed page, as the DOM of `domhandler` has it; nothing else is looked at. */
export interface PageNode {
  readonly type: string;
  /** Of elements, lower case. */
  readonly name?: string;
  readonly attribs?: Readonly<Record<string, string>>;
  /** Of text. */
  readonly data?: string;
  readonly children?: readonly PageNode[];
  /** First and last character of an element in its document, where the parser tells. */
  readonly startIndex?: number | null;
  readonly endIndex?: number | null;
}

export const isElement = (node: PageNode): boolean => node.name !== undefined && node.children !== undefined;
