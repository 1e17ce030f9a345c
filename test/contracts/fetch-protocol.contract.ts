import { describe } from 'vitest';
import { answersContract } from './fetch-protocol-answers.contract.ts';
import { droppedBodyContract } from './fetch-protocol-dropped.contract.ts';
import type { CreateProtocol } from './fetch-protocol-exam.ts';
import { faultsContract } from './fetch-protocol-faults.contract.ts';

/** The exam of every `FetchProtocol` for http, against real connections to servers that misbehave. */
export function fetchProtocolContract(name: string, create: CreateProtocol): void {
  describe(`fetch protocol: ${name}`, () => {
    answersContract(create);
    faultsContract(create);
    droppedBodyContract(create);
  });
}
