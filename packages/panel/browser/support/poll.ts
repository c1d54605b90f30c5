import { setTimeout as sleep } from "node:timers/promises"

/** Waits until a condition is met, for at most 30 seconds. */
export const poll = async (isDone: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 150 && !(await isDone()); tries++) await sleep(200)
}
