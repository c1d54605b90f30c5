import type { DelayedTaskStatus } from "@scheduling/sdk"
import { given, oneOf, textIn } from "../../ui/lists/search.ts"

/** What the list of delayed tasks is narrowed to. */
export interface DelayedSearch {
  readonly name?: string
  readonly status?: DelayedTaskStatus
}

export const delayedSearch = ({ name, status }: Record<string, unknown>): DelayedSearch =>
  given({
    name: textIn(name),
    status: oneOf(["pending", "running", "finished", "cancelled"], status)
  })
