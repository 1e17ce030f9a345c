declare module 'simhash-js' {
  export class SimHash {
    constructor(options?: { kshingles?: number; maxFeatures?: number });
    /** A 32-bit hash. */
    hash(input: string): number;
  }
}
