/** A node of a parsed page: the part of the `domhandler` DOM that is used. */
export interface PageNode {
  readonly type: string;
  /** Of elements, lower case. */
  readonly name?: string;
  readonly attribs?: Readonly<Record<string, string>>;
  /** Of text. */
  readonly data?: string;
  readonly children?: readonly PageNode[];
  /** First and last character of an element in its document, where the parser gives positions. */
  readonly startIndex?: number | null;
  readonly endIndex?: number | null;
}

export const isElement = (node: PageNode): boolean => node.name !== undefined && node.children !== undefined;
