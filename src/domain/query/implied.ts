import type { Expression } from './expression.ts';
import type { QueryField } from './fields.ts';

/**
 * The strongest condition on some fields alone that an expression implies: where it fails, so does the expression.
 * `null`: there is none. The expression itself, the same object, where it needs no other field.
 */
export function impliedBy(expression: Expression, isKnown: (field: QueryField) => boolean): Expression | null {
  switch (expression.kind) {
    case 'compare':
      return isKnown(expression.field) ? expression : null;
    case 'not':
      // A condition that is implied by what is negated says nothing of its negation.
      return impliedBy(expression.of, isKnown) === expression.of ? expression : null;
    case 'and':
    case 'or': {
      const [left, right] = [impliedBy(expression.left, isKnown), impliedBy(expression.right, isKnown)];
      if (left === expression.left && right === expression.right) return expression;
      if (left !== null && right !== null) return { ...expression, left, right };
      return expression.kind === 'and' ? (left ?? right) : null;
    }
  }
}
