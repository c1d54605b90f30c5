import { setTimeout as sleep } from "node:timers/promises"

/** Waits until it is so, for 30 seconds at most. */
export const poll = async (isDone: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 150 && !(await isDone()); tries++) await sleep(200)
}
