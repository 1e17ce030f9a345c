import { reducePart } from './job.ts';
import { MAP_REDUCE_JOBS } from './jobs.ts';

export interface ReduceTask {
  readonly job: string;
  readonly part: string;
  readonly out: string;
  readonly dir: string;
}

/** Entry of a worker thread. */
export default async function reduceTask({ job, part, out, dir }: ReduceTask): Promise<void> {
  const found = MAP_REDUCE_JOBS[job];
  if (found === undefined) throw new TypeError(`there is no map/reduce job ${job}`);
  await reducePart(found, part, out, dir);
}
