import type { TaskStatus } from "@scheduling/sdk"
import { given, oneOf, textIn } from "../../ui/lists/search.ts"

/** What the list of cron tasks is narrowed to. */
export interface CronSearch {
  readonly name?: string
  readonly status?: TaskStatus
}

export const cronSearch = ({ name, status }: Record<string, unknown>): CronSearch =>
  given({ name: textIn(name), status: oneOf(["active", "paused"], status) })
