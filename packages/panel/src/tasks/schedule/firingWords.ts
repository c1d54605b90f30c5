import type { Missed, OnPause, Overlap } from "@scheduling/sdk"

// The options of a schedule in words, for the task form and the task page.

export const overlaps: Readonly<Record<Overlap, string>> = {
  skip: "Skip the new run",
  queue: "Start the new run after the previous one",
  allow: "Run both at the same time"
}

export const misses: Readonly<Record<Missed, string>> = {
  once: "Run once",
  skip: "Skip them"
}

export const pauses: Readonly<Record<OnPause, string>> = {
  cancel: "Cancel running calls",
  finish: "Let running calls finish"
}
