import { isForeseen } from '../../exit.ts';
import { safeLines, shortLines } from '../safe-text.ts';

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * What a person is told of an error that ends a command, on lines of its own; `--verbose` among the arguments adds
 * where it happened.
 */
export function errorText(error: unknown, argv: readonly string[]): string {
  const isVerbose = argv.includes('--verbose') || argv.includes('-v');
  const message = messageOf(error);
  const [first, ...others] = shortLines(safeLines(message)).split('\n');
  const lines = [others.length === 0 ? `incrawl: ${first}` : 'incrawl:'];
  if (others.length > 0) lines.push(...[first, ...others].map((line) => `  ${line}`));
  if (isDamage(error, message) && !message.includes('incrawl repair')) {
    lines.push('"incrawl verify" tells what is damaged, "incrawl repair" mends what can be mended and keeps the rest.');
  }
  if (isVerbose && error instanceof Error) lines.push(safeLines(error.stack ?? ''));
  else if (!isForeseen(error)) lines.push('This is a fault of incrawl; --verbose shows where it happened.');
  return `${lines.join('\n')}\n`;
}

/** A file of a segment that cannot be used for another reason, as its owner, is none that a repair would mend. */
function isDamage(error: unknown, message: string): boolean {
  if (!isForeseen(error)) return false;
  return error.code === 'db-corrupt' || (error.code === 'segment-corrupt' && message.includes(' is damaged at byte '));
}
