import type { CrawlDatum } from '../crawl/states/datum.ts';
import type { QueryField } from './fields.ts';

/** A parsed and type-checked `--where` expression. */
export type Expression<Row = CrawlDatum> =
  | { readonly kind: 'and' | 'or'; readonly left: Expression<Row>; readonly right: Expression<Row> }
  | { readonly kind: 'not'; readonly of: Expression<Row> }
  | Comparison<Row>;

export interface Comparison<Row = CrawlDatum> {
  readonly kind: 'compare';
  readonly field: QueryField<Row>;
  readonly operator: Operator;
  /** More than one only for `in`. `null`: no value. */
  readonly values: readonly Literal[];
}

/** Whether an expression needs the stored copies of pages. */
export function needsContent(expression: Expression): boolean {
  if (expression.kind === 'compare') return expression.field.isOfContent === true;
  if (expression.kind === 'not') return needsContent(expression.of);
  return needsContent(expression.left) || needsContent(expression.right);
}

/** `~` contains, also written `contains`, `like` with `*` for any text; both without regard to case. */
export const OPERATORS = ['=', '!=', '<', '<=', '>', '>=', '~', 'like', 'in'] as const;
export type Operator = (typeof OPERATORS)[number];

/** Times and durations in ms, sizes in bytes. */
export type Literal = string | number | boolean | null;
