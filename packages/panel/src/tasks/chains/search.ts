import type { TaskStatus } from "@scheduling/sdk"
import { given, oneOf, textIn } from "../../ui/lists/search.ts"

/** What the list of chains is narrowed to. */
export interface ChainSearch {
  readonly name?: string
  readonly status?: TaskStatus
}

export const chainSearch = ({ name, status }: Record<string, unknown>): ChainSearch =>
  given({ name: textIn(name), status: oneOf(["active", "paused"], status) })

/** The run that is shown on a chain. */
export const runSearch = ({ run }: Record<string, unknown>): { readonly run?: string } =>
  given({ run: textIn(run) })
