import type { MissedSlots, OnPause, Overlap } from "@scheduling/sdk"

// The labels of schedule options, for the task form and the task page.

export const overlapLabels: Readonly<Record<Overlap, string>> = {
  skip: "Skip the new run",
  queue: "Start the new run after the previous one",
  allow: "Run both at the same time"
}

export const missedSlotLabels: Readonly<Record<MissedSlots, string>> = {
  once: "Run once",
  all: "Run all those of the last 24 hours, in order",
  skip: "Skip them"
}

export const pauseLabels: Readonly<Record<OnPause, string>> = {
  cancel: "Cancel running calls",
  finish: "Let running calls finish"
}
