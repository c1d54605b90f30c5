import type { Missed, OnPause, Overlap } from "@scheduling/sdk"

// What a schedule may be told to do, in the words of its form and of its page.

/** While the run before is unfinished. */
export const overlaps: Readonly<Record<Overlap, string>> = {
  skip: "Skip the run",
  queue: "Run after it",
  allow: "Run at the same time"
}

/** After runs were missed. */
export const misses: Readonly<Record<Missed, string>> = {
  once: "Run once",
  skip: "Skip them"
}

/** When the task is paused. */
export const pauses: Readonly<Record<OnPause, string>> = {
  cancel: "Cancel running calls",
  finish: "Let running calls finish"
}
