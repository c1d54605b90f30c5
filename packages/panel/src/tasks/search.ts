import { given, oneOf, textIn } from "../ui/lists/search.ts"

/** What a list of tasks is narrowed to. */
export interface TaskSearch<Status> {
  readonly name?: string
  readonly status?: Status
}

const taskSearch =
  <const Status extends string>(statuses: ReadonlyArray<Status>) =>
  ({ name, status }: Record<string, unknown>): TaskSearch<Status> =>
    given({ name: textIn(name), status: oneOf(statuses, status) })

/** For cron tasks and chains, which repeat until they are paused. */
export const repeatingSearch = taskSearch(["active", "paused"])

export const delayedSearch = taskSearch(["pending", "running", "finished", "cancelled"])

/** The task that a new one is a copy of. */
export const copySearch = ({ from }: Record<string, unknown>): { readonly from?: string } =>
  given({ from: textIn(from) })

/** The run that is shown on a chain. */
export const runSearch = ({ run }: Record<string, unknown>): { readonly run?: string } =>
  given({ run: textIn(run) })
