/** One instruction of a Dockerfile, its continuation lines joined. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The stages of a Dockerfile, in order, with the instructions of each. */
export function stagesOf(dockerfile: string): readonly { readonly from: string; readonly steps: Instruction[] }[] {
  const stages: { from: string; steps: Instruction[] }[] = [];
  const lines = dockerfile.replace(/\\\n/g, ' ').split('\n');
  for (const line of lines) {
    const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push({ from: text, steps: [] });
    else if (name !== '') stages.at(-1)?.steps.push({ name, text });
  }
  return stages;
}

/** The words of the JSON form of `CMD` and `ENTRYPOINT`. */
export const wordsOf = (text: string): string[] => JSON.parse(text) as string[];
