/**
 * What a plugin answers where there is no waiting. A promise is its fault, told as such here: nobody would wait for it,
 * and its rejection, coming later, would end the process.
 */
export function atOnce<Answer>(method: string, answer: Answer): Answer {
  if (!isPromise(answer)) return answer;
  answer.then(undefined, () => {});
  throw new TypeError(`${method} must answer at once, not with a promise`);
}

const isPromise = (answer: unknown): answer is PromiseLike<unknown> =>
  answer !== null && typeof answer === 'object' && typeof (answer as { then?: unknown }).then === 'function';
