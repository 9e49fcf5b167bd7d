/** Before a photo first goes to another machine the page names that machine and asks. */
import { signal } from "@preact/signals";
import { Trouble } from "../api/client";

export interface Question {
  hosts: readonly string[];
  words: string;
  answer(yes: boolean): void;
}

export const question = signal<Question | null>(null);

function asked(trouble: Trouble): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      hosts: trouble.hosts,
      words: trouble.message,
      answer(yes) {
        question.value = null;
        resolve(yes);
      },
    };
  });
}

/**
 * Do something that may send photos away; where the server wants consent, ask and do it again with the hosts that the
 * person agreed to. Null where they did not.
 */
export async function withConsent<T>(act: (sendTo: string[]) => Promise<T>): Promise<T | null> {
  try {
    return await act([]);
  } catch (thrown) {
    if (!(thrown instanceof Trouble) || !thrown.needsConsent) throw thrown;
    if (!(await asked(thrown))) return null;
    return await act([...thrown.hosts]);
  }
}
